"""Where the cells of a file are, and what is no notebook."""

import json

import pytest

from pisces.errors import NotebookError
from pisces.notebooks.outline import Outline, outline_of

PATH = "a.ipynb"


def cells_of(data: bytes) -> list[bytes] | None:
    outline = outline_of(data, PATH)
    return None if outline.cells is None else [data[span.start : span.end] for span in outline.cells]


def number_of_nbformat(outline: Outline) -> int:
    return outline.number("nbformat", 7)


@pytest.mark.parametrize(
    ("data", "cells"),
    [
        (b'{"cells":[]}', []),
        (b'{"cells": [ \n ]}', []),
        (b'{"cells":[{}]}', [b"{}"]),
        (b' {"a": "]}", "cells" : [ {"x": [1]} ,\n{} ] , "b": {}} ', [b'{"x": [1]}', b"{}"]),
        (b'\xef\xbb\xbf{"cells":[{"a":NaN}]}', [b'{"a":NaN}']),
        (b'{"cells":[{"a":"\\ud83d"}], "b": [Infinity]}', [b'{"a":"\\ud83d"}']),
        (b'{"c\\u0065lls":[{}]}', [b"{}"]),
        (b'{"metadata":{"cells":[1,2]},"cells":[{}]}', [b"{}"]),
    ],
)
def test_the_cells_are_found_wherever_they_stand(data: bytes, cells: list[bytes]) -> None:
    assert cells_of(data) == cells


@pytest.mark.parametrize(
    ("data", "cells"),
    [
        (b'{"cells":[{"a":1}],"cells":[{"b":22},{}]}', [b'{"b":22}', b"{}"]),
        (b'{"cells":[{"a":1},{}],"cells":[]}', []),
        (b'{"cells":1,"cells":[{}]}', [b"{}"]),
        (b'{"cells":[{}],"cells":1}', None),
        (b'{"cells":[{"a":1}],"cells":[{"b":2}]}', [b'{"b":2}']),
        (b'{"cells":[ "}" , {}],"x":1,"cells":[{"long":"one"}]}', [b'{"long":"one"}']),
    ],
)
def test_of_two_lists_of_cells_the_last_one_counts(data: bytes, cells: list[bytes] | None) -> None:
    assert cells_of(data) == cells
    found = json.loads(data)["cells"]
    assert (found if isinstance(found, list) else None) == (
        None if cells is None else [json.loads(raw) for raw in cells]
    )


@pytest.mark.parametrize("data", [b"{}", b'{"cells":null}', b'{"cells":{}}', b'{"cells":"[]"}'])
def test_a_file_may_have_no_list_of_cells(data: bytes) -> None:
    assert cells_of(data) is None


@pytest.mark.parametrize("data", [b"null", b"[]", b'"cells"', b"1"])
def test_what_is_no_object_is_no_notebook(data: bytes) -> None:
    with pytest.raises(NotebookError, match=r"^Invalid notebook structure \(missing cells array\): a.ipynb$"):
        outline_of(data, PATH)


@pytest.mark.parametrize(
    ("data", "why"),
    [
        (b"", "Expecting value"),
        (b"\xef\xbb\xbf", "Expecting value"),
        (b'{"cells":[}', "line 1 column 11"),
        (b'{"cells":[]} x', "Extra data"),
        (b'{"cells":["\xff"]}', "can't decode byte 0xff"),
        (b'{"cells":["\xed\xa0\xbd"]}', "can't decode byte 0xed"),
        ('{"cells":[]}'.encode("utf-16"), "can't decode byte"),
        (b'{"cells":[' + b"[" * 100_000 + b"]" * 100_000 + b"]}", "It is nested too deeply."),
    ],
)
def test_what_is_no_json_is_refused_with_the_reason(data: bytes, why: str) -> None:
    with pytest.raises(NotebookError, match=r"^Invalid JSON in notebook: a.ipynb$") as caught:
        outline_of(data, PATH)
    assert why in caught.value.hint


def test_a_character_may_be_cut_by_the_blocks_that_are_checked() -> None:
    for shift in range(3):
        filler = b"x" * ((1 << 20) - 20 + shift)
        data = b'{"x":"' + filler + "漢字".encode() * 20 + b'","cells":[{}]}'
        assert cells_of(data) == [b"{}"]


def test_what_stands_beside_the_cells_can_be_had() -> None:
    outline = outline_of(b'{"nbformat":4,"cells":[],"metadata":{"a":[1]},"nbformat":3}', PATH)
    assert outline.value("metadata") == {"a": [1]}
    assert outline.value("missing") is None
    assert number_of_nbformat(outline) == 3
    assert number_of_nbformat(outline_of(b'{"nbformat":"4"}', PATH)) == 7


def test_a_number_that_python_cannot_read_is_told() -> None:
    outline = outline_of(b'{"nbformat":' + b"9" * 5000 + b',"cells":[]}', PATH)
    with pytest.raises(NotebookError, match="a value that cannot be read"):
        number_of_nbformat(outline)
