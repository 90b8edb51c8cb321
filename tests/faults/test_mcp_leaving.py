"""A client of `pisces mcp` that goes away, or a server that is ended, while a cell runs: nothing goes on."""

import contextlib
import signal
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import IO

import psutil
import pytest

from tests.fakes.drive import eventually
from tests.fakes.mcp_clients import mcp_command, mcp_environment
from tests.fakes.mcp_wire import EACH_ERA, ERAS, Era, Wire, below, gone, text_of, wired
from tests.frontends.command import PATIENCE, Command

SOON = 10.0
"""Five times what it may take until everything has gone."""
CELL = """
import subprocess, time
from pathlib import Path
subprocess.Popen(["sleep", "600"])
subprocess.Popen(["sleep", "600"], start_new_session=True)
Path("begun").touch()
time.sleep(600)
"""
COMMAND = "setsid sleep 600 & sleep 600 & touch begun; wait"


@pytest.fixture
def pisces(plain_python: str) -> Command:
    """`pisces` as it comes."""
    return Command(plain_python)


async def at_work(wire: Wire, folder: Path, tool: str = "python", **params: object) -> list[int]:
    """Have a cell begin that has children; the processes that there are below the server."""
    mark = folder / "begun"
    mark.unlink(missing_ok=True)
    wire.call(tool, params or {"code": CELL}, number=tool)
    await eventually(mark.exists, within=PATIENCE)
    found = below(wire.process.pid)
    assert len([process for process in found if _name(process) == "sleep"]) >= 2
    return [process.pid for process in found]


def _name(process: psutil.Process) -> str:
    try:
        return process.name()
    except psutil.NoSuchProcess:
        return ""  # It has ended since, as `touch` does.


@pytest.mark.parametrize("era", EACH_ERA)
async def test_when_the_client_hangs_up_the_cell_ends_with_all_that_it_started(
    pisces: Command, tmp_path: Path, era: Era
) -> None:
    with wired(pisces, "--cwd", str(tmp_path), era=era) as wire:
        there = await at_work(wire, tmp_path)
        wire.hang_up()
        assert wire.wait(within=SOON) == 0
        assert wire.errors == ""
        await eventually(lambda: gone(there))


@pytest.mark.heavy  # The cell has five seconds to stop.
async def test_a_cell_that_ignores_the_end_of_its_client_is_ended_with_all_that_it_started(
    pisces: Command, tmp_path: Path
) -> None:
    with wired(pisces, "--cwd", str(tmp_path)) as wire:
        deaf = CELL.replace("time.sleep(600)", "while True:\n    try: time.sleep(60)\n    except BaseException: pass")
        there = await at_work(wire, tmp_path, code=deaf)
        wire.hang_up()
        assert wire.wait(within=5 * SOON) == 0
        await eventually(lambda: gone(there))


@pytest.mark.parametrize(
    ("number", "code"),
    [
        (signal.SIGTERM, 143),
        (signal.SIGKILL, -9),
        pytest.param(signal.SIGINT, 130, marks=pytest.mark.heavy),
        pytest.param(signal.SIGHUP, 129, marks=pytest.mark.heavy),
    ],
)
async def test_a_server_that_is_ended_leaves_neither_cells_nor_commands(
    pisces: Command, tmp_path: Path, number: signal.Signals, code: int
) -> None:
    with wired(pisces, "--cwd", str(tmp_path), "--tools", "+bash") as wire:
        there = await at_work(wire, tmp_path)
        there += await at_work(wire, tmp_path, "bash", command=COMMAND)
        wire.process.send_signal(number)
        assert wire.wait(within=SOON) == code
        assert wire.errors == ""
        await eventually(lambda: gone(there))


async def test_a_client_that_closes_the_output_only_has_gone_too(pisces: Command, tmp_path: Path) -> None:
    with wired(pisces, "--cwd", str(tmp_path), reading=False) as wire:
        there = await at_work(wire, tmp_path)
        assert wire.process.stdout is not None
        wire.process.stdout.close()
        assert wire.wait(within=SOON) == 0
        await eventually(lambda: gone(there))


