"""A notebook that is worked on here and elsewhere: no draft is lost, and what others wrote is in sight."""

import json
import os
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pisces.errors import NotebookError
from pisces.notebooks.document import Document
from pisces.tui.notebook.book import Book, BookCell, State, source_of
from pisces.tui.notebook.changes import clearing, deletion, insertion, movement, retyping


def _bytes(*sources: str, ids: bool = True) -> bytes:
    cells: list[dict[str, Any]] = []
    for number, source in enumerate(sources):
        cell: dict[str, Any] = {
            "cell_type": "code",
            "execution_count": None,
            "metadata": {},
            "outputs": [],
            "source": source,
        }
        cells.append(cell | ({"id": f"id-{number}"} if ids else {}))
    minor = 5 if ids else 4
    return json.dumps({"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": minor}, indent=1).encode()


def _opened(path: Path, *sources: str, ids: bool = True) -> Book:
    path.write_bytes(_bytes(*sources, ids=ids))
    book = Book(os.fspath(path))
    book.take(book.read())
    return book


def _sources(book: Book) -> list[str]:
    return [source_of(cell.cell) for cell in book.cells if not cell.gone]


def test_a_draft_is_in_the_file_when_it_is_saved_and_only_then(tmp_path: Path) -> None:
    book = _opened(tmp_path / "a.ipynb", "one", "two")
    book.cells[1].write("two!")
    assert book.unsaved == [book.cells[1]]
    assert _sources(book) == ["one", "two"]
    book.take(book.apply(book.saving(book.unsaved)))
    assert _sources(book) == ["one", "two!"]
    assert not book.unsaved


def test_a_draft_that_is_as_the_file_is_none(tmp_path: Path) -> None:
    book = _opened(tmp_path / "a.ipynb", "one")
    book.cells[0].write("other")
    book.cells[0].write("one")
    assert not book.unsaved


@pytest.mark.parametrize("ids", [True, False])
def test_what_others_changed_is_never_overwritten_by_a_draft(tmp_path: Path, ids: bool) -> None:
    path = tmp_path / "a.ipynb"
    book = _opened(path, "one", "two", ids=ids)
    book.cells[0].write("mine")
    change = book.saving(book.unsaved)
    path.write_bytes(_bytes("theirs", "two", ids=ids))
    with pytest.raises(NotebookError, match="changed by somebody else"):
        book.apply(change)
    told = book.take(book.read())
    assert "mine" in [cell.draft for cell in book.cells]
    assert "theirs" in _sources(book)
    assert told


def test_a_conflict_ends_as_the_person_chooses(tmp_path: Path) -> None:
    for mine in (True, False):
        path = tmp_path / f"{mine}.ipynb"
        book = _opened(path, "one")
        cell = book.cells[0]
        cell.write("mine")
        path.write_bytes(_bytes("theirs"))
        book.take(book.read())
        assert cell.conflict
        book.settle(cell, mine=mine)
        assert not cell.conflict
        book.take(book.apply(book.saving(book.unsaved)))
        assert _sources(book) == ["mine" if mine else "theirs"]


@pytest.mark.parametrize("ids", [True, False])
def test_each_change_is_taken_back_to_the_byte(tmp_path: Path, ids: bool) -> None:
    path = tmp_path / "a.ipynb"
    book = _opened(path, "one", "two", "three", ids=ids)
    before = path.read_bytes()
    middle = book.cells[1]
    steps = [
        insertion(book, 1),
        insertion(book, 3),
        deletion(book, middle),
        deletion(book, book.cells[0]),
        movement(book, middle, 1),
        movement(book, middle, -1),
        retyping(book, middle, "markdown"),
        clearing(book, middle),
    ]
    for step in steps:
        assert step is not None
        book.take(book.apply(step.change))
        book.take(book.apply(step.back))
        assert path.read_bytes() == before, step.called
    assert movement(book, book.cells[0], -1) is None


def test_a_cell_that_no_notebook_can_have_is_shown_and_can_be_deleted(tmp_path: Path) -> None:
    path = tmp_path / "a.ipynb"
    path.write_text('{"cells": [17, {"cell_type": "code", "source": 5}], "metadata": {}, "nbformat": 4}', "utf-8")
    book = Book(os.fspath(path))
    book.take(book.read())
    assert [cell.kind for cell in book.cells] == ["invalid", "invalid"]
    book.take(book.apply(deletion(book, book.cells[0]).change))
    book.take(book.apply(deletion(book, book.cells[0]).change))
    assert json.loads(path.read_bytes())["cells"] == []


