"""Cells are meant by their index, which counts from 0, or by their id."""

from pathlib import Path

import pytest

from pisces.errors import NotebookError
from pisces.notebooks.addressing import place_for_new, place_of, places_of
from pisces.notebooks.cell import Cell
from pisces.notebooks.document import Document
from pisces.notebooks.style import Style
from tests.fakes.notebooks import code, written


@pytest.fixture
def cells(tmp_path: Path) -> tuple[Cell, ...]:
    path = written(tmp_path / "a.ipynb", code("a", "x"), code("b", "same"), code("c", "same"))
    return Document.parse(path.read_bytes(), "p").cells


def test_an_index_is_its_place(cells: tuple[Cell, ...]) -> None:
    assert [place_of(cells, index, None, "p") for index in range(3)] == [0, 1, 2]


@pytest.mark.parametrize("index", [-1, 3, 10**20])
def test_an_index_beyond_the_cells_is_refused_with_those_there_are(cells: tuple[Cell, ...], index: int) -> None:
    with pytest.raises(NotebookError, match=rf"^Cell index {index} out of range \(0-2\) in p$"):
        place_of(cells, index, None, "p")
    with pytest.raises(NotebookError, match=r"\(it has no cells\) in p$"):
        place_of((), index, None, "p")


def test_an_id_is_found_and_must_be_one_cells_own(cells: tuple[Cell, ...]) -> None:
    assert place_of(cells, None, "x", "p") == 0
    with pytest.raises(NotebookError, match=r"^No cell has the id 'X' in p$"):
        place_of(cells, None, "X", "p")
    with pytest.raises(NotebookError, match=r"^2 cells have the id 'same' \(cells 1, 2\) in p$"):
        place_of(cells, None, "same", "p")


def test_a_new_cell_goes_where_it_is_asked_for_or_behind_another_or_to_the_end(cells: tuple[Cell, ...]) -> None:
    assert [place_for_new(cells, index, None, "p") for index in (0, 3, None)] == [0, 3, 3]
    assert place_for_new(cells, None, "x", "p") == 1
    assert place_for_new((), None, None, "p") == 0
    for index in (-1, 4):
        with pytest.raises(NotebookError, match=rf"^Cell index {index} out of range for insert \(0-3\) in p$"):
            place_for_new(cells, index, None, "p")


def test_a_range_has_both_its_ends(cells: tuple[Cell, ...]) -> None:
    assert places_of(cells, 1, None, "p") == range(1, 2)
    assert places_of(cells, 0, 2, "p") == range(3)
    assert places_of(cells, 1, 1, "p") == range(1, 2)
    with pytest.raises(NotebookError, match=r"^The last cell, 0, comes before the first, 1: p$"):
        places_of(cells, 1, 0, "p")
    with pytest.raises(NotebookError, match=r"^Cell index 3 out of range"):
        places_of(cells, 1, 3, "p")


def test_a_cell_is_found_by_its_id_beside_one_that_is_none() -> None:
    style = Style()
    cells = [Cell(b"5", style), Cell(b'{"id": "a", "cell_type": "code", "source": ""}', style)]
    assert place_of(cells, None, "a", "p") == 1
