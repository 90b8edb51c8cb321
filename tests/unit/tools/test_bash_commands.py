"""What holds the commands of a runtime, when the system has no more descriptors, and when there is too much to read."""

import os
import select
from pathlib import Path

import anyio
import pytest

from pisces.errors import PiscesError
from pisces.tools.bash_commands import Commands
from pisces.tools.bash_process import CommandProcess, Order
from tests.fakes.drive import eventually
from tests.leftovers import descriptors_left

ENVIRONMENT = {"PATH": os.defpath}


def opened() -> set[str]:
    return set(os.listdir("/proc/self/fd"))


@pytest.mark.parametrize("left", [0, 1, 2, 3, 4, 5])
async def test_a_process_that_cannot_be_started_leaves_no_descriptor_open(left: int) -> None:
    before = opened()
    with descriptors_left(left), pytest.raises(PiscesError):
        CommandProcess(ENVIRONMENT)
    assert opened() <= before  # What an earlier test had left may be collected meanwhile.


async def test_what_cannot_be_started_in_advance_is_started_when_it_can_be() -> None:
    commands = Commands()
    try:
        with descriptors_left(3):
            commands.have_spare(ENVIRONMENT)
        assert commands._spare is None
        commands.have_spare(ENVIRONMENT)
        assert commands._spare is not None
    finally:
        await commands.aclose()


async def test_a_command_that_writes_faster_than_it_is_read_leaves_a_turn_to_its_deadline(tmp_path: Path) -> None:
    process = CommandProcess(ENVIRONMENT)
    try:
        await process.run(Order("yes", "/", {**ENVIRONMENT, "HOME": str(tmp_path)}, {}))
        assert (await process.read()).startswith(b"y\n")
        await eventually(lambda: bool(select.select([process._tether.output], [], [], 0)[0]))
        with anyio.CancelScope() as out_of_time:
            out_of_time.cancel()
            await process.read()
        assert out_of_time.cancelled_caught
    finally:
        await process.kill()
        process.let_be()
