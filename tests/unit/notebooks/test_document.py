"""A notebook's file: whatever its layout, a change leaves all other bytes, and what is broken is told."""

import json
import re
from typing import Any

import pytest

from pisces.errors import NotebookError
from pisces.notebooks.cell_view import view, with_text
from pisces.notebooks.document import EMPTY, Document

PATH = "a.ipynb"
CELLS: list[dict[str, Any]] = [
    {"cell_type": "markdown", "id": "one", "metadata": {}, "source": ["# Título\n", "text"]},
    {"cell_type": "code", "execution_count": 1, "id": "two", "metadata": {"k": 1}, "outputs": [], "source": ["é = 1"]},
    {"cell_type": "raw", "id": "three", "metadata": {}, "source": []},
]
NOTEBOOK: dict[str, Any] = {"cells": CELLS, "metadata": {"ü": "ü"}, "nbformat": 4, "nbformat_minor": 5}


def written(notebook: dict[str, Any] = NOTEBOOK, **options: Any) -> bytes:
    return json.dumps(notebook, **{"indent": 1, "ensure_ascii": False, **options}).encode()


LAYOUTS = {
    "jupyter": written() + b"\n",
    "no final newline": written(),
    "byte order mark": b"\xef\xbb\xbf" + written() + b"\n",
    "crlf": (written() + b"\n").replace(b"\n", b"\r\n"),
    "four spaces": written(indent=4),
    "tabs": written(indent="\t"),
    "no indent": written(indent=0),
    "one line": written(indent=None),
    "compact": written(indent=None, separators=(",", ":")),
    "escaped": written(ensure_ascii=True),
    "cells last": written({**{key: NOTEBOOK[key] for key in reversed(NOTEBOOK)}, "zz": 1}),
    "string sources": written({**NOTEBOOK, "cells": [{**cell, "source": "".join(cell["source"])} for cell in CELLS]}),
    "nan": written({**NOTEBOOK, "metadata": {"ü": float("nan")}}),
    "half a pair": written({**NOTEBOOK, "cells": [*CELLS, {**CELLS[2], "source": "\ud83d"}]}, ensure_ascii=True),
    "two lists of cells": b'{"cells": [1],' + written(indent=None)[1:],
    "odd gaps": b'{ "cells"\t:[  {"cell_type" : "raw", "source": "x"}\n\n,'
    b'{"cell_type":"code","source":["y"]} ,   {} ],"a":[ ]}',
}
in_every_layout = pytest.mark.parametrize("data", LAYOUTS.values(), ids=LAYOUTS)


def parse(data: bytes) -> Document:
    return Document.parse(data, PATH)


def decoded(data: bytes) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(data.decode("utf-8-sig"), parse_constant=str)
    return found


@in_every_layout
def test_what_was_not_changed_is_written_as_it_was_read(data: bytes) -> None:
    document = parse(data)
    assert document.to_bytes() == b"".join(document.pieces) == data
    assert [json.loads(bytes(cell.raw)) for cell in document.cells] == decoded(data)["cells"]


@in_every_layout
@pytest.mark.parametrize("index", [0, 1])
def test_an_edit_changes_the_value_of_its_cell_and_no_byte_outside(data: bytes, index: int) -> None:
    document = parse(data)
    old = bytes(document.cells[index].raw)
    start = len(b"".join(document.pieces[: 2 + 2 * index]))
    after = document.with_cell(index, document.cells[index].with_source("ä\nneu")).to_bytes()
    assert (after[:start], after[len(after) - (len(data) - start - len(old)) :]) == (
        data[:start],
        data[start + len(old) :],
    )
    assert parse(after).cells[index].source == "ä\nneu"
    assert parse(after).cells[index].source_is_list == document.cells[index].source_is_list


@in_every_layout
@pytest.mark.parametrize("index", [0, 1])
def test_an_edit_that_is_taken_back_gives_the_same_file(data: bytes, index: int) -> None:
    document = parse(data)
    after = parse(document.with_cell(index, document.cells[index].with_source("ä\nneu")).to_bytes())
    back = after.with_cell(index, after.cells[index].with_source(document.cells[index].source))
    assert back.to_bytes() == data


