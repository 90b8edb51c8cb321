"""A notebook on the screen, with keys in and the screen and the file out; cells run in a real kernel."""

import json
from pathlib import Path
from typing import Any

import nbformat
import pytest
from textual.events import Key

from pisces.notebooks.notebook_file import NotebookFile
from pisces.tui.notebook.book import Change, State
from pisces.tui.notebook.screen import NotebookScreen
from tests.fakes.screens import Screen, screen


def _cell(cell_id: str, source: str, kind: str = "code") -> dict[str, Any]:
    made = {"cell_type": kind, "id": cell_id, "metadata": {"kept": [1.0, "ü"]}, "source": source}
    return made | ({"execution_count": None, "outputs": []} if kind == "code" else {})


def _notebook(path: Path, *cells: dict[str, Any]) -> Path:
    book = {"cells": list(cells), "metadata": {}, "nbformat": 4, "nbformat_minor": 5}
    path.write_text(json.dumps(book, indent=2, ensure_ascii=False), encoding="utf-8")
    return path


def _cells(path: Path) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads(path.read_text(encoding="utf-8"))["cells"]
    return found


def _source(cell: dict[str, Any]) -> str:
    return "".join(cell["source"])


def _book(seen: Screen) -> NotebookScreen:
    assert isinstance(seen.app.screen, NotebookScreen)
    return seen.app.screen


def _drafts(seen: Screen) -> list[str | None]:
    return [cell.draft for cell in _book(seen).book.cells]


async def _edit(seen: Screen, text: str) -> None:
    """Put a text before that of the chosen cell, and stay in the edit."""
    await seen.pilot.press("enter")
    await seen.until("edit: Esc")
    await seen.type(text)
    await seen.until(lambda: any((draft or "").startswith(text) for draft in _drafts(seen)))


async def _end_edit(seen: Screen) -> None:
    await seen.pilot.press("escape")
    await seen.until("Enter edits")


def _press_at_once(seen: Screen, *keys: str) -> None:
    """Have all of these keys wait for the app, as they do where it is slower than the person."""
    for key in keys:
        seen.app.post_message(Key(key, key if len(key) == 1 else None))


async def test_a_cell_is_edited_run_and_saved_and_nothing_else_changes(ui_home: Path) -> None:
    path = _notebook(ui_home / "a.ipynb", _cell("one", "x = 20"), _cell("two", "text", "markdown"), _cell("tri", "x"))
    before = path.read_bytes()
    async with screen(ui_home, notebook=str(path)) as seen:
        await seen.until("x = 20")
        await seen.pilot.press("enter")
        await seen.until("edit: Esc")
        await seen.type("y = 1\n")
        await seen.pilot.press("escape")
        await seen.until("not saved")
        assert path.read_bytes() == before
        await seen.pilot.press("ctrl+s")
        await seen.until("Saved 1 cell")
        assert _source(_cells(path)[0]) == "y = 1\nx = 20"
        saved = path.read_text(encoding="utf-8")
        assert saved.replace('"y = 1\\nx = 20"', '"x = 20"').encode() == before
        await seen.pilot.press("r")
        await seen.until(lambda: _cells(path)[0]["execution_count"] is not None)
        await seen.until(lambda: _book(seen)._run is None)
        await seen.pilot.press("G", "enter")
        await seen.until("edit: Esc")
        await seen.type("y + 1 + ")
        await seen.pilot.press("f5")
        await seen.until(lambda: _cells(path)[2]["outputs"])
        assert _source(_cells(path)[2]) == "y + 1 + x"
        await seen.until("22")
        await seen.pilot.press("escape", "q")
        await seen.until(lambda: not isinstance(seen.app.screen, NotebookScreen))
        await seen.until("y + 1 + x")
    nbformat.validate(nbformat.read(path, as_version=4))  # type: ignore[no-untyped-call]  # nbformat has no types


async def test_all_cells_run_with_marks_and_stop_when_they_are_told_to(ui_home: Path) -> None:
    loop = _cell("b", "import time\nprint('he' + 're')\nwhile True: time.sleep(0.01)")
    path = _notebook(ui_home / "a.ipynb", _cell("a", "print(6 * 7)"), loop, _cell("c", "1"))
    async with screen(ui_home, notebook=str(path)) as seen:
        await seen.until("print(6 * 7)")
        await seen.pilot.press("A")
        await seen.until(lambda: "running" in {mark.status for mark in _book(seen)._cells.running.values()})
        await seen.until("42")
        await seen.until("here")
        await seen.pilot.press("down")
        await seen.until("cell 1 of 0-2")
        await seen.pilot.press("ctrl+c")
        await seen.until(lambda: _book(seen)._run is None)
        await seen.until("Not run: cell 2")
        assert _cells(path)[1]["outputs"][-1]["ename"] == "KeyboardInterrupt"


