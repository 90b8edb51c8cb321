"""Nobody can answer a prompt: whoever asks fails at once, and the kernel stays usable."""

import pytest

from pisces.kernels.base import Kernel
from pisces.model.events import InputRequested
from tests.fakes.drive import ok, run, value


async def test_input_fails_at_once_and_tells_the_prompt(kernel: Kernel) -> None:
    ran = await run(kernel, "name = input('Your name? ')")
    assert ran.of(InputRequested) == [InputRequested("Your name? ")]
    assert (ran.done.status, ran.done.state) == ("error", "kept")
    assert await value(kernel, "1 + 1") == "2"


@pytest.mark.needs_shell
async def test_who_asks_in_a_cell_that_is_captured_is_told_of_too(kernel: Kernel) -> None:
    ran = await run(kernel, "%%capture\ninput('Your name? ')")
    assert ran.of(InputRequested) == [InputRequested("Your name? ")]


@pytest.mark.needs_process
async def test_getpass_fails_at_once_and_says_that_it_is_a_password(kernel: Kernel) -> None:
    ran = await run(kernel, "import getpass\ngetpass.getpass('Secret: ')")
    assert ran.of(InputRequested) == [InputRequested("Secret: ", password=True)]
    assert ran.done.status == "error"


@pytest.mark.parametrize(
    "code", ["sys.stdin.read()", "sys.stdin.readline()", "next(sys.stdin)", "sys.stdin.readlines()", "list(sys.stdin)"]
)
@pytest.mark.needs_process
async def test_reading_standard_input_fails_at_once(kernel: Kernel, code: str) -> None:
    ran = await run(kernel, f"import sys\n{code}")
    assert len(ran.of(InputRequested)) == 1, ran.explained
    assert ran.done.status == "error"
    assert await value(kernel, "1 + 1") == "2"


@pytest.mark.needs_process
async def test_a_child_that_reads_its_standard_input_finds_it_empty(kernel: Kernel) -> None:
    ran = await ok(kernel, "import subprocess\nsubprocess.run(['cat']).returncode")
    assert (ran.stdout, ran.result) == ("", "0")


@pytest.mark.needs_process
async def test_the_descriptor_of_standard_input_is_taken(kernel: Kernel) -> None:
    ran = await ok(kernel, "import os\nends = os.pipe()\nfor end in ends: os.close(end)\nmin(ends) > 2")
    assert ran.result == "True"


@pytest.mark.needs_process
async def test_a_program_that_wants_a_terminal_finds_none(kernel: Kernel) -> None:
    ran = await ok(kernel, "import subprocess\nsubprocess.run(['sh', '-c', 'exec 3<>/dev/tty'], stderr=-3).returncode")
    assert ran.result != "0"


@pytest.mark.needs_process
async def test_closing_standard_input_changes_nothing(kernel: Kernel) -> None:
    await ok(kernel, "import sys\nsys.stdin.close()")
    ran = await run(kernel, "input()")
    assert len(ran.of(InputRequested)) == 1