@in_every_layout
@pytest.mark.parametrize("index", [0, 1, 3])
def test_a_cell_that_is_added_and_taken_out_leaves_no_trace(data: bytes, index: int) -> None:
    after = parse(data).with_new(index, "code", "x = 1").to_bytes()
    cells = decoded(data)["cells"]
    assert decoded(after)["cells"] == [*cells[:index], decoded(after)["cells"][index], *cells[index:]]
    assert parse(after).without(index).to_bytes() == data


@in_every_layout
def test_a_cell_that_is_moved_and_moved_back_leaves_no_trace(data: bytes) -> None:
    moved = parse(data).with_moved(0, 2)
    cells = decoded(data)["cells"]
    assert decoded(moved.to_bytes())["cells"] == [cells[1], cells[2], cells[0], *cells[3:]]
    assert parse(moved.to_bytes()).with_moved(2, 0).to_bytes() == data


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"indent": 4},
        {"indent": "\t"},
        {"indent": 0},
        {"indent": None},
        {"indent": None, "separators": (",", ":")},
        {"ensure_ascii": True},
    ],
    ids=repr,
)
@pytest.mark.parametrize(("count", "index"), [(0, 0), (1, 0), (1, 1), (3, 0), (3, 3)])
def test_a_new_cell_looks_like_the_others(options: dict[str, Any], count: int, index: int) -> None:
    cells = CELLS[:count]
    document = parse(written({**NOTEBOOK, "cells": cells}, **options)).with_new(index, "raw", "é\nb")
    made: Any = {"cell_type": "raw", "id": document.cells[index].id, "metadata": {}, "source": ["é\n", "b"]}
    assert document.to_bytes() == written({**NOTEBOOK, "cells": [*cells[:index], made, *cells[index:]]}, **options)


def test_a_new_cell_has_the_line_ends_of_the_file() -> None:
    added = parse(LAYOUTS["crlf"]).with_new(1, "raw", "é\nb").to_bytes()
    assert added.count(b"\n") == added.count(b"\r\n") > LAYOUTS["crlf"].count(b"\n")


def test_a_new_cell_has_its_source_as_its_neighbours_have_theirs() -> None:
    assert not parse(LAYOUTS["string sources"]).with_new(1, "raw", "é\nb").cells[1].source_is_list
    assert parse(LAYOUTS["jupyter"]).with_new(1, "raw", "é\nb").cells[1].source_is_list


def test_the_last_cell_that_goes_leaves_an_empty_list() -> None:
    one = written({**NOTEBOOK, "cells": CELLS[:1]})
    assert parse(one).without(0).to_bytes() == written({**NOTEBOOK, "cells": []})


@pytest.mark.parametrize("indent", [None, 1, 4])
def test_the_first_cell_of_an_empty_list_looks_as_jupyter_would_have_it(indent: int | None) -> None:
    empty = written({**NOTEBOOK, "cells": []}, indent=indent)
    added = parse(empty).with_new(0, "raw", "x")
    assert added.to_bytes() == written(decoded(added.to_bytes()), indent=indent)
    assert added.without(0).to_bytes() == empty


def test_all_cells_can_be_replaced() -> None:
    document = parse(LAYOUTS["jupyter"])
    for count in (0, 1, 3, 5):
        cells = [document.cells[number % 3] for number in range(count)]
        assert (
            document.with_cells(cells).to_bytes()
            == written({**NOTEBOOK, "cells": [CELLS[n % 3] for n in range(count)]}) + b"\n"
        )


def test_a_new_notebook_is_as_jupyter_writes_it() -> None:
    made = parse(EMPTY)
    assert made.to_bytes() == json.dumps(json.loads(EMPTY), indent=1).encode() + b"\n"
    assert (made.cells, made.has_ids, made.metadata) == ((), True, {})


@pytest.mark.parametrize(("minor", "ids"), [(0, False), (4, False), (5, True), (6, True)])
def test_cells_have_ids_from_nbformat_4_5_on(minor: int, ids: bool) -> None:
    document = parse(written({**NOTEBOOK, "nbformat_minor": minor})).with_new(0, "code", "x")
    assert document.has_ids is ids
    assert ("id" in json.loads(bytes(document.cells[0].raw))) is ids


class Made:
    """Stands in for a random number, since the same one twice cannot be had otherwise."""

    def __init__(self, text: str) -> None:
        self.hex = text * 8


