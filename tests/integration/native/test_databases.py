"""A kernel that comes back inside of a transaction cannot change what anybody has committed, and says so."""

import json
import subprocess
import sys
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path

import pytest

from pisces.kernels.base import LaunchSpec, Revival
from pisces.kernels.native.checkpoint import NativeCheckpoint
from pisces.kernels.native.kernel import NativeKernel
from tests.fakes.drive import PATIENCE, ok, plain_environment, run, value
from tests.integration.native.keeping import Keep, crash, crash_and_come_back, soon

Branch = Callable[[NativeKernel, NativeCheckpoint], Awaitable[tuple[NativeKernel, Revival]]]
Other = Callable[[str], str]

CONNECT = "import sqlite3\ndb = sqlite3.connect('app.db', timeout=0.1)\n"
OPEN_TRANSACTION = ("db (an open transaction on app.db: it cannot be committed here)",)
ROWS = "db.execute('select n from t order by n').fetchall()"


@pytest.fixture(params=["delete", "truncate", "persist", "wal"])
async def mode(request: pytest.FixtureRequest, kernel: NativeKernel) -> str:
    """How SQLite keeps its journal; a database `app.db` in that mode is there."""
    mode: str = request.param
    await ok(kernel, f"{CONNECT}db.execute('pragma journal_mode={mode}').fetchall()")
    await ok(kernel, "db.execute('create table t(n)'); db.execute('insert into t values (1)'); db.commit()")
    return mode


@pytest.fixture
def other(tmp_path: Path) -> Other:
    """Another process, which runs statements, commits them, and answers with what the last one found."""

    def statements(sql: str) -> str:
        code = (
            "import json, sqlite3, sys\n"
            "with sqlite3.connect('app.db', timeout=30) as db:\n"
            "    for statement in sys.argv[1].split(';'):\n"
            "        found = db.execute(statement).fetchall()\n"
            "print(json.dumps(found))"
        )
        command = [sys.executable, "-c", code, sql]
        ran = subprocess.run(
            command, cwd=tmp_path, capture_output=True, text=True, encoding="utf-8", timeout=PATIENCE, check=True
        )
        return ran.stdout.strip()

    return statements


@pytest.fixture
async def branch(tmp_path: Path) -> AsyncIterator[Branch]:
    """Wakes a checkpoint as one more kernel, which ends with the test."""
    made: list[NativeKernel] = []

    async def wake(origin: NativeKernel, kept: NativeCheckpoint) -> tuple[NativeKernel, Revival]:
        spec = LaunchSpec(origin.interpreter, str(tmp_path), plain_environment())
        twin, revival = await origin.branch(kept, spec, soon())
        made.append(twin)
        return twin, revival

    yield wake
    for twin in made:
        await twin.shutdown()


def rows(*numbers: int) -> str:
    return json.dumps([[number] for number in numbers])


ALL = "select n from t order by n"
WHOLE = "pragma integrity_check"


@pytest.mark.parametrize("how", ["crash", "undo"])
async def test_going_back_across_a_commit_that_another_followed_up_takes_no_row_away(
    kernel: NativeKernel, keep: Keep, other: Other, mode: str, how: str
) -> None:
    await ok(kernel, "db.execute('insert into t values (2)')")
    kept = await keep(kernel)
    await ok(kernel, "db.commit()")
    other("insert into t values (3)")
    if how == "crash":
        await crash(kernel)
    assert (await kernel.restore(kept, soon())).missing == OPEN_TRANSACTION
    assert (await run(kernel, "db.commit()")).error.ename == "OperationalError"
    assert other(ALL) == rows(1, 2, 3)
    assert (await run(kernel, "db.execute('insert into t values (9)'); db.commit()")).error.ename == "OperationalError"
    await ok(kernel, f"db.close()\n{CONNECT}db.execute('insert into t values (4)'); db.commit()")
    assert other(ALL) == rows(1, 2, 3, 4)
    assert other(WHOLE) == '[["ok"]]'


