"""The panels: variables after each cell, sessions wherever they are, and lists that can be narrowed down by typing."""

from pathlib import Path

import pytest

from pisces.errors import PiscesError
from pisces.journal.entries import CellBegan, SessionBegan
from pisces.journal.folder import journal_path
from pisces.journal.line import encode_line
from pisces.journal.writer import JournalFile
from pisces.tui.desk.host_link import HostLink
from pisces.tui.main_screen import MainScreen
from tests.fakes.screens import Screen, screen

WIDE = (140, 40)


def main(seen: Screen) -> MainScreen:
    shown = seen.app.screen_stack[0]
    assert isinstance(shown, MainScreen)
    return shown


async def test_variables_are_shown_after_each_cell_and_go_into_the_editor(ui_home: Path) -> None:
    async with screen(ui_home, size=WIDE) as seen:
        await seen.run("apple = [1, 2, 3]; pear = 'x' * 5")
        await seen.until("list 3")
        await seen.run("plum = {}")
        await seen.until("plum")
        await seen.pilot.press("f2", *"pe")
        await seen.until("Variables (1 of 3)")
        await seen.pilot.press("enter")
        assert main(seen).editor.text == "pear"
        assert main(seen).editor.has_focus


async def test_while_a_cell_runs_the_variables_are_those_of_before_it(ui_home: Path) -> None:
    async with screen(ui_home, size=WIDE) as seen:
        await seen.run("apple = 1")
        await seen.until("Variables (1)")
        await seen.run("import time; time.sleep(600)")
        await seen.until("as of the last cell")
        await seen.pilot.press("ctrl+c")
        await seen.until("Variables (2)")
        await seen.until(lambda: "as of the last cell" not in seen.text)


async def test_letters_are_taken_back_before_the_panel_is_left(ui_home: Path) -> None:
    async with screen(ui_home, size=WIDE) as seen:
        await seen.run("apple = 1; pear = 2")
        await seen.until("Variables (2)")
        await seen.pilot.press("f2", *"appx")
        await seen.until("Variables (0 of 2)")
        await seen.pilot.press("backspace")
        await seen.until("Variables (1 of 2)")
        await seen.pilot.press("escape")
        await seen.until("Variables (2)")
        assert not main(seen).editor.has_focus
        await seen.pilot.press("escape")
        await seen.until(lambda: main(seen).editor.has_focus)


async def test_a_panel_is_shown_and_hidden_by_its_key(ui_home: Path) -> None:
    async with screen(ui_home, size=WIDE) as seen:
        await seen.until("Variables (0)")
        await seen.pilot.press("f2", "f2")
        await seen.until(lambda: "Variables (0)" not in seen.text)
        await seen.until("Sessions (")
        await seen.pilot.press("f3", "f3")
        await seen.until(lambda: "Sessions (" not in seen.text)
        await seen.until(lambda: main(seen).editor.has_focus)
        await seen.pilot.press("f3")
        await seen.until("Sessions (")


async def test_on_a_narrow_screen_a_panel_lies_above_everything_else(ui_home: Path) -> None:
    async with screen(ui_home, size=(60, 20)) as seen:
        await seen.run("apple = 1")
        await seen.until("[1]")
        assert "Variables (" not in seen.text
        await seen.pilot.press("f2")
        await seen.until("Variables (1)")
        await seen.until(lambda: ">>>" not in seen.text)
        await seen.pilot.press("enter")
        await seen.until(">>>")
        assert main(seen).editor.text == "apple"


async def test_a_session_of_another_program_is_watched_live(ui_home: Path) -> None:
    async with screen(ui_home, size=WIDE) as seen:
        file = JournalFile(journal_path(seen.app.desk.paths.journals, "theirs"))
        file.append(encode_line(SessionBegan(1.0, "theirs", "/somewhere")))
        await seen.until("theirs")
        await seen.until("another program")
        await seen.pilot.press("f3", *"theirs", "enter")
        await seen.until("WATCHING")
        await seen.until("You watch a session of another program")
        assert not main(seen).editor.display
        file.append(encode_line(CellBegan(2.0, 1, "answer = 42")))
        await seen.until("answer = 42")
        await seen.pilot.press("f9")
        await seen.until("only watched")
        file.close()


async def test_a_program_that_leaves_its_session_leaves_one_of_the_past(ui_home: Path) -> None:
    async with screen(ui_home, size=WIDE) as seen:
        file = JournalFile(journal_path(seen.app.desk.paths.journals, "theirs"))
        file.append(encode_line(SessionBegan(1.0, "theirs", "/somewhere")))
        await seen.until("theirs")
        await seen.pilot.press("f3", *"theirs", "enter")
        await seen.until("WATCHING")
        await seen.until("not known of this session")  # Its variables: it would be wrong to say that it has none.
        file.close()
        await seen.until("of the PAST")
        await seen.until("This session is over.")


async def test_sessions_are_found_although_the_host_does_not_answer(
    ui_home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def silent(_link: HostLink) -> None:
        raise PiscesError("The background host does not answer.")

    monkeypatch.setattr(HostLink, "hello", silent)
    async with screen(ui_home, size=WIDE) as seen:
        file = JournalFile(journal_path(seen.app.desk.paths.journals, "theirs"))
        file.append(encode_line(SessionBegan(1.0, "theirs", "/somewhere")))
        await seen.until("The background host does not answer.")
        await seen.until("another program")
        file.close()
        await seen.pilot.press("f4")
        await seen.until("Go to the session")


async def test_a_name_that_would_write_to_the_terminal_is_shown_without_that(ui_home: Path) -> None:
    async with screen(ui_home, size=WIDE) as seen:
        file = JournalFile(journal_path(seen.app.desk.paths.journals, "nasty"))
        file.append(encode_line(SessionBegan(1.0, "na\x1b[31m[bold]sty", "/some\x07where")))
        await seen.until("[bold]sty")
        file.close()
        assert "\x1b" not in seen.text
        assert "\x07" not in seen.text
