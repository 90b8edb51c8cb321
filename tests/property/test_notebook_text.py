"""The text of a notebook goes out and comes back without a trace, and a change in it changes one cell."""

from typing import Any

from hypothesis import assume, example, given
from hypothesis import strategies as st

from pisces.notebooks.cell_view import view, with_text
from pisces.notebooks.celltext import from_text, showable, to_text
from pisces.notebooks.document import Document
from pisces.notebooks.source_value import text_of
from tests.property.notebook_layouts import SOURCES, TYPES, decoded, files, whole

PATH = "a.ipynb"


@given(cells=st.lists(st.tuples(TYPES, SOURCES | st.text(max_size=30)), max_size=5))
@example(cells=[("code", ""), ("raw", "\n"), ("code", "\r"), ("markdown", "\n\n")])
def test_cells_come_back_from_their_text(cells: list[tuple[Any, str]]) -> None:
    text = to_text(cells)
    text.encode("utf-8")
    found = from_text(text, PATH)
    assert [(cell.cell_type, cell.source) for cell in found] == [(each, showable(source)) for each, source in cells]
    assert [cell.index for cell in found] == list(range(len(cells)))
    assert all(text.split("\n")[cell.line - 1].startswith("# %% [") for cell in found)


@given(data=files())
def test_a_text_that_was_not_changed_gives_the_same_file(data: bytes) -> None:
    change = with_text(data, view(data, PATH), PATH)
    assert b"".join(change.pieces) == data
    assert change.notes == ["Nothing changed."]


@given(data=files())
def test_a_text_whose_line_ends_became_crlf_gives_the_same_file(data: bytes) -> None:
    text = view(data, PATH).replace("\r\n", "\n").replace("\n", "\r\n")
    assert b"".join(with_text(data, text, PATH).pieces) == data


@given(data=files(), pick=st.integers(min_value=0), cell_type=TYPES, source=SOURCES)
def test_a_changed_cell_changes_its_own_bytes_only(data: bytes, pick: int, cell_type: Any, source: str) -> None:
    before = Document.parse(data, PATH)
    assume(before.cells)
    index = pick % len(before.cells)
    wanted = [(cell.cell_type, cell.source) for cell in before.cells]
    wanted[index] = (cell_type, source)
    after = Document.parse(b"".join(with_text(data, to_text(wanted), PATH).pieces), PATH)
    old, new = [bytes(piece) for piece in before.pieces], [bytes(piece) for piece in after.pieces]
    assert [piece for at, piece in enumerate(new) if at != 2 + 2 * index] == [
        piece for at, piece in enumerate(old) if at != 2 + 2 * index
    ]
    assert after.cells[index].cell_type == cell_type
    assert showable(after.cells[index].source) == showable(source)


@given(data=files(), pick=st.integers(min_value=0), where=st.integers(min_value=0), added=SOURCES)
def test_what_a_text_cannot_show_stays_in_a_cell_that_changed(data: bytes, pick: int, where: int, added: str) -> None:
    before = Document.parse(data, PATH)
    assume(before.cells)
    index = pick % len(before.cells)
    source = before.cells[index].source
    assume(source == whole(source))
    at = where % (len(source) + 1)
    wanted = [(cell.cell_type, showable(cell.source)) for cell in before.cells]
    wanted[index] = (wanted[index][0], showable(source[:at]) + showable(added) + showable(source[at:]))
    found = Document.parse(b"".join(with_text(data, to_text(wanted), PATH).pieces), PATH).cells[index].source
    assert showable(found) == wanted[index][1]
    halves = [each for each in source if "\ud800" <= each <= "\udfff"]
    assert [each for each in found if "\ud800" <= each <= "\udfff"] == halves


@given(data=files(), picks=st.lists(st.tuples(st.none() | st.integers(0, 5), TYPES, SOURCES), max_size=6))
def test_any_text_gives_the_cells_that_it_says(data: bytes, picks: list[tuple[int | None, Any, str]]) -> None:
    before = decoded(data)
    text = "".join(
        to_text([(cell_type, source)]).replace(" cell:0\n", "\n" if index is None else f" cell:{index}\n", 1)
        for index, cell_type, source in picks
    )
    change = with_text(data, text, PATH)
    after = decoded(b"".join(change.pieces))
    assert {**after, "cells": None} == {**before, "cells": None}
    kept = {}
    for number, (index, cell_type, source) in enumerate(picks):
        cell = after["cells"][number]
        assert cell["cell_type"] == cell_type
        assert showable(whole(text_of(cell["source"]))) == showable(source)
        assert ("outputs" in cell, "execution_count" in cell) == ((cell_type == "code"),) * 2
        if index is not None and index < len(before["cells"]) and index not in kept:
            kept[index] = number
            stays = {"id", "metadata", "x", "zz", "é", "A"} | (
                {"outputs", "execution_count"} if cell_type == "code" else set()
            )
            for key in stays & before["cells"][index].keys():
                assert cell[key] == before["cells"][index][key]
        else:
            assert number in change.added
            assert cell["metadata"] == {}
    assert len(after["cells"]) == change.total_cells == len(picks)
    assert change.removed == len(before["cells"]) - len(kept)
