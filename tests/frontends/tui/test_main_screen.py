"""The main screen: what it shows, on a screen of any size, and what becomes of errors."""

import re
from pathlib import Path

import anyio
import pytest
from textual.widgets import OptionList

from pisces.errors import PiscesError
from pisces.tui.app import PiscesApp
from pisces.tui.desk.desk import Desk
from pisces.tui.desk.items import NoticeItem
from pisces.tui.main_screen import MainScreen
from pisces.tui.options import UiOptions
from tests.fakes.screens import Screen, screen


def main(seen: Screen) -> MainScreen:
    shown = seen.app.screen_stack[0]
    assert isinstance(shown, MainScreen)
    return shown


def notices(seen: Screen) -> list[NoticeItem]:
    return [item for item in seen.app.desk.timeline.items if isinstance(item, NoticeItem)]


@pytest.mark.parametrize("size", [(20, 6), (40, 12), (80, 24), (300, 100)], ids=str)
async def test_it_works_on_a_screen_of_any_size(ui_home: Path, size: tuple[int, int]) -> None:
    async with screen(ui_home, size=size) as seen:
        await seen.until("idle" if size[0] > 40 else seen.app.desk.session[:8])
        for key in ("f2", "escape", "f3", "escape", "f1", "escape", "ctrl+p", "escape", "f4", "escape", "ctrl+n"):
            await seen.pilot.press(key)
        await seen.until(lambda: main(seen) is not seen.app.screen)  # The last one asks the host first.
        await seen.pilot.press("escape")
        await seen.until(lambda: main(seen) is seen.app.screen)
        lines = seen.text.splitlines()
        assert len(lines) == size[1]
        assert "Help" in lines[-1]


async def test_resizing_while_a_cell_runs_keeps_the_screen_whole(ui_home: Path) -> None:
    async with screen(ui_home, size=(120, 30)) as seen:
        await seen.run("import time\nfor i in range(6000): print(i); time.sleep(0.01)")
        await seen.pilot.press("f5")
        await seen.until("running")
        for width in (20, 140, 35, 90, 109, 110, 60):
            await seen.pilot.resize_terminal(width, 12)
            await seen.until(lambda: seen.app.query_one("#side").display is (seen.app.size.width >= 110))
            assert seen.app.size.width == width
        await seen.pilot.resize_terminal(100, 30)
        await seen.pilot.press("ctrl+c")
        await seen.until("idle")
        assert "Help" in seen.text.splitlines()[-1]


async def test_the_status_tells_the_session_and_what_it_does(ui_home: Path) -> None:
    async with screen(ui_home, session="work") as seen:
        await seen.until("work · idle · background host")
        await seen.run("import time; time.sleep(60)")
        await seen.until(lambda: re.search(r"running [1-9]\d* s", seen.text))
        await seen.pilot.press("ctrl+c")
        await seen.until("work · idle")


async def test_cells_that_wait_for_their_turn_are_counted(ui_home: Path) -> None:
    async with screen(ui_home, size=(100, 30)) as seen:
        await seen.run("import time; time.sleep(60)")
        await seen.until(lambda: seen.app.desk.timeline.running is not None)
        await seen.run("'first' + '!'")
        await seen.run("'second' + '!'")
        await seen.until(", 2 waiting")
        await seen.pilot.press("ctrl+c")
        await seen.until("'second!'")
        await seen.until("idle")
        await seen.until(lambda: "waiting" not in seen.text)


async def test_a_crash_is_told_at_the_head_of_the_screen_until_it_has_been_seen(ui_home: Path) -> None:
    async with screen(ui_home) as seen:
        await seen.run("x = 1")
        await seen.until("[1]")
        await seen.run("import os; os._exit(3)")
        await seen.until(lambda: seen.app.query_one("#state").display)
        await seen.until(lambda: seen.text.splitlines()[1].strip().startswith("STATE RESTORED:"))
        await seen.pilot.press("escape")
        assert not seen.app.query_one("#state").display
        await seen.run("x + 41")
        await seen.until("42")


async def test_the_second_crash_of_a_kind_is_told_as_the_first_was(ui_home: Path) -> None:
    async with screen(ui_home) as seen:
        for _ in range(2):
            await seen.run("import os; os._exit(3)")
            await seen.until(lambda: seen.app.query_one("#state").display)
            await seen.until(lambda: not seen.app.desk.unfinished)
            await seen.pilot.press("escape")
            await seen.until(lambda: not seen.app.query_one("#state").display)
        assert len(notices(seen)) == 2


async def test_what_became_of_a_state_out_of_sight_is_told_to_who_comes_back(ui_home: Path) -> None:
    async with screen(ui_home, session="first") as seen:
        wait = f"while not os.path.exists({str(ui_home / 'go')!r}): time.sleep(0.01)"
        await seen.run(f"import os, time\n{wait}\nos._exit(3)")
        await seen.until(lambda: seen.app.desk.timeline.running is not None)
        left = seen.app.desk.timeline
        await main(seen).go_to("second")
        await seen.until("second · idle")
        (ui_home / "go").touch()
        await seen.until(lambda: any(isinstance(item, NoticeItem) for item in left.items))
        assert not seen.app.query_one("#state").display
        await main(seen).go_to("first")
        await seen.until(lambda: seen.app.query_one("#state").display)