async def test_a_client_that_never_reads_and_hangs_up_keeps_nothing_alive(pisces: Command, tmp_path: Path) -> None:
    with wired(pisces, "--cwd", str(tmp_path), reading=False) as wire:
        for _ in range(100):  # Far more than a pipe holds.
            wire.request("tools/list")
        there = await at_work(wire, tmp_path)
        wire.hang_up()
        assert wire.wait(within=SOON) == 0
        await eventually(lambda: gone(there))


@pytest.mark.heavy
async def test_a_cell_goes_on_although_its_client_does_not_read(pisces: Command, tmp_path: Path) -> None:
    with wired(pisces, "--cwd", str(tmp_path), reading=False) as wire:
        for _ in range(100):
            wire.request("tools/list")
        code = "import time\nfrom pathlib import Path\nfor _ in range(20): print('x' * 5000); time.sleep(0.1)"
        number = wire.python(f"{code}\nPath('done').touch()", meta={"progressToken": "p"})
        await eventually((tmp_path / "done").exists, within=PATIENCE)
        wire.read_on()
        assert text_of(wire.result(number)).count("x") > 1000


CLIENT = """
import subprocess, sys
server = subprocess.Popen(sys.argv[1:], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
print(server.pid, flush=True)
for line in sys.stdin:
    server.stdin.write(line.encode())
    server.stdin.flush()
"""


def started_by_another(command: list[str], env: dict[str, str], errors: IO[bytes]) -> "subprocess.Popen[bytes]":
    """A process that starts this one, writes its number, and hands on to it what comes."""
    relay = [sys.executable, "-c", CLIENT, *command]
    return subprocess.Popen(relay, env=env, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=errors)


async def test_when_the_client_is_killed_everything_goes(tmp_path: Path, plain_python: str) -> None:
    with tempfile.TemporaryFile() as errors:
        client = started_by_another(mcp_command("--cwd", str(tmp_path)), mcp_environment(plain_python), errors)
        wire = Wire(client, errors, "modern", "tester")
        try:
            wire.open(reading=False)
            assert client.stdout is not None
            number = int(client.stdout.readline())
            there = [number, *await at_work(wire, tmp_path)]
        finally:
            wire.close()
        await eventually(lambda: gone(there), within=SOON)


@pytest.mark.heavy
async def test_a_job_in_the_background_ends_with_the_server(pisces: Command, tmp_path: Path) -> None:
    with wired(pisces, "--cwd", str(tmp_path)) as wire:
        there = await at_work(wire, tmp_path, code=CELL, background=True)
        assert "job-1 is running in the background" in text_of(wire.result("python"))
        wire.hang_up()
        assert wire.wait(within=SOON) == 0
        await eventually(lambda: gone(there))


@pytest.mark.heavy
async def test_ten_clients_that_vanish_in_the_middle_of_a_call_leave_nothing(pisces: Command, tmp_path: Path) -> None:
    there: list[int] = []
    with contextlib.ExitStack() as ending:
        for number in range(10):
            folder = tmp_path / str(number)
            folder.mkdir()
            wire = ending.enter_context(wired(pisces, "--cwd", str(folder), era=ERAS[number % 2], reading=False))
            there += [wire.process.pid, *await at_work(wire, folder)]
            vanish(wire, number)
        await eventually(lambda: gone(there), within=SOON)


def vanish(wire: Wire, number: int) -> None:
    """Go away, each in a way of its own."""
    assert wire.process.stdout is not None
    if number % 5 < 2:
        wire.process.stdout.close()
    if number % 5 in {1, 2}:
        wire.hang_up()
    if number % 5 > 2:
        wire.process.send_signal(signal.SIGKILL if number % 5 == 3 else signal.SIGTERM)
