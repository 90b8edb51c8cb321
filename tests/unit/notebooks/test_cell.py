"""One cell: what it says of itself, and what of its bytes a change leaves."""

import json
from typing import Any

import pytest

from pisces.errors import NotebookError
from pisces.notebooks.cell import Cell
from pisces.notebooks.style import Style

CODE = b"""{
   "cell_type": "code",
   "execution_count": 3,
   "id": "abc",
   "metadata": {"tags": ["skip", 1], "x": [1.0, null]},
   "outputs": [{"output_type": "stream", "name": "stdout", "text": ["1\\n"]}],
   "source": [
    "a = 1\\n",
    "a"
   ],
   "zz": {"unknown": true}
  }"""
TEXT = b'{\n   "attachments": {"a.png": {}},\n   "cell_type": "markdown",\n   "metadata": {},\n   "source": "hi"\n  }'
PLAIN = TEXT.replace(b'"attachments": {"a.png": {}},\n   ', b"")


def cell(raw: bytes, **style: Any) -> Cell:
    return Cell(raw, Style(**style))


def value(changed: Cell) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(bytes(changed.raw))
    return found


def test_a_cell_says_what_it_is() -> None:
    code = cell(CODE)
    assert (code.cell_type, code.id, code.source, code.execution_count) == ("code", "abc", "a = 1\na", 3)
    assert code.tags == {"skip"}
    assert code.outputs == [{"output_type": "stream", "name": "stdout", "text": ["1\n"]}]
    assert code.source_is_list
    assert not cell(TEXT).source_is_list
    assert code.get("zz") == {"unknown": True}
    assert code.get("missing", 5) == 5


def test_a_cell_may_lack_almost_everything() -> None:
    bare = cell(b'{"cell_type": "raw"}')
    assert (bare.cell_type, bare.id, bare.source, bare.execution_count) == ("raw", None, "", None)
    assert (bare.tags, bare.outputs, bare.source_is_list) == (frozenset(), [], True)


@pytest.mark.parametrize(
    "extra",
    [b'"y": NaN', b'"y": "\\ud83d"', b'"\\ud83d": 1', b'"y": [-Infinity]', b'"source": "\\udc80", "source": "s"'],
)
def test_what_only_python_reads_is_read(extra: bytes) -> None:
    odd = cell(b'{"cell_type": "code", "id": "i", ' + extra + b', "source": "s", "execution_count": 2}')
    assert (odd.cell_type, odd.id, odd.source, odd.execution_count) == ("code", "i", "s", 2)


def test_of_a_member_that_comes_twice_the_later_one_counts_and_is_changed() -> None:
    twice = cell(b'{"source": "old", "cell_type": "code", "source": "new"}')
    assert twice.source == twice.get("source") == "new"
    assert twice.with_source("newer").raw == b'{"source": "old", "cell_type": "code", "source": "newer"}'
    assert twice.without(("source",)).raw == b'{"cell_type": "code"}'


@pytest.mark.parametrize(
    ("raw", "why"), [(b"[]", "no object"), (b"1", "no object"), (b'{"cell_type": "sql"}', "'sql'")]
)
def test_what_is_no_cell_is_refused(raw: bytes, why: str) -> None:
    with pytest.raises(NotebookError, match=why):
        _ = cell(raw).cell_type


def test_a_value_that_python_cannot_read_is_told() -> None:
    with pytest.raises(NotebookError, match="a value that cannot be read"):
        cell(b'{"outputs": [' + b"9" * 5000 + b"]}").get("outputs")


def test_another_source_changes_nothing_else() -> None:
    assert cell(CODE).with_source("a = 2\na").raw == CODE.replace(b"a = 1", b"a = 2")
    assert cell(TEXT).with_source("ho").raw == TEXT.replace(b'"hi"', b'"ho"')
    assert cell(CODE).with_source("a = 1\na").raw == CODE


def test_a_source_that_was_missing_stands_where_the_alphabet_puts_it() -> None:
    made = cell(b'{\n   "cell_type": "raw",\n   "zz": 1\n  }').with_source("a\nb")
    assert made.raw == b'{\n   "cell_type": "raw",\n   "source": [\n    "a\\n",\n    "b"\n   ],\n   "zz": 1\n  }'


