"""Databases of duckdb and lmdb, open in a kernel that comes back: no row that was committed is changed by it."""

import subprocess
from pathlib import Path

import pytest

from pisces.runtime import Runtime
from tests.environments import interpreter_of
from tests.fakes.drive import PATIENCE
from tests.fakes.runtimes import call, kernel_of, runtime_on

pytestmark = [pytest.mark.heavy, pytest.mark.processes]

CRASH = "import os, signal; os.kill(os.getpid(), signal.SIGKILL)"
ROWS = "db.execute('from t order by n').fetchall()"


def in_another_process(interpreter: str, folder: Path, code: str) -> str:
    ran = subprocess.run(
        [interpreter, "-c", code],
        cwd=folder,
        capture_output=True,
        text=True,
        encoding="utf-8",
        timeout=PATIENCE,
        check=True,
    )
    return ran.stdout.strip()


def duckdb_rows(interpreter: str, folder: Path) -> str:
    return in_another_process(
        interpreter, folder, "import duckdb; print(duckdb.connect('a.duckdb').execute('from t order by n').fetchall())"
    )


async def begin_duckdb(runtime: Runtime) -> None:
    await call(runtime, "import duckdb\ndb = duckdb.connect('a.duckdb')\n_ = db.execute('create table t(n int)')")
    await call(runtime, "_ = db.execute('insert into t values (1)')")


async def test_a_duckdb_file_that_nobody_has_written_to_goes_on_after_a_crash_and_an_undo(tmp_path: Path) -> None:
    interpreter = interpreter_of("heavy")
    async with runtime_on(interpreter, tmp_path, checkpoint="always") as runtime:
        await begin_duckdb(runtime)
        restore = kernel_of(await call(runtime, CRASH)).restore
        assert restore is not None
        assert (restore.how, restore.missing) == ("exact", ())
        await call(runtime, "_ = db.execute('insert into t values (2)')")
        await call(runtime, "x = 1")
        assert "Not back" not in (await runtime.session("undo")).text
        assert not (await call(runtime, "_ = db.execute('insert into t values (3)')")).is_error
    assert duckdb_rows(interpreter, tmp_path) == "[(1,), (2,), (3,)]"


async def test_going_back_across_a_write_to_a_duckdb_file_takes_no_row_away(tmp_path: Path) -> None:
    interpreter = interpreter_of("heavy")
    async with runtime_on(interpreter, tmp_path, checkpoint="always") as runtime:
        await begin_duckdb(runtime)
        await call(runtime, "_ = db.execute('insert into t values (2)')")
        undone = await runtime.session("undo")
        assert f"Not back: {tmp_path / 'a.duckdb'} has been written to since" in undone.text
        written = await call(runtime, "db.execute('insert into t values (3)')")
        assert written.is_error
        await call(runtime, "db.execute('checkpoint')")
    assert duckdb_rows(interpreter, tmp_path) == "[(1,), (2,)]"


async def test_a_branch_does_not_write_to_the_duckdb_file_of_its_origin(tmp_path: Path) -> None:
    interpreter = interpreter_of("heavy")
    async with runtime_on(interpreter, tmp_path, checkpoint="always") as runtime:
        await begin_duckdb(runtime)
        await runtime.session("branch", to="trial")
        first = await call(runtime, ROWS, session="trial")
        assert f"Not back: {tmp_path / 'a.duckdb'} is open in another process" in first.text
        assert (await call(runtime, "db.execute('insert into t values (8)')", session="trial")).is_error
        assert not (await call(runtime, "_ = db.execute('insert into t values (2)')")).is_error
    assert duckdb_rows(interpreter, tmp_path) == "[(1,), (2,)]"


async def test_a_transaction_of_lmdb_cannot_be_committed_after_going_back(tmp_path: Path) -> None:
    interpreter = interpreter_of("state")
    code = (
        "import lmdb\nenv = lmdb.open('l')\n"
        "for n in range(50):\n    with env.begin(write=True) as t: t.put(b'a%d' % n, b'1')\n"
    )
    count = "import lmdb\nwith lmdb.open('l').begin() as t: print(sum(1 for _ in t.cursor()))"
    async with runtime_on(interpreter, tmp_path, checkpoint="always") as runtime:
        await call(runtime, code.rstrip())
        await call(runtime, "t = env.begin(write=True)\nfor n in range(9): t.put(b'b%d' % n, b'2')")
        await call(runtime, "t.commit()")
        in_another_process(interpreter, tmp_path, code.replace("b'a%d'", "b'c%d'"))
        undone = await runtime.session("undo")
        assert f"an open transaction on {tmp_path / 'l' / 'data.mdb'}: it cannot be committed here" in undone.text
        await call(runtime, "t.put(b'd', b'3')\nt.commit()")
        assert in_another_process(interpreter, tmp_path, count) == "109"
