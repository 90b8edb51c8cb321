"""The editor in the real app, with a kernel behind it."""

from collections.abc import Callable
from pathlib import Path

import pytest

from pisces.tui.editor.completion_menu import CompletionMenu
from pisces.tui.editor.editor import Editor
from tests.fakes.screens import Screen, screen


async def tab_until(seen: Screen, completed: Callable[[], bool]) -> None:
    """Press Tab; once more if the kernel of a busy machine did not answer within the time that a person waits."""
    while not completed():
        await seen.pilot.press("tab")
        await seen.until(lambda: completed() or "no completions" in seen.text)
        await seen.until(lambda: completed() or "no completions" not in seen.text)


async def test_names_of_the_kernel_complete_what_is_typed(ui_home: Path) -> None:
    async with screen(ui_home) as seen:
        await seen.run("temperature_of_water = 20; temperature_of_air = 25; print('ready' * 2)")
        await seen.until("readyready")
        await seen.until("idle")
        editor = seen.app.screen.query_one(Editor)
        await seen.type("print(tempera")
        await tab_until(seen, lambda: editor.text == "print(temperature_of_")
        await seen.until(lambda: len(seen.app.screen.query(CompletionMenu)) == 1)
        await seen.pilot.press("w")
        await seen.pilot.press("enter")
        await seen.until(lambda: editor.text == "print(temperature_of_water")
        await seen.type(" * 111)")
        await seen.pilot.press("enter")
        await seen.until("2220")


async def test_a_block_that_is_typed_with_enter_runs_after_an_empty_line(ui_home: Path) -> None:
    async with screen(ui_home) as seen:
        await seen.pilot.press(*"for i in 1,2:", "enter", *"print(i*1111)", "enter")
        assert seen.app.screen.query_one(Editor).text == "for i in 1,2:\n    print(i*1111)\n    "
        await seen.pilot.press("enter")
        await seen.until("2222")


async def test_what_was_typed_is_found_again_by_the_next_app(ui_home: Path) -> None:
    async with screen(ui_home) as seen:
        await seen.run("print('found' + ' again')")
        await seen.until("found again")
    async with screen(ui_home) as seen:
        editor = seen.app.screen.query_one(Editor)
        await seen.until(lambda: editor.past.typed)
        await seen.pilot.press("up")
        assert editor.text == "print('found' + ' again')"
        await seen.pilot.press("ctrl+u", "ctrl+r", *"again", "enter")
        await seen.until(lambda: editor.text == "print('found' + ' again')")


@pytest.mark.parametrize("line", ["! echo from $((40 + 2)) the shell", "!!echo from $((6 * 7)) the shell"])
async def test_a_command_of_the_shell_is_run_as_one(ui_home: Path, line: str) -> None:
    async with screen(ui_home) as seen:
        await seen.type(line)
        await seen.pilot.press("enter")
        await seen.until("from 42 the shell")


async def test_a_magic_and_a_cell_with_a_space_before_it_are_the_kernels(ui_home: Path) -> None:
    async with screen(ui_home) as seen:
        await seen.type("  secret = 'not' + ' kept'; print(secret)")
        await seen.pilot.press("enter")
        await seen.until("not kept")
        assert seen.app.screen.query_one(Editor).past.typed == []
        await seen.type("$ print(6 * 7000)")
        await seen.pilot.press("enter")
        await seen.until("42000")