async def test_cells_are_inserted_moved_retyped_and_deleted_and_each_is_taken_back(ui_home: Path) -> None:
    path = _notebook(ui_home / "a.ipynb", _cell("a", "first"), _cell("b", "second"))
    before = path.read_bytes()
    async with screen(ui_home, notebook=str(path)) as seen:
        await seen.until("second")
        await seen.pilot.press("b")
        await seen.until(lambda: len(_cells(path)) == 3)
        await seen.until("was inserted")
        await seen.pilot.press("z")
        await seen.until(lambda: len(_cells(path)) == 2)
        await seen.until("Taken back: a cell was inserted")
        await seen.pilot.press("g", "J")
        await seen.until(lambda: [cell["id"] for cell in _cells(path)] == ["b", "a"])
        await seen.until("was moved")
        await seen.pilot.press("m")
        await seen.until(lambda: _cells(path)[1]["cell_type"] == "markdown")
        await seen.until("became markdown")
        _press_at_once(seen, "d", "d")  # Close upon each other, however busy the machine is.
        await seen.until(lambda: len(_cells(path)) == 1)
        await seen.until("was deleted")
        for left in ("was deleted", "became markdown", "was moved"):
            await seen.pilot.press("z")
            await seen.until(f"Taken back: cell {0 if left == 'was moved' else 1} {left}")
        assert path.read_bytes() == before
        await seen.pilot.press("z")
        await seen.until("Nothing to take back")


async def test_what_others_write_is_taken_over_and_never_in_place_of_a_draft(ui_home: Path) -> None:
    path = _notebook(ui_home / "a.ipynb", _cell("a", "mine"), _cell("b", "other"))
    others = NotebookFile(path, str(path))
    async with screen(ui_home, notebook=str(path)) as seen:
        await seen.until("cell 0 of 0-1")
        others.change(lambda document: document.with_cell(1, document.cells[1].with_source("theirs")))
        await seen.until("1 cell changed")
        await seen.until("theirs")
        await seen.pilot.press("enter")
        await seen.until("edit: Esc")
        await seen.type("also ")
        others.change(lambda document: document.with_cell(0, document.cells[0].with_source("conflicting")))
        await seen.until("Somebody else has changed this cell")
        await seen.pilot.press("escape", "ctrl+s")
        await seen.until("Then save again")
        assert _source(_cells(path)[0]) == "conflicting"
        await seen.pilot.press("1", "ctrl+s")
        await seen.until("Saved 1 cell")
        assert _source(_cells(path)[0]) == "also mine"
        await seen.pilot.press("enter")
        await seen.until("edit: Esc")
        await seen.type("kept ")
        others.change(lambda document: document.without(0))
        await seen.until("has deleted this cell")
        await seen.pilot.press("escape", "1", "ctrl+s")
        await seen.until(lambda: [_source(cell) for cell in _cells(path)] == ["kept also mine", "theirs"])


async def test_a_conflict_of_another_cell_ends_the_edit_and_each_draft_stays_that_of_its_cell(ui_home: Path) -> None:
    path = _notebook(ui_home / "a.ipynb", _cell("a", "first"), _cell("b", "second"))
    others = NotebookFile(path, str(path))
    async with screen(ui_home, notebook=str(path)) as seen:
        await seen.until("cell 0 of 0-1")
        await seen.pilot.press("down")
        await seen.until("cell 1 of 0-1")
        await _edit(seen, "my ")
        await _end_edit(seen)
        others.change(lambda document: document.with_cell(1, document.cells[1].with_source("theirs")))
        await seen.until(lambda: _book(seen).book.cells[1].conflict)
        await seen.pilot.press("up")
        await seen.until("cell 0 of 0-1")
        await _edit(seen, "also ")
        await seen.pilot.press("ctrl+s")
        await seen.until("Then save again")
        await seen.pilot.press("1")
        await seen.until("Your text is kept")
        assert _drafts(seen) == ["also first", "my second"]
        await seen.pilot.press("ctrl+s")
        await seen.until("Saved 2 cells")
    assert [_source(cell) for cell in _cells(path)] == ["also first", "my second"]


