"""What can be done from the main screen, each by its key: the state, the sessions, leaving."""

import base64
import io
import json
from pathlib import Path

import anyio
import pytest
from PIL import Image as Pictures
from textual.widgets import OptionList

from pisces.render.blocks import Image
from pisces.tui.desk.desk import Desk
from pisces.tui.desk.runs import OwnRuns
from pisces.tui.history.history import History
from pisces.tui.main_screen import MainScreen
from pisces.tui.notebook.screen import NotebookScreen
from pisces.tui.pager.screen import PagerScreen
from tests.fakes.screens import Screen, screen
from tests.frontends.command import Command

EMPTY = json.dumps({"cells": [], "metadata": {}, "nbformat": 4, "nbformat_minor": 5})


def main(seen: Screen) -> MainScreen:
    shown = seen.app.screen_stack[0]
    assert isinstance(shown, MainScreen)
    return shown


async def command(seen: Screen, name: str) -> None:
    """By the palette."""
    await seen.pilot.press("ctrl+p")
    await seen.until("Search for commands")
    await seen.type(name)
    await seen.until(lambda: seen.app.screen.query_one(OptionList).option_count == 1)
    await seen.pilot.press("enter")


async def test_undo_takes_the_last_cell_back(ui_home: Path) -> None:
    async with screen(ui_home) as seen:
        await seen.run("x = 1")
        await seen.run("x = 2")
        await seen.until("[2]")
        await seen.run("import os; os._exit(3)")
        await seen.until(lambda: seen.app.query_one("#state").display)
        await seen.pilot.press("f8")
        await seen.until("taken back")
        assert not seen.app.query_one("#state").display
        await seen.run("print('now', x)")
        await seen.until("now 1")


async def test_a_reset_is_asked_about_and_enter_by_mistake_loses_nothing(ui_home: Path) -> None:
    async with screen(ui_home) as seen:
        await seen.run("x = 'kept'")
        await seen.until("[1]")
        await seen.pilot.press("f9")
        await seen.until("Every variable of session")
        await seen.pilot.press("enter")
        await seen.run("x.upper()")
        await seen.until("KEPT")
        await seen.pilot.press("f9")
        await seen.until("Every variable of session")
        await seen.pilot.press("y")
        await seen.until("fresh kernel")
        await seen.run("x")
        await seen.until("NameError")


async def test_a_branch_is_in_sight_and_leaves_the_first_session_alone(ui_home: Path) -> None:
    async with screen(ui_home, session="first") as seen:
        await seen.run("x = 1")
        await seen.until("[1]")
        await seen.pilot.press("f10")
        await seen.until("first-2")
        await seen.pilot.press("enter")
        await seen.until("first-2 · idle")
        await seen.run("x = 2")
        await seen.until("[2]")
        await seen.pilot.press("f4")
        await seen.until("Go to the session")
        await seen.type("first")
        offered = seen.app.screen.query_one(OptionList)
        await seen.until(lambda: offered.option_count == 2 and offered.highlighted_option)
        while offered.highlighted_option and "first-2" in str(offered.highlighted_option.prompt):
            await seen.pilot.press("down")
        await seen.pilot.press("enter")
        await seen.until("first · idle")
        await seen.run("print('here', x)")
        await seen.until("here 1")


async def test_a_checkpoint_is_made_and_gone_back_to_by_its_name(ui_home: Path) -> None:
    async with screen(ui_home) as seen:
        await seen.pilot.press("ctrl+l")
        await seen.until("There is no checkpoint")
        await seen.run("x = 1")
        await seen.until("[1]")
        await seen.pilot.press("ctrl+s")
        await seen.until("Keep the state")
        await seen.pilot.press("enter")
        await seen.until("Type something")
        await seen.type("clean")
        await seen.pilot.press("enter")
        await seen.until("Checkpoint 'clean'")
        await seen.run("x = 2")
        await seen.until("[2]")
        await seen.pilot.press("ctrl+l")
        await seen.until("after 1 cells")
        await seen.pilot.press("enter")
        await seen.until("Restore")
        await seen.run("print('now', x)")
        await seen.until("now 1")


async def test_a_session_is_begun_exported_and_closed(ui_home: Path) -> None:
    async with screen(ui_home, session="first") as seen:
        await seen.pilot.press("ctrl+n")
        await seen.until("Begin a session named")
        await seen.type("other")
        await seen.pilot.press("enter")
        await seen.until("other · idle")
        await seen.run("print(6 * 7)")
        await seen.until("42")
        await command(seen, "Export to a notebook")
        await seen.until("other.ipynb")
        await seen.pilot.press("enter")
        await seen.until("Wrote 1 cell")
        await command(seen, "Close the session")
        await seen.until("Close session 'other'?")
        await seen.pilot.press("y")
        await seen.until("The session was closed")
    cells = json.loads((ui_home / "other.ipynb").read_text(encoding="utf-8"))["cells"]
    assert ["".join(cell["source"]) for cell in cells] == ["print(6 * 7)"]


