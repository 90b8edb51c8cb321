"""What is added to a notebook looks like what is there, also where the top level is laid out in another way."""

import json

import pytest

from pisces.notebooks.document import Document

TWO_INDENTS = b"""{
    "cells": [
     {
      "cell_type": "code",
      "execution_count": null,
      "metadata": {},
      "outputs": [],
      "source": []
     }
    ],
    "metadata": {},
    "nbformat": 4,
    "nbformat_minor": 4
}
"""
"""As some editors save it: four spaces at the top, one in the cells."""


def parsed(data: bytes) -> Document:
    return Document.parse(data, "a.ipynb")


def test_a_source_is_indented_as_its_cell_is() -> None:
    document = parsed(TWO_INDENTS)
    edited = document.with_cell(0, document.cells[0].with_source("a\nb")).to_bytes()
    assert edited == TWO_INDENTS.replace(b"[]\n     }", b'[\n       "a\\n",\n       "b"\n      ]\n     }')


def test_a_new_cell_is_indented_as_the_others_are() -> None:
    document = parsed(TWO_INDENTS).with_new(1, "code", "")
    assert bytes(document.cells[1].raw) == bytes(document.cells[0].raw)


def test_a_cell_in_place_of_the_only_one_is_where_that_was() -> None:
    assert parsed(TWO_INDENTS).without(0).with_new(0, "code", "").to_bytes() == TWO_INDENTS


@pytest.mark.parametrize(
    "cells",
    ["[{}]", "[\n  {\n  }\n ]", "[\n  {} ]", "[\n    {\n  }\n ]"],
    ids=["empty", "empty over lines", "empty in a line", "outdented"],
)
def test_a_first_cell_that_tells_nothing_leaves_the_layout_of_the_top_level(cells: str) -> None:
    document = parsed(b'{\n "cells": %s,\n "nbformat": 4\n}' % cells.encode()).with_new(0, "raw", "a")
    assert b'{\n   "cell_type": "raw",\n' in document.to_bytes()
    assert json.loads(document.to_bytes())["cells"][0]["source"] == ["a"]


@pytest.mark.parametrize("cell", ["1", '""', "[]", "null"])
def test_a_first_cell_that_is_no_object_can_still_be_taken_out(cell: str) -> None:
    document = parsed(b'{\n "cells": [\n  %s\n ],\n "nbformat": 4\n}' % cell.encode())
    assert json.loads(document.without(0).to_bytes())["cells"] == []