async def test_an_unchanged_cell_that_others_delete_is_edited_no_longer_and_its_neighbour_keeps_its_draft(
    ui_home: Path,
) -> None:
    path = _notebook(ui_home / "a.ipynb", _cell("a", "first"), _cell("b", "second"))
    others = NotebookFile(path, str(path))
    async with screen(ui_home, notebook=str(path)) as seen:
        await seen.until("cell 0 of 0-1")
        await seen.pilot.press("down")
        await seen.until("cell 1 of 0-1")
        await _edit(seen, "my ")
        await _end_edit(seen)
        await seen.pilot.press("up")
        await seen.until("cell 0 of 0-1")
        await seen.pilot.press("enter")
        await seen.until("edit: Esc")
        others.change(lambda document: document.without(0))
        await seen.until("1 cell removed")
        await seen.pilot.press("X")  # No command, and no text.
        await seen.until("Enter edits")
        assert _drafts(seen) == ["my second"]


async def test_a_cell_that_others_deleted_is_edited_on_when_it_is_saved_in_the_edit(ui_home: Path) -> None:
    path = _notebook(ui_home / "a.ipynb", _cell("a", "first"), _cell("b", "second"))
    others = NotebookFile(path, str(path))
    async with screen(ui_home, notebook=str(path)) as seen:
        await seen.until("cell 0 of 0-1")
        await _edit(seen, "my ")
        others.change(lambda document: document.without(0))
        await seen.until("has deleted this cell")
        await seen.pilot.press("ctrl+s")
        await seen.until("Saved 1 cell")
        await seen.until("edit: Esc")
        await seen.type("own ")
        await seen.until(lambda: _drafts(seen) == ["my own first", None])
        await seen.pilot.press("ctrl+s")
        await seen.until(lambda: [_source(cell) for cell in _cells(path)] == ["my own first", "second"])


async def test_a_cell_with_a_draft_that_is_deleted_here_is_gone_and_comes_back_with_it(ui_home: Path) -> None:
    path = _notebook(ui_home / "a.ipynb", _cell("a", "first"), _cell("b", "second"))
    async with screen(ui_home, notebook=str(path)) as seen:
        await seen.until("cell 0 of 0-1")
        await _edit(seen, "my ")
        await _end_edit(seen)
        _press_at_once(seen, "d", "d")
        await seen.until("was deleted")
        assert _drafts(seen) == [None]
        await seen.pilot.press("ctrl+s")
        await seen.until("All is saved")
        assert [_source(cell) for cell in _cells(path)] == ["second"]
        await seen.pilot.press("z")
        await seen.until("Taken back")
        assert _drafts(seen) == ["my first", None]
        await seen.pilot.press("ctrl+s")
        await seen.until("Saved 1 cell")
    assert [_source(cell) for cell in _cells(path)] == ["my first", "second"]


async def test_who_leaves_with_drafts_is_asked(ui_home: Path) -> None:
    path = _notebook(ui_home / "a.ipynb", _cell("a", "mine"))
    async with screen(ui_home, notebook=str(path)) as seen:
        await seen.until("mine")
        await seen.pilot.press("enter")
        await seen.until("edit: Esc")
        await seen.type("not ")
        await seen.pilot.press("escape", "q")
        await seen.until("Leave without saving?")
        await seen.pilot.press("n")
        await seen.until(lambda: isinstance(seen.app.screen, NotebookScreen))
        await seen.until("not mine")
        await seen.pilot.press("q")
        await seen.until("Leave without saving?")
        await seen.pilot.press("y")
        await seen.until(lambda: not isinstance(seen.app.screen, NotebookScreen))
    assert _source(_cells(path)[0]) == "mine"


async def test_bad_and_old_notebooks_are_told_with_what_to_do(ui_home: Path) -> None:
    bad = ui_home / "bad.ipynb"
    bad.write_text("{", encoding="utf-8")
    async with screen(ui_home, notebook=str(bad)) as seen:
        await seen.until("Invalid JSON in notebook")
        await seen.pilot.press("b", "r", "enter", "d", "d", "o", "q")
        await seen.until(lambda: not isinstance(seen.app.screen, NotebookScreen))
    assert bad.read_text(encoding="utf-8") == "{"
    old = ui_home / "old.ipynb"
    cell = {"cell_type": "code", "input": ["print 1"], "language": "python", "outputs": [], "collapsed": False}
    sheet = {"cells": [cell], "metadata": {}}
    old.write_text(json.dumps({"worksheets": [sheet], "metadata": {}, "nbformat": 3, "nbformat_minor": 0}), "utf-8")
    async with screen(ui_home, notebook=str(old), size=(120, 30)) as seen:
        await seen.until("print 1")
        await seen.until("pisces notebook upgrade")
        await seen.pilot.press("b")