async def test_a_session_of_the_past_can_be_read_and_exported_but_not_run(ui_home: Path, pisces: Command) -> None:
    ran = pisces("run", "--session", "gone", "-c", "print('once upon a time')", cwd=ui_home)
    assert ran.returncode == 0, ran.stderr
    closed = pisces("session", "close", "gone", cwd=ui_home)
    assert closed.returncode == 0, closed.stderr
    async with screen(ui_home, session="first") as seen:
        await seen.pilot.press("f4")
        await seen.until("Go to the session")
        await seen.type("gone")
        await seen.pilot.press("enter")
        await seen.until("once upon a time")
        await seen.until("This session is over")
        assert not main(seen).editor.display
        await seen.pilot.press("f8")
        await seen.until("only watched")
        await command(seen, "Export to a notebook")
        await seen.until("gone.ipynb")
        await seen.pilot.press("enter")
        await seen.until("Wrote 1 cells")
    assert (ui_home / "gone.ipynb").exists()


async def test_ctrl_c_stops_a_cell_and_with_nothing_to_stop_tells_how_to_leave(ui_home: Path) -> None:
    async with screen(ui_home) as seen:
        await seen.run("import time; print('off'); time.sleep(600)")
        await seen.until("running")
        await seen.until("off")
        await seen.pilot.press("ctrl+c")
        await seen.until("KeyboardInterrupt")
        await seen.until("idle")
        await seen.pilot.press("ctrl+c", "ctrl+c", "ctrl+c")
        await seen.until("Ctrl+Q leaves")
        assert seen.app.is_running


async def test_esc_closes_what_is_open_before_it_stops_a_cell(ui_home: Path) -> None:
    async with screen(ui_home, size=(80, 24)) as seen:
        await seen.run("import time; print('off'); time.sleep(600)")
        await seen.until("off")
        await seen.pilot.press("f2")
        await seen.until("Variables (")
        await seen.pilot.press("escape")
        await seen.until(lambda: "Variables (" not in seen.text)
        assert main(seen).desk.busy
        await seen.pilot.press("escape")
        await seen.until("KeyboardInterrupt")


async def test_a_question_about_one_session_does_nothing_to_another(ui_home: Path) -> None:
    async with screen(ui_home, session="first") as seen:
        await seen.run("x = 1; print('set' + ' here')")
        await seen.until("set here")
        await seen.pilot.press("f9")
        await seen.until("Every variable of session 'first' is dropped")
        await main(seen).go_to("second")  # As a branch does that was asked for before.
        await seen.pilot.press("y")
        await seen.until("Another session has come in sight meanwhile")
        assert seen.app.desk.timeline.items == []
        await main(seen).go_to("first")
        await seen.run("print('x is', x)")
        await seen.until("x is 1")


async def test_nothing_is_run_from_a_session_that_is_only_watched(ui_home: Path, pisces: Command) -> None:
    assert pisces("run", "--session", "same", "-c", "print('once' + ' upon')", cwd=ui_home).returncode == 0
    assert pisces("session", "close", "same", cwd=ui_home).returncode == 0
    async with screen(ui_home, session="same") as seen:
        await seen.until("idle")
        await seen.type("open('ran', 'w').close()")
        (past,) = [each for each in await seen.app.desk.sessions() if each.where == "past"]
        main(seen).show_session(past)
        await seen.until("This session is over")
        for key in ("f5", "f6"):
            await seen.pilot.press(key)
        await seen.until("only watched")
        await seen.pilot.press("f4")
        await seen.until("Go to the session")
    assert not (ui_home / "ran").exists()