async def test_of_two_kernels_that_come_from_one_transaction_the_first_alone_can_commit_it(
    kernel: NativeKernel, keep: Keep, branch: Branch, other: Other, mode: str
) -> None:
    await ok(kernel, "db.execute('insert into t values (2)')")
    twin, revival = await branch(kernel, await keep(kernel))
    assert revival.missing == OPEN_TRANSACTION
    assert (await run(twin, "db.execute('insert into t values (3)'); db.commit()")).error.ename == "OperationalError"
    await run(twin, "db.rollback()")
    await ok(kernel, "db.execute('insert into t values (4)'); db.commit()")
    other("insert into t values (5)")
    assert (await run(twin, "db.execute('insert into t values (7)'); db.commit()")).error.ename == "OperationalError"
    await ok(twin, "db.close()")
    assert other(ALL) == rows(1, 2, 4, 5)
    await ok(kernel, "db.execute('insert into t values (6)'); db.commit()")
    assert other(ALL) == rows(1, 2, 4, 5, 6)
    assert other(WHOLE) == '[["ok"]]'


async def test_rolling_back_in_a_copy_leaves_the_journal_of_a_killed_kernel(
    kernel: NativeKernel, keep: Keep, other: Other, mode: str
) -> None:
    """The transaction has outgrown its cache since: its pages are in the file, the old ones in the journal alone."""
    await ok(kernel, "db.executemany('insert into t values (?)', [(2,)] * 20_000); db.commit()")
    before = other("select count(*), sum(n) from t")
    await ok(kernel, "db.execute('pragma cache_size=5'); db.execute('update t set n = 7 where rowid = 1')")
    kept = await keep(kernel)
    await ok(kernel, "db.execute('update t set n = 8')")
    assert (await crash_and_come_back(kernel, kept)).missing == OPEN_TRANSACTION
    await run(kernel, "db.rollback()")
    await run(kernel, "db.execute('select count(*) from t').fetchall()")
    await run(kernel, "db.close()")
    assert other("select count(*), sum(n) from t") == before
    assert other(WHOLE) == '[["ok"]]'


async def test_a_transaction_whose_pages_are_in_the_log_does_not_clear_those_of_others(
    kernel: NativeKernel, keep: Keep, branch: Branch, other: Other, mode: str
) -> None:
    await ok(kernel, "db.execute('pragma cache_size=5')")
    await ok(kernel, "db.executemany('insert into t values (?)', [(2,)] * 20_000)")
    twin, _ = await branch(kernel, await keep(kernel))
    await ok(kernel, "db.executemany('insert into t values (?)', [(3,)] * 20_000)")
    await run(twin, "db.rollback()")
    await run(twin, "db.execute('select count(*) from t').fetchall()")
    await ok(kernel, "db.commit()")
    await run(twin, "db.close()")
    assert other("select count(*), sum(n) from t") == "[[40001, 100001]]"
    assert other(WHOLE) == '[["ok"]]'


async def test_a_connection_without_a_transaction_goes_on(
    kernel: NativeKernel, keep: Keep, other: Other, mode: str
) -> None:
    kept = await keep(kernel)
    await ok(kernel, "db.execute('insert into t values (2)'); db.commit()")
    other("insert into t values (3)")
    for number in (4, 5):
        assert (await crash_and_come_back(kernel, kept)).missing == ()
        await ok(kernel, f"db.execute('insert into t values ({number})'); db.commit()")
    assert await value(kernel, ROWS) == "[(1,), (2,), (3,), (4,), (5,)]"
    assert other(ALL) == rows(1, 2, 3, 4, 5)


async def test_what_a_branch_commits_stays_when_its_origin_closes_the_database(
    kernel: NativeKernel, keep: Keep, branch: Branch, other: Other, mode: str
) -> None:
    twin, revival = await branch(kernel, await keep(kernel))
    assert revival.missing == ()
    await ok(kernel, "db.close()")
    await ok(twin, "db.execute('insert into t values (2)'); db.commit()")
    assert other(ALL) == rows(1, 2)


