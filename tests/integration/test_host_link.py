"""Calls of the background host by somebody who sees them run: as long as they like, and commands of the shell too."""

import os
import signal
import time
from collections.abc import Iterator
from pathlib import Path

import anyio
import anyio.from_thread
import anyio.lowlevel
import psutil
import pytest

from pisces.errors import InvalidCall
from pisces.host import client as client_module
from pisces.host.protocol import Piece, Told
from pisces.model.completion import Completion
from pisces.model.results import Details, ToolResult
from pisces.tui.desk.host_link import LONG, HostLink
from tests.fakes.drive import PATIENCE, eventually
from tests.fakes.hosts import end_host, gone, record
from tests.frontends.command import Command

END_WHEN_STOPPED = """
import os, time
try:
    open('begun', 'w').close()
    time.sleep(300)
except KeyboardInterrupt:
    os._exit(3)
"""

SLOW_NAMES = """
import time
class Slow:
    def __dir__(self):
        time.sleep(0.3)
        return ["later"]
slow = Slow()
"""
BOMB = """
import os
zebra_count = 5
class Bomb:
    def __dir__(self):
        os._exit(3)
bomb = Bomb()
"""


@pytest.fixture
def home(monkeypatch: pytest.MonkeyPatch, plain_python: str, tmp_path: Path) -> Iterator[Path]:
    monkeypatch.setenv("PYTHONPATH", str(Path(__file__).resolve().parents[2] / "src"))
    monkeypatch.setenv("PI_SET__python__interpreter", plain_python)
    yield tmp_path
    end_host(Command(plain_python))


@pytest.fixture
def link(home: Path) -> HostLink:
    return HostLink(str(home), {})


def details(result: ToolResult) -> Details:
    assert isinstance(result.details, Details), result
    return result.details


async def test_the_longest_time_of_the_settings_does_not_count_for_who_sees_the_cell_run(home: Path) -> None:
    link = HostLink(str(home), {"python.maxTimeout": 1.0})
    wait = "import time; time.sleep(1.5); 'waited'"
    ran = await link.call("python", {"session": "s", "code": wait, "timeout": LONG})
    assert (details(ran).outcome, ran.text) == ("ok", "'waited'")
    ended = await link.call("python", {"session": "s", "code": wait, "timeout": 1.0})
    assert details(ended).outcome == "timeout"