async def test_leaving_before_a_job_has_its_place_is_asked_about(
    ui_home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    turn = anyio.Event()

    async def wait_for_turn(*_: object) -> None:
        await turn.wait()

    monkeypatch.setattr(OwnRuns, "turn_of", wait_for_turn)
    async with screen(ui_home) as seen:
        await seen.type("print('it' + ' ran')")
        await seen.pilot.press("f6")
        await seen.until(lambda: seen.app.desk.unfinished)
        await seen.pilot.press("ctrl+q")
        await seen.until("would be interrupted")
        await seen.pilot.press("n")
        turn.set()
        await seen.until(lambda: not seen.app.desk.unfinished)
        await seen.until("it ran")


async def test_leaving_right_after_a_cell_has_ended_is_not_asked_about(
    ui_home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    reading = anyio.Event()

    async def read_for_ever(*_: object) -> None:
        reading.set()
        await anyio.sleep_forever()

    monkeypatch.setattr(Desk, "_read_on", read_for_ever)
    async with screen(ui_home) as seen:
        await seen.run("6 * 7")
        await seen.until(reading.is_set)
        await seen.pilot.press("ctrl+q")
        await seen.until(lambda: not seen.app.is_running)


async def test_leaving_while_a_cell_runs_is_asked_about(ui_home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    async with screen(ui_home, session="work") as seen:
        await seen.run("import time; print('off'); time.sleep(600)")
        await seen.until("off")
        await seen.pilot.press("ctrl+q")
        await seen.until("would be interrupted")
        await seen.pilot.press("n")
        await seen.until("running")
        await seen.pilot.press("ctrl+d")
        await seen.until("would be interrupted")
        await seen.pilot.press("y")
        await seen.until(lambda: not seen.app.is_running)
    assert "Session work stays. Come back: pisces --session work" in capsys.readouterr().err


async def test_ctrl_d_leaves_only_from_an_empty_editor(ui_home: Path) -> None:
    async with screen(ui_home) as seen:
        await seen.until("idle")
        await seen.type("ab")
        await seen.pilot.press("home", "ctrl+d")
        assert main(seen).editor.text == "b"
        await seen.pilot.press("ctrl+d")
        assert main(seen).editor.text == ""
        await seen.pilot.press("ctrl+d")
        await seen.until(lambda: not seen.app.is_running)


async def test_the_newest_code_and_output_can_be_copied(ui_home: Path) -> None:
    async with screen(ui_home) as seen:
        await seen.run("print(6 * 7)")
        await seen.until("42")
        await command(seen, "Copy the last code")
        await seen.until(lambda: seen.app.clipboard == "print(6 * 7)")
        await command(seen, "Copy the last output")
        await seen.until(lambda: seen.app.clipboard == "42")


async def test_a_command_of_the_shell_is_run_where_the_ui_is(ui_home: Path) -> None:
    (ui_home / "here.txt").write_text("", encoding="utf-8")
    async with screen(ui_home) as seen:
        await seen.run("! ls *.txt")
        await seen.until("here.txt")


async def test_a_job_runs_in_the_background_and_is_cancelled_from_its_panel(ui_home: Path) -> None:
    async with screen(ui_home, size=(140, 40)) as seen:
        await seen.type("import time; print('off'); time.sleep(600)")
        await seen.pilot.press("f6")
        await seen.until("Jobs (1)")
        await seen.until("running ·")
        seen.app.query_one("#jobs").focus()
        await seen.pilot.press("delete")
        await seen.until("Cancel the job")
        await seen.pilot.press("y")
        await seen.until("interrupted ·")


async def test_a_whole_output_is_opened_by_its_number_or_from_a_list(ui_home: Path) -> None:
    async with screen(ui_home) as seen:
        await seen.run("print('\\n'.join(f'line {i}' for i in range(30_000)))")
        await seen.until("artifact://")
        await seen.pilot.press("ctrl+g")
        await seen.until("Open the whole output")
        await seen.pilot.press("enter")
        await seen.until(lambda: isinstance(seen.app.screen, PagerScreen))
        await seen.until("line 3")
        await seen.pilot.press("q")
        await seen.until("idle")


async def test_a_notebook_below_the_folder_is_found_and_opened(ui_home: Path) -> None:
    (ui_home / "deep").mkdir()
    (ui_home / "deep" / "study.ipynb").write_text(EMPTY, encoding="utf-8")
    async with screen(ui_home) as seen:
        await seen.pilot.press("f12")
        await seen.until("deep/study.ipynb")
        await seen.pilot.press("enter")
        await seen.until(lambda: isinstance(seen.app.screen, NotebookScreen))
        await seen.pilot.press("ctrl+q")
        await seen.until(lambda: seen.app.screen is main(seen))


async def test_a_notebook_that_was_asked_for_is_open_at_the_start(ui_home: Path) -> None:
    (ui_home / "study.ipynb").write_text(EMPTY, encoding="utf-8")
    async with screen(ui_home, notebook="study.ipynb") as seen:
        await seen.until(lambda: isinstance(seen.app.screen, NotebookScreen))
        await seen.until("study.ipynb")


async def test_a_picture_is_shown_as_large_as_the_screen(ui_home: Path) -> None:
    made = io.BytesIO()
    Pictures.new("RGB", (64, 64), "red").save(made, "PNG")
    async with screen(ui_home) as seen:
        image = Image("image/png", base64.b64encode(made.getvalue()).decode("ascii"), 64, 64)
        main(seen).history.post_message(History.PictureWanted(image))
        await seen.until("▀▀▀▀")
        await seen.pilot.press("escape")
        await seen.until("idle")
        main(seen).history.post_message(History.PictureWanted(Image("image/png", "AAAA", 64, 64)))
        await seen.until("cannot be decoded")