async def test_a_missing_notebook_is_made_when_the_person_says_so(ui_home: Path) -> None:
    missing = ui_home / "new.ipynb"
    async with screen(ui_home, notebook=str(missing)) as seen:
        await seen.until("Make it (y)")
        await seen.pilot.press("y")
        await seen.until("no cells")
        await seen.pilot.press("b")
        await seen.until(lambda: len(_cells(missing)) == 1)
    nbformat.validate(nbformat.read(missing, as_version=4))  # type: ignore[no-untyped-call]  # nbformat has no types


async def test_the_whole_output_of_a_cell_is_in_the_pager(ui_home: Path) -> None:
    cell = _cell("a", "1")
    text = "".join(f"row {number}\n" for number in range(5000))
    cell["outputs"] = [{"output_type": "stream", "name": "stdout", "text": text}]
    path = _notebook(ui_home / "a.ipynb", cell)
    async with screen(ui_home, notebook=str(path)) as seen:
        await seen.until("row 0")
        assert "row 40" not in seen.text
        await seen.pilot.press("o", "G")
        await seen.until("row 4999")
        await seen.pilot.press("q", "f1")
        await seen.until("take the last of these changes back")


async def test_keys_that_come_all_at_once_mean_what_they_mean_one_by_one(ui_home: Path) -> None:
    path = _notebook(ui_home / "a.ipynb", _cell("a", "1"), _cell("b", "2"))
    async with screen(ui_home, notebook=str(path)) as seen:
        await seen.until("cell 0 of 0-1")
        _press_at_once(seen, "enter", *"ddA", "escape", "j")
        await seen.until("cell 1 of 0-1")
        assert _drafts(seen) == ["ddA1", None]
    assert [_source(cell) for cell in _cells(path)] == ["1", "2"]


async def test_what_is_typed_right_behind_a_new_cell_is_its_text(ui_home: Path) -> None:
    path = _notebook(ui_home / "a.ipynb", _cell("a", "1"), _cell("b", "2"))
    async with screen(ui_home, notebook=str(path)) as seen:
        await seen.until("cell 0 of 0-1")
        _press_at_once(seen, "b", "enter", *"ddA", "escape")
        await seen.until(lambda: any("ddA" in (draft or "") for draft in _drafts(seen)))
        assert _drafts(seen) == [None, "ddA", None]
    assert [_source(cell) for cell in _cells(path)] == ["1", "", "2"]


async def test_a_command_right_behind_a_new_cell_is_about_that_cell(ui_home: Path) -> None:
    path = _notebook(ui_home / "a.ipynb", _cell("a", "1"), _cell("b", "2"))
    async with screen(ui_home, notebook=str(path)) as seen:
        await seen.until("cell 0 of 0-1")
        _press_at_once(seen, "b", "m")
        await seen.until("became markdown")
    assert [cell["cell_type"] for cell in _cells(path)] == ["code", "markdown", "code"]


async def test_narrow_screens_do_not_break_it(ui_home: Path) -> None:
    path = _notebook(
        ui_home / "a.ipynb",
        _cell("a", "print('\\x1b[2J')  # 漢字漢字漢字漢字漢字漢字"),
        _cell("b", "# *hi*", "markdown"),
    )
    async with screen(ui_home, notebook=str(path), size=(20, 8)) as seen:
        await seen.until("print")
        await seen.pilot.press("enter")
        await seen.until(lambda: _book(seen)._cells.editor.display)
        await seen.pilot.resize_terminal(40, 10)
        await seen.type("x = 1\n" * 30)
        await seen.pilot.press("escape", "down", "up", "x", "pagedown", "pageup")
        await seen.pilot.resize_terminal(5, 3)
        await seen.pilot.press("down", "up")
        await seen.pilot.resize_terminal(100, 30)
        await seen.until("not saved")


