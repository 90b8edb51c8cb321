"""What a person is told when the background host is stopped under an open UI."""

from pathlib import Path

from tests.fakes.screens import screen
from tests.frontends.command import Command


async def test_a_state_that_went_with_the_host_is_told_where_nobody_can_overlook_it(
    ui_home: Path, pisces: Command
) -> None:
    async with screen(ui_home, size=(120, 40)) as seen:
        await seen.run("kept = 'remembered'")
        await seen.until("✓")
        assert pisces("host", "stop", "--force").returncode == 0
        await seen.run("'kept' in globals()")
        await seen.until("False")
        await seen.until("STATE LOST")
