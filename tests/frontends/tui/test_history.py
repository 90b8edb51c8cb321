"""The history on the screen: what is in sight, what keys do to it, and what stays when it grows."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from pisces.journal.entries import AnyEntry, CellBegan, CellEnded, Output, SessionBegan
from pisces.journal.line import encode_line
from pisces.model.events import Result, Stream
from pisces.tui.desk.items import CellItem
from pisces.tui.desk.sessions import SeenSession
from pisces.tui.editor.editor import Editor
from pisces.tui.history.history import History
from tests.fakes.screens import Screen, screen


def write(path: Path, *entries: AnyEntry) -> None:
    with path.open("ab") as file:
        file.writelines(map(encode_line, entries))


def cell(number: int, code: str, said: str = "", **ended: object) -> list[AnyEntry]:
    output = [Output(2.0, number, Stream("stdout", said))] if said else []
    end = {"position": number, "execution_count": number, **ended}
    return [CellBegan(2.0, number, code), *output, CellEnded(3.0, number, **end)]  # type: ignore[arg-type]  # Any of its fields.


@asynccontextmanager
async def watching(
    folder: Path, *entries: AnyEntry, size: tuple[int, int] = (80, 24)
) -> AsyncIterator[tuple[Screen, History, Path]]:
    """The screen, with the journal of a session of another program in sight."""
    journal = folder / "journal.jsonl"
    write(journal, SessionBegan(1.0, "theirs"), *entries)
    async with screen(folder, size=size) as seen:
        await seen.until(lambda: seen.app.desk.session)
        seen.app.desk.switch(SeenSession(name="theirs", where="elsewhere", journal=journal))
        history = seen.app.screen.query_one(History)
        history.focus()
        yield seen, history, journal


def many(count: int) -> list[AnyEntry]:
    return [entry for number in range(1, count + 1) for entry in cell(number, f"code_{number}()", f"said {number}\n")]


async def test_what_another_program_does_is_seen_while_it_happens(ui_home: Path) -> None:
    async with watching(ui_home, *cell(1, "x = 1", "one\n")) as (seen, _, journal):
        await seen.until("one")
        write(journal, CellBegan(2.0, 2, "slow()"), Output(2.0, 2, Stream("stdout", "half\n")))
        await seen.until("half")
        write(journal, Output(2.0, 2, Stream("stdout", "whole\n")), CellEnded(3.0, 2, position=2))
        await seen.until("whole")


async def test_the_end_is_in_sight_until_somebody_scrolls_up(ui_home: Path) -> None:
    async with watching(ui_home, *many(200)) as (seen, _, journal):
        await seen.until("said 200")
        await seen.pilot.press("pageup")
        await seen.until(lambda: "said 200" not in seen.text)
        before = seen.text.splitlines()[1:8]
        write(journal, *cell(201, "new()", "said 201\n"))
        await seen.until("↓ 1 new")
        assert seen.text.splitlines()[1:8] == before
        await seen.pilot.press("end")
        await seen.until("said 201")
        assert "new" not in seen.text.replace("new()", "")


async def test_scrolling_up_line_by_line_passes_over_every_line_once(ui_home: Path) -> None:
    """The heights of cells above are guesses until they come into sight, and are corrected without a jump."""
    tall = cell(1, "\n".join(f"line_{n}()" for n in range(6)), "".join(f"row {n}\n" for n in range(9)))
    async with watching(ui_home, *tall, *many(40)) as (seen, history, _):
        await seen.until("said 40")
        before = _lines(history)
        while history.scroll_offset.y > 0:
            history.scroll_to(y=history.scroll_offset.y - 1, animate=False)
            after = _lines(history)
            assert after[1:] == before[:-1]
            before = after
        await seen.pilot.pause()
        assert "row 0" in seen.text


def _lines(history: History) -> list[str]:
    return [history.render_line(y).text for y in range(history.size.height)]


def _numbers(seen: Screen) -> list[int]:
    return [int(line.split("said ")[1].split()[0]) for line in seen.text.splitlines() if "said " in line]


async def test_items_are_selected_expanded_and_copied_by_keys(ui_home: Path) -> None:
    long = "".join(f"row {number}\n" for number in range(1, 31))
    picture = Output(2.0, 2, Result({"text/plain": "the value"}))
    entries = [*cell(1, "first()", long), CellBegan(2.0, 2, "second()"), picture, CellEnded(3.0, 2, position=2)]
    async with watching(ui_home, *entries, size=(80, 60)) as (seen, history, _):
        await seen.until("the value")
        assert "row 15" not in seen.text
        await seen.pilot.press("up")
        selected = history.selected
        assert isinstance(selected, CellItem)
        assert selected.began.code == "second()"
        await seen.pilot.press("y")
        assert seen.app.clipboard == "the value"
        await seen.pilot.press("up", "enter")
        await seen.until("row 15")
        await seen.pilot.press("enter")
        await seen.until(lambda: "row 15" not in seen.text)
        await seen.pilot.press("escape")
        assert history.selected is None
        history.toggle_expanded()
        await seen.until("row 15")


async def test_a_click_selects(ui_home: Path) -> None:
    async with watching(ui_home, *many(2)) as (seen, history, _):
        await seen.until("said 2")
        line = next(number for number, text in enumerate(seen.text.splitlines()) if "said 1" in text)
        await seen.pilot.click(offset=(5, line))
        selected = history.selected
        assert isinstance(selected, CellItem)
        assert selected.began.code == "code_1()"


async def test_ten_thousand_cells_are_opened_without_drawing_them(ui_home: Path) -> None:
    async with watching(ui_home, *many(10_000)) as (seen, history, _):
        await seen.until("said 10000")
        assert len(history._drawing._drawn) < 100
        await seen.pilot.press("home")
        await seen.until("code_1()")
        await seen.pilot.press("end")
        await seen.until("said 10000")
        assert len(history._drawing._drawn) < 100


async def test_a_resize_keeps_what_is_in_sight(ui_home: Path) -> None:
    async with watching(ui_home, *many(100)) as (seen, history, _):
        await seen.until("said 100")
        history.scroll_to(y=200, animate=False)
        await seen.pilot.pause()
        top = _numbers(seen)[0]
        for size in ((20, 6), (200, 50), (80, 24)):
            await seen.pilot.resize_terminal(*size)
            await seen.pilot.pause()
        assert abs(_numbers(seen)[0] - top) <= 1


async def test_a_running_cell_shows_its_time_and_an_interrupt_ends_it(ui_home: Path) -> None:
    async with screen(ui_home) as seen:
        await seen.run("import time\nwhile True: time.sleep(0.01)")
        await seen.until(lambda: seen.app.desk.timeline.running is not None)
        await seen.until("2 s")
        await seen.app.desk.interrupt()
        await seen.until("interrupted")
        await seen.until(lambda: not seen.app.desk.busy)


async def test_several_cells_are_sent_and_run_in_order(ui_home: Path) -> None:
    async with screen(ui_home) as seen:
        await seen.run("import time; time.sleep(0.5); print('slow')")
        await seen.run("print('behind it')")
        await seen.until("\n   behind it")
        await seen.until(lambda: not seen.app.desk.busy)
        items = [item for item in seen.app.desk.timeline.items if isinstance(item, CellItem)]
        assert [item.own for item in items] == [True, True]


async def test_a_command_of_the_shell_comes_into_the_editor_with_its_sign(ui_home: Path) -> None:
    async with screen(ui_home) as seen:
        await seen.run("! echo ab''cd")
        await seen.until("abcd")
        await seen.until(lambda: not seen.app.desk.busy)
        history, editor = seen.app.screen.query_one(History), seen.app.screen.query_one(Editor)
        history.focus()
        await seen.until(lambda: history.has_focus)
        await seen.pilot.press("up", "c")
        await seen.until(lambda: editor.text == "! echo ab''cd")


async def test_what_is_said_at_parting_is_one_line_that_can_be_copied(
    ui_home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    name = "a-session-whose-name-is-long"
    async with screen(ui_home, session=name) as seen:
        await seen.run("print('said' + 'so')")
        await seen.until("saidso")
        await seen.until(lambda: seen.app.desk.journal is not None and not seen.app.desk.unfinished)
        await seen.pilot.press("ctrl+q")
        await seen.until(lambda: not seen.app.is_running)
    line = f"Session {name} stays. Come back: pisces --session {name} · end it: pisces session close {name}"
    assert line in capsys.readouterr().err.splitlines()