def test_another_value_is_laid_out_like_the_file() -> None:
    assert cell(CODE).with_value("execution_count", None).raw == CODE.replace(b": 3", b": null")
    made = cell(TEXT).with_value("metadata", {"b": 1, "a": []}).raw
    assert made == TEXT.replace(b'"metadata": {}', b'"metadata": {\n    "a": [],\n    "b": 1\n   }')
    assert cell(b'{"a":1}', indent=None, colon=":").with_value("b", [1, 2]).raw == b'{"a":1,"b":[1,2]}'
    assert cell(b'{"b": 1, "c": 2}', indent=None).with_value("a", 0).raw == b'{"a": 0, "b": 1, "c": 2}'
    assert value(cell(b"{}").with_value("a", 0)) == {"a": 0}


def test_code_that_becomes_text_loses_what_only_code_has() -> None:
    for kind in ("markdown", "raw"):
        changed = value(cell(CODE).with_type(kind))
        expected = {**json.loads(CODE), "cell_type": kind}
        del expected["outputs"], expected["execution_count"]
        assert changed == expected


def test_text_that_becomes_code_has_never_run_and_has_no_attachments() -> None:
    changed = value(cell(TEXT).with_type("code"))
    assert changed == {"cell_type": "code", "execution_count": None, "metadata": {}, "outputs": [], "source": "hi"}
    assert list(changed) == sorted(changed)


def test_text_that_becomes_code_and_text_again_is_as_it_was() -> None:
    assert cell(PLAIN).with_type("code").with_type("markdown").raw == PLAIN
    compact = b'{"metadata":{},"source":"hi","cell_type":"markdown"}'
    assert cell(compact, indent=None, colon=":").with_type("code").with_type("markdown").raw == compact


def test_attachments_stay_with_text_of_another_type() -> None:
    assert value(cell(TEXT).with_type("raw"))["attachments"] == {"a.png": {}}


def test_the_same_type_is_the_same_cell() -> None:
    code = cell(CODE)
    assert code.with_type("code") is code


def test_without_outputs_a_cell_is_as_if_it_had_never_run() -> None:
    cleared = cell(CODE).without_outputs()
    assert value(cleared) == {**json.loads(CODE), "outputs": [], "execution_count": None}
    assert cleared.without_outputs() is cleared
    text = cell(TEXT)
    assert text.without_outputs() is text
    assert value(cell(b'{"cell_type": "code"}').without_outputs())["outputs"] == []


def test_members_that_go_take_one_comma_with_them() -> None:
    three = cell(b'{ "a": 1 , "b": 2,\n "c": 3 }')
    assert three.without(("a",)).raw == b'{ "b": 2,\n "c": 3 }'
    assert three.without(("b",)).raw == b'{ "a": 1,\n "c": 3 }'
    assert three.without(("c",)).raw == b'{ "a": 1 , "b": 2 }'
    assert three.without(("a", "b", "c", "d")).raw == b"{}"


def test_a_new_cell_is_as_jupyter_writes_it() -> None:
    assert Cell.new("code", "a\nb", Style(), cell_id="x1").raw == (
        b'{\n   "cell_type": "code",\n   "execution_count": null,\n   "id": "x1",\n   "metadata": {},\n'
        b'   "outputs": [],\n   "source": [\n    "a\\n",\n    "b"\n   ]\n  }'
    )
    assert (
        Cell.new("raw", "", Style(indent=None, comma=",", colon=":")).raw
        == b'{"cell_type":"raw","metadata":{},"source":[]}'
    )
    assert value(Cell.new("markdown", "a\nb", Style(), as_list=False))["source"] == "a\nb"


def test_bytes_that_are_a_part_of_a_file_are_read_in_place() -> None:
    part = Cell(memoryview(b"xx" + CODE + b"yy")[2:-2], Style())
    assert part.source == "a = 1\na"
    assert part.with_source("b").source == "b"
