"""Commands that cells run with `run`: streamed in order, stopped whole, and alone with their descriptors."""

from pathlib import Path

import pytest

from pisces.kernels.base import Kernel
from pisces.model.events import Status
from tests.fakes.drive import PATIENCE, begin, eventually, ok, run, stop
from tests.integration.native.processes import alive

pytestmark = pytest.mark.needs_shell

FAMILY = """
trap '' INT
sleep 300 & echo $! >> {pids}
setsid sleep 301 & echo $! >> {pids}
setsid -f sh -c 'echo $$ >> {pids}; trap "" INT TERM; sleep 302; :'
echo $$ >> {pids}
while [ $(wc -l < {pids}) -lt 4 ]; do :; done
echo ready
while :; do sleep 1; done
"""


def numbers(file: Path) -> list[int]:
    return [int(word) for word in file.read_text(encoding="ascii").split()]


async def test_the_output_of_a_command_stands_between_what_python_prints(kernel: Kernel) -> None:
    ran = await ok(kernel, "print(1)\nr = run('echo 2')\nprint(3, r.stdout == '2\\n')")
    assert ran.stdout == "1\n2\n3 True\n"
    assert ran.of(Status) == [Status("sh", {"cmd": "echo 2", "code": 0, "output": "2\n"})]


async def test_a_command_that_went_well_shows_nothing_as_the_value_of_a_cell(kernel: Kernel) -> None:
    assert (await ok(kernel, "run('true')")).result == ""
    assert (await ok(kernel, "run('exit 4')")).result == "exit code 4"


async def test_output_is_captured_where_the_cell_captures_it(kernel: Kernel) -> None:
    code = "import contextlib, io\nwith contextlib.redirect_stdout(io.StringIO()) as text:\n    _ = run('echo kept')\n"
    ran = await ok(kernel, code + "text.getvalue()")
    assert (ran.stdout, ran.result) == ("", r"'kept\n'")


async def test_a_command_fails_at_the_line_of_the_user(kernel: Kernel) -> None:
    ran = await run(kernel, "run('echo why >&2; exit 3').check()")
    assert (ran.done.status, ran.error.ename) == ("error", "CommandFailed")
    assert "why" in ran.error.evalue
    assert "prelude" not in "\n".join(ran.error.traceback)


# Only the direct child is ended and its children live on.
@pytest.mark.needs_process
async def test_an_interrupt_ends_all_that_a_command_started(fresh: Kernel, tmp_path: Path) -> None:
    pids = tmp_path / "pids"
    running = await begin(fresh, f"run({FAMILY.format(pids=pids)!r})")
    await running.prints("ready")
    ran = await stop(fresh, running)
    assert ran.done.status == "interrupted", ran.explained
    assert len(numbers(pids)) == 4
    await eventually(lambda: alive(numbers(pids)) == [])
    assert (await ok(fresh, "run('echo on').stdout")).result == r"'on\n'"


@pytest.mark.needs_process
async def test_an_interrupt_ends_the_commands_that_run_side_by_side(fresh: Kernel, tmp_path: Path) -> None:
    pids = tmp_path / "pids"
    pids.touch()
    command = f"trap '' INT; echo $$ >> {pids}; sleep 300; :"
    running = await begin(fresh, f"parallel([lambda: run({command!r})] * 5, limit=2)")
    await eventually(lambda: len(numbers(pids)) == 2, within=PATIENCE)
    ran = await stop(fresh, running)
    assert ran.done.status == "interrupted", ran.explained
    await eventually(lambda: alive(numbers(pids)) == [])
    assert len(numbers(pids)) == 2


@pytest.mark.needs_process
async def test_what_a_command_leaves_lives_until_the_kernel_ends(fresh: Kernel, tmp_path: Path) -> None:
    pids = tmp_path / "pids"
    ran = await ok(fresh, f"run('sleep 300 & echo $! > {pids}; echo begun').code")
    assert (ran.stdout, ran.result) == ("begun\n", "0")
    assert (await ok(fresh, "run('echo on').stdout")).result == r"'on\n'"
    assert alive(numbers(pids)) == numbers(pids)
    await fresh.shutdown()
    await eventually(lambda: alive(numbers(pids)) == [], within=PATIENCE)


# An interactive program in a cell takes the terminal; `input()` blocks for ever.
@pytest.mark.parametrize(
    ("command", "said"),
    [
        ("tty", "not a tty\n"),
        ("ls /proc/self/fd", "0\n1\n2\n3\n"),
        ("(: > /dev/tty) 2>/dev/null || echo none", "none\n"),
        ("cat; read line || echo end", "end\n"),
        ("python3 -c 'input()' 2>&1 | tail -n 1", "EOFError: EOF when reading a line\n"),
        ("echo text | more", "text\n"),
    ],
    ids=["tty", "descriptors", "terminal", "read", "input", "pager"],
)
async def test_a_command_cannot_ask_anybody(kernel: Kernel, command: str, said: str) -> None:
    ran = await ok(kernel, f"r = run({command!r}, timeout=20)")
    assert ran.stdout == said


async def test_commands_run_side_by_side_in_threads(kernel: Kernel) -> None:
    code = """
import concurrent.futures
with concurrent.futures.ThreadPoolExecutor(4) as pool:
    texts = list(pool.map(lambda n: run(f'echo {n}').stdout, range(8)))
texts == [f'{n}\\n' for n in range(8)]
"""
    assert (await ok(kernel, code)).result == "True"
