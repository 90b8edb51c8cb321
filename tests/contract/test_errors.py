"""A cell that raises tells where, in the user's words only, and leaves the kernel as it was."""

import pytest

from pisces.kernels.base import Kernel
from pisces.model.events import Error
from tests.fakes.drive import ok, run, value

OURS = ("pisces", "interactiveshell", "builtin_shell", "ipython_shell", "loop.py", "interrupts.py")


async def test_an_error_has_its_name_its_message_and_the_line(kernel: Kernel) -> None:
    ran = await run(kernel, "def inner():\n    raise ValueError('wrong number: 7')\ninner()")
    assert (ran.done.status, ran.done.state) == ("error", "kept")
    assert (ran.error.ename, ran.error.evalue) == ("ValueError", "wrong number: 7")
    assert "ValueError: wrong number: 7" in ran.error.traceback[-1]


@pytest.mark.parametrize(
    "code",
    [
        "1 / 0",
        "def f(): return g()\ndef g(): raise KeyError('k')\nf()",
        "x = = 1",
        "import asyncio\nawait asyncio.sleep(0)\n1 / 0",
        "import asyncio\nasync def fail(): raise OSError('x')\nawait fail()",
        "try:\n    1 / 0\nexcept ZeroDivisionError as error:\n    raise RuntimeError('second') from error",
        "import sys\nsys.exit(3)",
        "input()",
        "%nosuchmagic",
        "raise ExceptionGroup('several', [ValueError(1), KeyError(2)])",
    ],
)
@pytest.mark.needs_shell
async def test_a_traceback_shows_no_frame_of_ours(kernel: Kernel, code: str) -> None:
    ran = await run(kernel, code)
    shown = "\n".join(ran.error.traceback)
    assert ran.done.status == "error"
    assert ran.error.ename in shown
    assert [word for word in OURS if word in shown] == []
    assert "\x1b" not in shown


@pytest.mark.needs_shell
async def test_a_syntax_error_points_at_the_place(kernel: Kernel) -> None:
    ran = await run(kernel, "ok = 1\nx = = 1")
    assert ran.error.ename == "SyntaxError"
    shown = "\n".join(ran.error.traceback)
    assert "x = = 1" in shown
    assert "^" in shown


@pytest.mark.parametrize(("argument", "code"), [("", 0), ("0", 0), ("3", 3), ("'a message'", 1), ("None", 0)])
@pytest.mark.needs_shell
async def test_system_exit_is_an_error_of_the_cell(kernel: Kernel, argument: str, code: int) -> None:
    ran = await run(kernel, f"import sys\nprint('bye')\nsys.exit({argument})")
    assert (ran.done.status, ran.done.exit_code, ran.error.ename) == ("error", code, "SystemExit")
    assert ran.stdout == "bye\n"
    assert await value(kernel, "1 + 1") == "2"


@pytest.mark.parametrize(
    "word", ["exit()", "quit()", "raise SystemExit", "import asyncio, sys\nawait asyncio.sleep(0)\nsys.exit(0)"]
)
@pytest.mark.needs_shell
async def test_leaving_does_not_end_the_kernel(kernel: Kernel, word: str) -> None:
    ran = await run(kernel, word)
    assert ran.done.state == "kept"
    assert ran.error.ename == "SystemExit"
    assert await value(kernel, "1 + 1") == "2"


async def test_state_from_before_the_error_stays(kernel: Kernel) -> None:
    await run(kernel, "kept_name = 'here'\n1 / 0")
    assert await value(kernel, "kept_name") == "'here'"


@pytest.mark.needs_shell
async def test_an_exception_whose_text_raises_is_still_reported(kernel: Kernel) -> None:
    ran = await run(kernel, "class Nasty(Exception):\n    def __str__(self): raise RuntimeError('no')\nraise Nasty")
    assert ran.done.status == "error"
    # IPython falls over it in several places, and says so each time.
    assert {error.ename for error in ran.of(Error)} & {"Nasty", "RuntimeError"}
    assert await value(kernel, "1 + 1") == "2"


@pytest.mark.needs_shell
async def test_endless_recursion_is_an_error_of_the_cell(kernel: Kernel) -> None:
    ran = await run(kernel, "def down(): return down()\ndown()")
    assert ran.error.ename == "RecursionError"
    assert await value(kernel, "1 + 1") == "2"


@pytest.mark.needs_shell
async def test_lone_surrogates_in_an_error_arrive_replaced(kernel: Kernel) -> None:
    ran = await run(kernel, "raise ValueError('a\\udcffb')")
    assert ran.error.evalue.startswith("a")
    ran.error.evalue.encode("utf-8")
    assert ran.done.notes == ()


async def test_a_failed_cell_leaves_no_trace_in_the_next(kernel: Kernel) -> None:
    await run(kernel, "print('unfinished', end='')\n1 / 0")
    ran = await ok(kernel, "print('next')")
    assert ran.outline == [("stdout", "next\n")]