async def test_a_database_that_all_have_closed_meanwhile_is_named_where_its_log_has_gone(
    kernel: NativeKernel, keep: Keep, other: Other, mode: str
) -> None:
    kept = await keep(kernel)
    await ok(kernel, "db.close()")
    other("insert into t values (2)")
    missing = (await crash_and_come_back(kernel, kept)).missing
    if mode == "wal":
        assert missing == ("db (the log of app.db was removed by others: connect again)",)
        ran = await run(kernel, "db.execute('insert into t values (3)'); db.commit()")
        assert ran.error.ename in {"OperationalError", "DatabaseError"}
        assert other(ALL) == rows(1, 2)
    else:
        assert missing == ()
        await ok(kernel, "db.execute('insert into t values (3)'); db.commit()")
        assert other(ALL) == rows(1, 2, 3)
    assert other(WHOLE) == '[["ok"]]'


async def test_a_half_read_cursor_reads_on_where_nobody_has_written(
    kernel: NativeKernel, keep: Keep, other: Other
) -> None:
    await ok(kernel, f"{CONNECT}db.execute('create table t(n)')")
    await ok(kernel, "db.executemany('insert into t values (?)', [(n,) for n in range(9000)]); db.commit()")
    await ok(kernel, "cursor = db.execute('select n from t order by n'); first = cursor.fetchone()")
    kept = await keep(kernel)
    assert (await crash_and_come_back(kernel, kept)).missing == ()
    assert await value(kernel, "first, cursor.fetchone(), len(cursor.fetchall())") == "((0,), (1,), 8998)"
    await ok(kernel, "db.execute('insert into t values (-1)'); db.commit()")
    missing = (await crash_and_come_back(kernel, kept)).missing
    assert missing == ("db (app.db has changed while it was being read: connect again)",)
    assert (await run(kernel, "db.execute('delete from t'); db.commit()")).error.ename == "OperationalError"
    assert other("select count(*) from t") == "[[9001]]"


async def test_a_transaction_that_no_variable_holds_is_named_by_its_file(
    kernel: NativeKernel, keep: Keep, tmp_path: Path, other: Other
) -> None:
    await ok(kernel, f"{CONNECT}db.execute('create table t(n)')\nheld = type('Holder', (), {{}})()")
    await ok(kernel, "db.execute('insert into t values (1)')\nheld.connection = db\ndel db")
    kept = await keep(kernel)
    assert (await crash_and_come_back(kernel, kept)).missing == (
        f"an open transaction on {tmp_path / 'app.db'}: it cannot be committed here",
    )
    assert other("select count(*) from t") == "[[0]]"


async def test_transactions_in_memory_go_on(kernel: NativeKernel, keep: Keep) -> None:
    await ok(kernel, "import sqlite3\ndb = sqlite3.connect(':memory:')\ndb.execute('create table t(n)')")
    await ok(kernel, "db.execute('insert into t values (1)')")
    kept = await keep(kernel)
    assert (await crash_and_come_back(kernel, kept)).missing == ()
    assert await value(kernel, f"db.in_transaction, {ROWS}, db.commit()") == "(True, [(1,)], None)"


async def test_a_database_beside_one_with_a_transaction_goes_on(kernel: NativeKernel, keep: Keep, other: Other) -> None:
    await ok(kernel, f"{CONNECT}db.execute('create table t(n)'); db.commit()")
    await ok(kernel, "second = sqlite3.connect('second.db')\nsecond.execute('create table t(n)')")
    await ok(kernel, "third = sqlite3.connect('second.db')\nsecond.execute('insert into t values (1)')")
    kept = await keep(kernel)
    assert sorted((await crash_and_come_back(kernel, kept)).missing) == [
        "second (an open transaction on second.db: it cannot be committed here)",
        "third (a transaction was open on second.db: connect again)",
    ]
    await ok(kernel, "db.execute('insert into t values (1)'); db.commit()")
    assert other(ALL) == rows(1)