def test_ids_are_of_their_own_also_among_those_added_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    source = iter("caab")
    monkeypatch.setattr("pisces.notebooks.document.uuid4", lambda: Made(next(source)))
    document = parse(written({**NOTEBOOK, "metadata": {"mentions": "cccccccc"}}))
    for _ in range(2):
        document = document.with_new(0, "raw", "")
    assert [cell.id for cell in document.cells] == ["b" * 8, "a" * 8, "one", "two", "three"]


def test_many_ids_are_of_their_own_too(monkeypatch: pytest.MonkeyPatch) -> None:
    source = iter("caab")
    monkeypatch.setattr("pisces.notebooks.document.uuid4", lambda: Made(next(source)))
    ids = parse(written({**NOTEBOOK, "cells": [{**CELLS[0], "id": "cccccccc"}]})).new_ids()
    assert [next(ids), next(ids)] == ["a" * 8, "b" * 8]


def test_an_id_that_is_given_is_taken_where_cells_have_ids() -> None:
    assert parse(written()).with_new(1, "raw", "", cell_id="mine").cells[1].id == "mine"
    older = parse(written({**NOTEBOOK, "nbformat_minor": 4}))
    assert older.with_new(1, "raw", "", cell_id="mine").cells[1].id is None


def test_ids_are_valid() -> None:
    assert re.fullmatch(r"[a-zA-Z0-9_-]{1,64}", parse(EMPTY).new_id())


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (
            b'{"nbformat": 3, "worksheets": []}',
            "The notebook is in nbformat 3, which is too old to be changed: a.ipynb",
        ),
        (
            b'{"nbformat": 5, "cells": []}',
            "The notebook is in nbformat 5, which is newer than what is known here (4): a.ipynb",
        ),
        (b'{"nbformat": 4}', "Invalid notebook structure (missing cells array): a.ipynb"),
        (b'{"nbformat": 4, "cells": {}}', "Invalid notebook structure (missing cells array): a.ipynb"),
        (b"[]", "Invalid notebook structure (missing cells array): a.ipynb"),
        (b'{"cells": [],}', "Invalid JSON in notebook: a.ipynb"),
    ],
)
def test_a_file_that_cannot_be_changed_is_refused(data: bytes, message: str) -> None:
    with pytest.raises(NotebookError) as caught:
        parse(data)
    assert str(caught.value) == message


SMALL = written({**NOTEBOOK, "cells": [CELLS[1]], "metadata": {"x": [1.5, None, "\\"]}})
BAD_BYTES = [0, 10, 31, 32, *b'"\\,:[]{}x-0', 127, 128, 237, 255]
TELLS = re.compile(r"Invalid JSON in notebook: |Invalid notebook structure ")


@pytest.mark.parametrize("data", [SMALL, SMALL.replace(b"1.5", b"NaN")], ids=["strict", "as python has it"])
def test_a_file_that_was_cut_at_any_byte_is_refused(data: bytes) -> None:
    for length in range(len(data)):
        with pytest.raises(NotebookError, match=r"^Invalid JSON in notebook: a.ipynb$"):
            parse(data[:length])


@pytest.mark.parametrize("data", [SMALL, SMALL.replace(b"1.5", b"NaN")], ids=["strict", "as python has it"])
def test_a_bad_byte_anywhere_is_told_or_does_no_harm(data: bytes) -> None:
    outcomes = set()
    for at in range(len(data)):
        for bad in BAD_BYTES:
            outcomes.add(outcome(data[:at] + bytes([bad]) + data[at + 1 :]))
    assert outcomes == {"fine", "json", "structure"}


def outcome(data: bytes) -> str:
    """What becomes of a file that may be broken. Anything but a refusal that agrees with Python's decoder fails."""
    try:
        plain = json.loads(data.decode("utf-8"))
    except ValueError:
        plain = None
    try:
        text, refusal = view(data, PATH), ""
    except NotebookError as error:
        text, refusal = "", str(error)
    if refusal:
        assert TELLS.match(refusal), refusal
        assert refusal.startswith("Invalid JSON") == (plain is None), data
        return "json" if plain is None else "structure"
    assert plain is not None, data
    assert parse(data).to_bytes() == data
    assert [json.loads(bytes(cell.raw)) for cell in parse(data).cells] == json.loads(data)["cells"] or b"NaN" in data
    assert b"".join(with_text(data, text, PATH).pieces) == data
    return "fine"