async def test_a_plot_is_seen(ui_home: Path, ipython_python: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PI_SET__python__interpreter", ipython_python)
    code = "%matplotlib inline\nimport matplotlib.pyplot as plt\nplt.plot([1, 3, 2]);"
    path = _notebook(ui_home / "a.ipynb", _cell("a", code))
    async with screen(ui_home, notebook=str(path), size=(80, 40)) as seen:
        await seen.until("plt.plot")
        await seen.pilot.press("r")
        await seen.until("▀▀▀▀")
    assert any("image/png" in output.get("data", {}) for output in _cells(path)[0]["outputs"])


async def test_a_file_that_cannot_be_written_is_told_and_the_draft_stays(ui_home: Path) -> None:
    path = _notebook(ui_home / "a.ipynb", _cell("a", "mine"))
    before = path.read_bytes()
    async with screen(ui_home, notebook=str(path)) as seen:
        await seen.until("mine")
        await seen.pilot.press("enter")
        await seen.until("edit: Esc")
        await seen.type("still ")
        await seen.pilot.press("escape")
        path.write_bytes(b"{")
        await seen.until("Invalid JSON")
        _book(seen)._say("")
        await seen.pilot.press("ctrl+s")
        await seen.until("Invalid JSON")
        await seen.until("still mine")
        path.write_bytes(before)
        await seen.pilot.press("ctrl+s")
        await seen.until("Saved 1 cell")
    assert _source(_cells(path)[0]) == "still mine"


async def test_a_run_goes_on_when_the_person_leaves_the_notebook(ui_home: Path) -> None:
    wait = "import os, time\nwhile not os.path.exists('go'): time.sleep(0.01)\nprint('gone on')"
    path = _notebook(ui_home / "a.ipynb", _cell("a", wait))
    async with screen(ui_home, notebook=str(path)) as seen:
        await seen.until("gone on")
        await seen.pilot.press("r")
        await seen.until(lambda: "running" in {mark.status for mark in _book(seen)._cells.running.values()})
        await seen.pilot.press("q")
        await seen.until(lambda: not isinstance(seen.app.screen, NotebookScreen))
        (ui_home / "go").touch()
        await seen.until(lambda: _cells(path)[0]["outputs"])
        assert "".join(_cells(path)[0]["outputs"][0]["text"]) == "gone on\n"


async def test_quitting_asks_about_a_notebook_that_runs_though_its_screen_was_left(ui_home: Path) -> None:
    path = _notebook(ui_home / "a.ipynb", _cell("a", "import time\nprint('here')\ntime.sleep(600)"))
    async with screen(ui_home, notebook=str(path)) as seen:
        await seen.until("time.sleep")
        await seen.pilot.press("r")
        await seen.until(lambda: _cells(path)[0]["outputs"])
        await seen.pilot.press("q")
        await seen.until(lambda: not isinstance(seen.app.screen, NotebookScreen))
        await seen.pilot.press("ctrl+q")
        await seen.until("has not ended, and would be interrupted")
        await seen.pilot.press("n")
        await seen.until("· running")
        await seen.pilot.press("ctrl+c")
        await seen.until(lambda: not seen.app.desk.unfinished)


async def test_a_cell_that_others_delete_while_a_run_saves_is_not_run_nor_another_in_its_place(
    ui_home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = _notebook(ui_home / "a.ipynb", _cell("a", "first"), _cell("b", "second"))
    others = NotebookFile(path, str(path))
    async with screen(ui_home, notebook=str(path)) as seen:
        await seen.until("cell 0 of 0-1")
        await _edit(seen, "my ")
        await _end_edit(seen)
        await seen.pilot.press("down")
        await seen.until("cell 1 of 0-1")
        book = _book(seen).book
        apply = book.apply

        def apply_late(change: Change) -> State:
            others.change(lambda document: document.without(1))
            return apply(change)

        monkeypatch.setattr(book, "apply", apply_late)
        await seen.pilot.press("U")
        await seen.until("nothing was run")
        assert _book(seen)._run is None
    assert [_source(cell) for cell in _cells(path)] == ["my first"]


async def test_a_run_that_is_asked_for_twice_while_the_cell_is_saved_is_one_run(ui_home: Path) -> None:
    path = _notebook(ui_home / "a.ipynb", _cell("a", "0"))
    async with screen(ui_home, notebook=str(path)) as seen:
        await seen.until("cell 0")
        await seen.pilot.press("enter")
        await seen.until("edit: Esc")
        await seen.type("n = globals().get('n', 0) + 1; print('runs:', n) #")
        book = _book(seen)
        book.action_run()
        book.action_run()
        await seen.until(lambda: _cells(path)[0]["outputs"] and book._run is None and not seen.app.desk.unfinished)
        await seen.pilot.press("f5")
        await seen.until("runs: 2")
