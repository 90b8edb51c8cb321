"""Notebooks of all formats can be read; those that cannot be changed say why."""

import json
from typing import Any

import msgspec
import pytest

from pisces.errors import NotebookError
from pisces.notebooks.readable import cell_info, old_cells, readable

V3 = {
    "nbformat": 3,
    "nbformat_minor": 0,
    "metadata": {"name": "old"},
    "worksheets": [
        {
            "cells": [
                {"cell_type": "heading", "level": 2, "source": ["title"]},
                {"cell_type": "code", "input": "1\n2", "language": "python", "outputs": [], "prompt_number": 5},
            ]
        }
    ],
}
V4: dict[str, Any] = {
    "cells": [{"cell_type": "raw", "metadata": {}, "source": "x"}],
    "nbformat": 4,
    "nbformat_minor": 0,
}


@pytest.mark.parametrize("mark", [b"", b"\xef\xbb\xbf"], ids=["plain", "with a mark"])
def test_a_notebook_of_today_can_be_read_and_changed(mark: bytes) -> None:
    found = readable(mark + json.dumps(V4).encode(), "p")
    assert ([cell.source for cell in found.cells], found.read_only) == (["x"], "")
    assert old_cells(mark + json.dumps(V4).encode()) is None


@pytest.mark.parametrize("mark", [b"", b"\xef\xbb\xbf"], ids=["plain", "with a mark"])
def test_an_old_one_can_be_read_and_says_why_it_cannot_be_changed(mark: bytes) -> None:
    found = readable(mark + json.dumps(V3).encode(), "p")
    assert [(cell.cell_type, cell.source) for cell in found.cells] == [("markdown", "## title"), ("code", "1\n2")]
    assert (found.cells[1].execution_count, found.metadata) == (5, {"name": "old"})
    assert found.read_only.startswith("The notebook is in nbformat 3, which is too old to be changed: p\n")


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"", "Invalid JSON in notebook: p"),
        (b"{}", r"Invalid notebook structure \(missing cells array\): p"),
        (b"[1]", r"Invalid notebook structure \(missing cells array\): p"),
        (b'{"nbformat": 5, "cells": []}', "nbformat 5, which is newer"),
        (b"\xff\xfe", "Invalid JSON in notebook: p"),
        (b"[" * 100_000, "Invalid JSON in notebook: p"),
    ],
)
def test_what_is_no_notebook_is_told(data: bytes, message: str) -> None:
    with pytest.raises(NotebookError, match=message):
        readable(data, "p")


def test_of_what_no_notebook_can_have_programs_hear_only_that() -> None:
    found = readable(json.dumps({"cells": [5, V4["cells"][0]], "nbformat": 4}).encode(), "p")
    infos = [cell_info(index, cell, outputs=True) for index, cell in enumerate(found.cells)]
    assert msgspec.to_builtins(infos) == [
        {"cell_index": 0, "cell_type": "invalid"},
        {"cell_index": 1, "cell_type": "raw", "cell_source": "x"},
    ]