async def test_a_crash_of_before_the_ui_was_there_is_no_news(ui_home: Path) -> None:
    async with screen(ui_home, session="work") as seen:
        await seen.run("import os; os._exit(3)")
        await seen.until(lambda: seen.app.query_one("#state").display)
    async with screen(ui_home, session="work") as seen:
        await seen.until("STATE RESTORED")
        assert not seen.app.query_one("#state").display
        await seen.run("import os; os._exit(4)")
        await seen.until(lambda: seen.app.query_one("#state").display)


async def test_help_shows_every_key_and_goes_away(ui_home: Path) -> None:
    async with screen(ui_home, size=(100, 90)) as seen:
        await seen.pilot.press("f1")
        await seen.until("Take the last cell back")
        await seen.pilot.press("escape")
        await seen.until("idle")


async def test_a_question_mark_helps_where_nothing_is_typed(ui_home: Path) -> None:
    async with screen(ui_home) as seen:
        await seen.pilot.press("question_mark")
        assert main(seen).editor.text == "?"
        await seen.pilot.press("backspace")
        main(seen).history.focus()
        await seen.pilot.press("question_mark")
        await seen.until("Ctrl+P")


async def test_the_palette_has_our_commands_and_no_others(ui_home: Path) -> None:
    async with screen(ui_home, size=(100, 60)) as seen:
        await seen.pilot.press("ctrl+p")
        await seen.until("Run in the background (F6)")
        await seen.until("Export to a notebook")
        assert "Screenshot" not in seen.text
        await seen.type("Light or dark")
        await seen.until(lambda: seen.app.screen.query_one(OptionList).option_count == 1)
        await seen.pilot.press("enter")
        await seen.until(lambda: seen.app.theme == "pisces-light")


async def test_the_theme_that_was_chosen_is_there_the_next_time(ui_home: Path) -> None:
    async with screen(ui_home) as seen:
        assert seen.app.current_theme.dark
        await seen.pilot.press("ctrl+t")
        await seen.until(lambda: not seen.app.current_theme.dark)
    async with screen(ui_home) as seen:
        assert seen.app.theme == "pisces-light"
    assert PiscesApp(UiOptions(cwd=str(ui_home), theme="dark")).theme == "pisces-dark"


async def test_an_error_that_nobody_foresaw_is_told_and_the_app_goes_on(
    ui_home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with screen(ui_home) as seen:

        async def break_down() -> None:
            raise ValueError("seven")

        main(seen).do(break_down())
        await seen.until("ValueError:")
        assert "Traceback" not in seen.text
        seen.app.run_worker(break_down())
        with monkeypatch.context() as patch:
            patch.setattr(seen.app.desk, "poll", lambda: 1 / 0)
            await seen.until("ZeroDivisionError")
        await seen.run("print(6 * 7)")
        await seen.until("42")
    assert "ValueError: seven" in (seen.app.desk.paths.agent / "ui.log").read_text(encoding="utf-8")


async def test_an_error_of_a_handler_ends_the_app_with_a_sentence(
    ui_home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    app = PiscesApp(UiOptions(cwd=str(ui_home)))

    async def break_down() -> None:
        async with app.run_test() as pilot:
            app.call_later(lambda: int("seven"))
            await pilot.pause()

    with pytest.raises(ValueError, match="seven"):
        await break_down()
    assert app.return_code == 1
    said = capsys.readouterr().err
    assert said.startswith("Pisces itself went wrong: ValueError: invalid literal")
    assert "Traceback" not in said
    assert "Traceback" in (app.desk.paths.agent / "ui.log").read_text(encoding="utf-8")


async def test_what_the_host_refuses_is_told_and_the_ui_stays_usable(
    ui_home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PI_SET__python__interpreter", "/nowhere/python")
    async with screen(ui_home) as seen:
        await seen.run("1 + 1")
        await seen.until("/nowhere/python")
        await seen.pilot.press("f1")
        await seen.until("Take the last cell back")


async def test_a_host_that_cannot_be_called_is_a_notice_with_the_remedy(
    ui_home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def refuse(*_: object) -> None:
        raise PiscesError("The background host is of another version.", hint="Stop it: pisces host stop")

    monkeypatch.setattr("pisces.tui.desk.host_link.HostLink.hello", refuse)
    async with screen(ui_home) as seen:
        await seen.until("pisces host stop")
        await seen.pilot.press("f4")
        await seen.pilot.press("escape")
        await seen.until("idle")


async def test_what_is_typed_before_the_session_is_found_is_not_lost(
    ui_home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    found, begin = anyio.Event(), Desk.begin

    async def begin_late(desk: Desk) -> None:
        await found.wait()
        await begin(desk)

    monkeypatch.setattr(Desk, "begin", begin_late)
    async with screen(ui_home) as seen:
        await seen.run("print(6 * 7)")
        await seen.type("x = 'half")
        found.set()
        await seen.until("42")
        assert main(seen).editor.text == "x = 'half"