async def test_a_silent_cell_is_waited_for_while_the_host_lives(
    link: HostLink, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(client_module, "_LOOK_AFTER", 0.2)
    ran = await link.call("python", {"session": "s", "code": "import time; time.sleep(1.5); 6 * 7", "timeout": LONG})
    assert (ran.is_error, ran.text) == (False, "42")


async def test_a_host_that_no_longer_answers_is_found_long_before_the_time_of_the_cell_is_up(
    link: HostLink, monkeypatch: pytest.MonkeyPatch
) -> None:
    await link.call("python", {"session": "s", "code": "1"})
    for name in ("_LOOK_AFTER", "_HELLO_SECONDS"):
        monkeypatch.setattr(client_module, name, 1)
    began = time.monotonic()
    pid = record().pid
    stop = f"import os, signal; os.kill({pid}, signal.SIGSTOP)"
    try:
        lost = await link.call("python", {"session": "s", "code": stop, "timeout": LONG})
    finally:
        os.kill(pid, signal.SIGCONT)
    assert details(lost).outcome == "disconnected"
    assert time.monotonic() - began < PATIENCE


async def test_a_command_runs_where_it_was_given_and_with_that_environment(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (home / "inner").mkdir()
    monkeypatch.setenv("LC_GREETING", "from here")
    link = HostLink(str(home / "inner"), {})
    pieces: list[Piece] = []
    ran = await link.begin("bash", {"command": 'pwd; echo "$LC_GREETING"'}, pieces.extend).result()
    assert ran.text == f"{home / 'inner'}\nfrom here"
    assert "".join(piece.text for piece in pieces) == f"{home / 'inner'}\nfrom here\n"
    assert details(ran).cells[0].status == "complete"
    monkeypatch.setenv("LC_GREETING", "from there")
    there = await HostLink(str(home), {}).call("bash", {"command": 'pwd; echo "$LC_GREETING"; exit 3'})
    assert f"{home}\nfrom there" in there.text
    assert details(there).cells[0].exit_code == 3


async def test_a_command_makes_no_session(link: HostLink) -> None:
    await link.call("bash", {"command": "true"})
    hello = await link.hello()
    assert hello is not None
    assert hello.sessions == ()


async def test_a_command_can_be_stopped_and_says_so(link: HostLink) -> None:
    begun = anyio.Event()
    loop = anyio.lowlevel.current_token()
    running = link.begin(
        "bash",
        {"command": "echo begun; sleep 300", "timeout": LONG},
        lambda pieces: anyio.from_thread.run_sync(begun.set, token=loop),
    )
    async with anyio.create_task_group() as group:

        async def stop() -> None:
            await begun.wait()
            running.cancel()

        group.start_soon(stop)
        with anyio.fail_after(PATIENCE):
            ended = await running.result()
    assert details(ended).outcome == "interrupted"


async def test_what_a_command_leaves_ends_with_the_host(link: HostLink, plain_python: str) -> None:
    ran = await link.call("bash", {"command": "sleep 300 >/dev/null 2>&1 & echo $!"})
    left = psutil.Process(int(ran.text.split()[0]))
    assert left.is_running()
    end_host(Command(plain_python))
    gone(left.pid)


async def test_a_command_that_is_no_command_is_refused(link: HostLink) -> None:
    with pytest.raises(InvalidCall, match="`command` is empty"):
        await link.call("bash", {"command": " "})


async def test_what_became_of_a_call_that_nobody_waits_for_any_more_is_told_with_the_next(
    home: Path, link: HostLink
) -> None:
    await link.call("python", {"session": "s", "code": "x = 41"})
    running = link.begin("python", {"session": "s", "code": END_WHEN_STOPPED, "timeout": LONG})
    async with anyio.create_task_group() as group:
        group.start_soon(running.result)
        await eventually((home / "begun").exists)
        group.cancel_scope.cancel()
    told = await link.call("python", {"session": "s", "code": "x + 1"})
    assert "42" in told.text
    assert told.text.startswith("[State: restored"), told.text


async def test_what_could_stand_at_the_cursor_is_told_by_the_session(link: HostLink) -> None:
    await link.call("python", {"session": "s", "code": "zebra_count = 5"})
    found = await link.complete("s", "'é' + zebra_ + 1", 12)
    assert found == Completion(("zebra_count",), 6, 12)
    long = "x = 'abc'\n" * 100_000 + "'\ud800'; zebra_c"
    assert (await link.complete("s", long, len(long))).start == len(long) - 7
    assert await link.complete("another", "zebra_", 6) == Completion()


async def test_without_a_host_nothing_is_told_and_nothing_is_started(link: HostLink) -> None:
    assert await link.complete("s", "pri", 3) == Completion()
    assert await link.hello() is None


async def test_while_a_cell_runs_the_names_of_before_are_told_at_once(link: HostLink, home: Path) -> None:
    await link.call("python", {"session": "s", "code": "zebra_count = 5"})
    running = link.begin("python", {"session": "s", "code": END_WHEN_STOPPED, "timeout": LONG})
    async with anyio.create_task_group() as group:
        group.start_soon(running.result)
        await eventually((home / "begun").exists)
        with anyio.fail_after(10):  # The cell would have it wait for minutes.
            assert (await link.complete("s", "zebra_", 6)).matches == ("zebra_count",)
        running.cancel()


async def test_who_asks_again_does_not_wait_behind_the_question_before(link: HostLink) -> None:
    await link.call("python", {"session": "s", "code": SLOW_NAMES})
    answers: dict[str, Completion] = {}
    async with anyio.create_task_group() as group:

        async def ask(code: str) -> None:
            answers[code] = await link.complete("s", code, len(code))

        group.start_soon(ask, "slow.")
        await anyio.wait_all_tasks_blocked()
        await ask("slo")
    assert answers["slow."] == Completion()
    assert answers["slo"].matches == ("slow",)


async def test_a_host_that_does_not_answer_costs_a_moment_and_tells_nothing(link: HostLink) -> None:
    await link.call("python", {"session": "s", "code": "zebra_count = 5"})
    pid = record().pid
    os.kill(pid, signal.SIGSTOP)
    try:
        with anyio.fail_after(1.5 * 5):
            assert await link.complete("s", "zebra_", 6) == Completion()
    finally:
        os.kill(pid, signal.SIGCONT)
    assert (await link.complete("s", "zebra_", 6)).matches == ("zebra_count",)


async def test_a_kernel_that_died_is_not_brought_back_by_a_question(link: HostLink) -> None:
    await link.call("python", {"session": "s", "code": BOMB})
    assert await link.complete("s", "bomb.", 5) == Completion()
    told = await link.call("python", {"session": "s", "code": "zebra_count"})
    assert told.text.startswith("[State: restored")
    assert "5" in told.text


async def test_whoever_shows_a_call_is_told_the_newest_of_its_output_and_not_all(link: HostLink) -> None:
    told = list[Told]()
    code = "any(print('x' * 99) for _ in range(100_000)); print('the last')"
    result = await link.begin("python", {"code": code, "session": "s"}, on_told=told.append).result()
    assert not result.is_error
    assert told[-1].begun
    assert told[-1].tail.endswith("the last\n")
    assert all(len(each.tail) <= 100 * 1024 for each in told)
    assert len(told) < 2_000  # it printed 100,000 lines
