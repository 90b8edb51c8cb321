"""Any sequence of edits of any notebook does what a plain list of cells does, and touches nothing else."""

from collections.abc import Callable
from typing import Any

from hypothesis import example, given
from hypothesis import strategies as st

from pisces.notebooks.document import Document
from pisces.notebooks.source_value import text_of
from tests.property.notebook_layouts import SOURCES, TYPES, decoded, files, tidy_files, whole

PATH = "a.ipynb"
Model = list[dict[str, Any]]
Step = tuple[str, int, int, Any, str]
STEPS = st.lists(
    st.tuples(
        st.sampled_from(["edit", "insert", "delete", "move", "clear", "retype"]),
        st.integers(0, 5),
        st.integers(0, 5),
        TYPES,
        SOURCES,
    ),
    max_size=6,
)
NEVER_RUN: dict[str, Any] = {"execution_count": None, "outputs": []}


@given(data=files(), steps=STEPS)
@example(
    data=b'{"cells": [ {}\n,{"cell_type": "raw"}]}', steps=[("retype", 1, 0, "code", ""), ("clear", 1, 0, "raw", "")]
)
def test_any_sequence_of_edits_does_what_a_list_does(data: bytes, steps: list[Step]) -> None:
    document, expected = Document.parse(data, PATH), decoded(data)
    model: Model = expected["cells"]
    for step in steps:
        document = APPLY[step[0]](document, model, step)
        expected["cells"] = model
        written = document.to_bytes()
        assert plain(decoded(written)) == plain(expected)
        assert Document.parse(written, PATH).to_bytes() == written


@given(data=files(), steps=STEPS)
def test_an_edit_leaves_every_byte_outside_its_cell(data: bytes, steps: list[Step]) -> None:
    before = Document.parse(data, PATH)
    for kind, index, *rest in steps:
        if not before.cells or kind not in ("edit", "clear", "retype"):
            continue
        place = index % len(before.cells)
        after = APPLY[kind](before, [{} for _ in before.cells], (kind, index, *rest))
        head, tail = around(before, place)
        written = after.to_bytes()
        assert written.startswith(head)
        assert written[len(head) :].endswith(tail)
        assert written[len(head) : len(written) - len(tail)] == bytes(after.cells[place].raw)


@given(data=tidy_files(), pick=st.integers(0, 5), source=SOURCES)
def test_an_edit_that_is_taken_back_gives_the_same_file(data: bytes, pick: int, source: str) -> None:
    document = Document.parse(data, PATH)
    if not document.cells:
        return
    place = pick % len(document.cells)
    before = document.cells[place].source
    changed = document.with_cell(place, document.cells[place].with_source(source)).to_bytes()
    assert whole(Document.parse(changed, PATH).cells[place].source) == whole(source)
    again = Document.parse(changed, PATH)
    assert again.with_cell(place, again.cells[place].with_source(before)).to_bytes() == data


@given(data=files(), pick=st.integers(0, 5), cell_type=TYPES, source=SOURCES)
def test_a_cell_that_is_added_and_taken_out_leaves_no_trace(
    data: bytes, pick: int, cell_type: Any, source: str
) -> None:
    before = Document.parse(data, PATH)
    place = pick % (len(before.cells) + 1)
    after = before.with_new(place, cell_type, source)
    if before.cells:
        assert after.without(place).to_bytes() == data
    else:
        assert plain(decoded(after.without(place).to_bytes())) == plain(decoded(data))


@given(data=files(), pick=st.integers(0, 5))
def test_a_cell_that_is_taken_out_goes_with_its_separator_only(data: bytes, pick: int) -> None:
    before = Document.parse(data, PATH)
    if len(before.cells) < 2:
        return
    place = pick % len(before.cells)
    pieces = [bytes(piece) for piece in before.pieces]
    gone = {2 + 2 * place, 1 + 2 * place if place else 3}
    assert before.without(place).to_bytes() == b"".join(piece for at, piece in enumerate(pieces) if at not in gone)


def around(document: Document, place: int) -> tuple[bytes, bytes]:
    pieces = [bytes(piece) for piece in document.pieces]
    return b"".join(pieces[: 2 + 2 * place]), b"".join(pieces[3 + 2 * place :])


def plain(notebook: dict[str, Any]) -> dict[str, Any]:
    return {**notebook, "cells": [plain_cell(cell) for cell in notebook["cells"]]}


def plain_cell(cell: dict[str, Any]) -> dict[str, Any]:
    """A cell whose source is in one piece, however the file has it; a missing one is an empty one."""
    return {**cell, "source": whole(text_of(cell.get("source", "")))}


def edit(document: Document, model: Model, step: Step) -> Document:
    if not model:
        return document
    place = step[1] % len(model)
    was_list = document.cells[place].source_is_list
    model[place]["source"] = step[4]
    changed = document.cells[place].with_source(step[4])
    assert changed.source_is_list == was_list
    return document.with_cell(place, changed)


def insert(document: Document, model: Model, step: Step) -> Document:
    place = step[1] % (len(model) + 1)
    after = document.with_new(place, step[3], step[4])
    cell = {"cell_type": step[3], "metadata": {}, "source": step[4]}
    if step[3] == "code":
        cell |= NEVER_RUN
    if document.has_ids:
        cell["id"] = after.cells[place].id
        assert cell["id"] not in [each.get("id") for each in model]
    assert (after.cells[place].id is not None) == document.has_ids
    model.insert(place, cell)
    return after


def delete(document: Document, model: Model, step: Step) -> Document:
    if not model:
        return document
    del model[step[1] % len(model)]
    return document.without(step[1] % len(document.cells))


def move(document: Document, model: Model, step: Step) -> Document:
    if not model:
        return document
    source, target = step[1] % len(model), step[2] % len(model)
    model.insert(target, model.pop(source))
    return document.with_moved(source, target)


def clear(document: Document, model: Model, step: Step) -> Document:
    if not model:
        return document
    place = step[1] % len(model)
    if model[place].get("cell_type") == "code":
        model[place] |= NEVER_RUN
    return document.with_cell(place, document.cells[place].without_outputs())


def retype(document: Document, model: Model, step: Step) -> Document:
    if not model:
        return document
    place = step[1] % len(model)
    cell = model[place]
    if cell.get("cell_type") != step[3]:
        cell["cell_type"] = step[3]
        kept = {key: cell.get(key, value) for key, value in NEVER_RUN.items()} if step[3] == "code" else {}
        for key in (*NEVER_RUN, *(("attachments",) if step[3] == "code" else ())):
            cell.pop(key, None)
        cell |= kept
    return document.with_cell(place, document.cells[place].with_type(step[3]))


APPLY: dict[str, Callable[[Document, Model, Step], Document]] = {
    "edit": edit, "insert": insert, "delete": delete, "move": move, "clear": clear, "retype": retype
}  # fmt: skip
