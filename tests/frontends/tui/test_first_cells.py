"""The first thing that a person does: type a cell, and see what it says."""

from pathlib import Path

from tests.fakes.screens import screen


async def test_a_cell_that_is_typed_is_run_and_its_output_is_seen(ui_home: Path) -> None:
    async with screen(ui_home) as seen:
        await seen.run("print(6 * 7)")
        await seen.until("42")
        await seen.run("x = 'remembered'")
        await seen.run("x.upper()")
        await seen.until("REMEMBERED")


async def test_a_cell_is_seen_although_the_journal_is_gone(ui_home: Path) -> None:
    async with screen(ui_home) as seen:
        await seen.run("x = 41")
        await seen.until("[1]")
        await seen.until("idle")
        journal = seen.app.desk.journal
        assert journal is not None
        journal.unlink()
        await seen.until("is gone: what others do")
        await seen.run("print('still', x + 1)")
        await seen.until("still 42")
        await seen.until("idle")