def test_a_cell_that_comes_back_is_the_one_that_the_draft_is_of(tmp_path: Path) -> None:
    path = tmp_path / "a.ipynb"
    book = _opened(path, "one", "two")
    cell = book.cells[0]
    cell.write("mine")
    both = path.read_bytes()
    book.take(book.apply(lambda document: document.without(0)))
    assert cell.gone
    path.write_bytes(both)
    book.take(book.read())
    assert book.cells[0] is cell
    assert not cell.gone
    assert len(book.cells) == 2


@pytest.mark.parametrize("ids", [True, False])
def test_a_cell_that_others_deleted_is_the_same_one_when_it_is_saved(tmp_path: Path, ids: bool) -> None:
    book = _opened(tmp_path / "a.ipynb", "one", "two", ids=ids)
    cell = book.cells[0]
    cell.write("mine")
    book.take(book.apply(lambda document: document.without(0)))
    assert cell.gone
    state = book.apply(book.saving([cell]))
    cell.write("mine, and more")
    book.saved(cell, "mine")
    book.take(state)
    assert _sources(book) == ["mine", "two"]
    assert book.cells[0] is cell
    assert (cell.draft, cell.conflict) == ("mine, and more", False)


@pytest.mark.parametrize("ids", [True, False])
def test_a_cell_that_is_deleted_here_leaves_its_draft_to_no_other_cell(tmp_path: Path, ids: bool) -> None:
    book = _opened(tmp_path / "a.ipynb", "same", "same", ids=ids)
    cell, other = book.cells
    cell.write("mine")
    state = book.apply(deletion(book, cell).change)
    book.drop(cell)
    book.take(state)
    assert book.cells == [other]
    assert not book.unsaved


@pytest.mark.parametrize("ids", [True, False])
@pytest.mark.parametrize("place", [0, 1, 2])
def test_a_deleted_cell_comes_back_with_its_draft_and_the_others_keep_theirs(
    tmp_path: Path, ids: bool, place: int
) -> None:
    book = _opened(tmp_path / "a.ipynb", "same", "same", "same", ids=ids)
    before = list(book.cells)
    for number, cell in enumerate(before):
        cell.write(f"draft {number}")
    step = deletion(book, before[place])
    state = book.apply(step.change)
    book.drop(before[place])
    book.take(state)
    state = book.apply(step.back)
    book.put_back(before[place], step.place)
    book.take(state)
    assert book.cells == before
    assert [cell.draft for cell in book.cells] == ["draft 0", "draft 1", "draft 2"]


def _document(recipe: list[tuple[int, str]]) -> Document:
    cells: list[dict[str, Any]] = [
        {
            "cell_type": "code",
            "execution_count": None,
            "id": f"i{number}",
            "metadata": {},
            "outputs": [],
            "source": text,
        }
        for number, text in dict(recipe).items()
    ]
    return Document.parse(
        json.dumps({"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 5}).encode(), "a"
    )


_recipes = st.lists(st.tuples(st.integers(0, 6), st.sampled_from(["", "a", "b", "c"])), max_size=7)


@given(_recipes, st.lists(_recipes, max_size=4), st.lists(st.integers(0, 6), max_size=4))
def test_whatever_others_do_to_the_file_every_draft_stays_and_every_cell_is_there(
    first: list[tuple[int, str]], later: list[list[tuple[int, str]]], edited: list[int]
) -> None:
    book = Book("a.ipynb")
    book.take(State(_document(first).cells, {}, None))
    drafted: list[BookCell] = []
    for number in edited:
        if number < len(book.cells):
            book.cells[number].write(f"draft {number}")
            drafted.append(book.cells[number])
    for recipe in later:
        document = _document(recipe)
        book.take(State(document.cells, {}, None))
        assert [cell.cell for cell in book.cells if not cell.gone] == list(document.cells)
        for cell in drafted:
            assert cell in book.cells
            assert cell.draft is not None
        assert all(cell.draft is not None for cell in book.cells if cell.gone)
