"""The JSON of a source: what of it stays when the source changes."""

import json

import pytest

from pisces.errors import NotebookError
from pisces.notebooks.source_value import encode_source, text_of
from pisces.notebooks.style import Style

TIDY = b'[\n    "a\\n",\n    "b\\n",\n    "c"\n   ]'
ONE_LINE = Style(indent=None, comma=", ")


def edited(old: bytes, text: str, style: Style | None = None) -> bytes:
    made = encode_source(old, text, style or Style(), "   ")
    assert text_of(json.loads(made)) == text
    return made


def test_a_source_is_a_text_or_a_list_of_lines() -> None:
    assert text_of("a\nb") == "a\nb"
    assert text_of(["a\n", "b"]) == "a\nb"
    assert text_of([]) == ""


@pytest.mark.parametrize("source", [None, 1, {}, ["a", 1], [["a"]]])
def test_anything_else_is_refused(source: object) -> None:
    with pytest.raises(NotebookError, match="neither text nor a list of lines"):
        text_of(source)


def test_the_same_text_gives_the_very_bytes() -> None:
    odd = b'[ "a" ,"\\n\\u0062",  "\\/"]'
    assert edited(odd, "a\nb/") == odd


def test_a_text_stays_a_text() -> None:
    assert edited(b'"a"', "b\nc") == b'"b\\nc"'
    assert edited(b'"a"', "") == b'""'


def test_a_changed_line_leaves_the_others_as_they_are() -> None:
    assert edited(TIDY, "a\nB\nc") == TIDY.replace(b'"b', b'"B')
    assert edited(b'["a\\n" , "\\u0062\\n",  "c"]', "a\nb\nC") == b'["a\\n" , "\\u0062\\n" , "C"]'


def test_of_lines_that_are_alike_as_many_go_as_should() -> None:
    assert edited(b'["a\\n", "a\\n", "a\\n"]', "a\n") == b'["a\\n"]'
    assert edited(b'["a\\n"]', "a\na\n", ONE_LINE) == b'["a\\n", "a\\n"]'


def test_new_lines_are_laid_out_like_those_there() -> None:
    assert edited(TIDY, "a\nb\nc\nd") == b'[\n    "a\\n",\n    "b\\n",\n    "c\\n",\n    "d"\n   ]'
    assert edited(b'["a\\n", "b"]', "a\nb\nc", ONE_LINE) == b'["a\\n", "b\\n", "c"]'


def test_a_list_without_lines_is_laid_out_like_the_file() -> None:
    assert edited(b"[]", "a\nb") == b'[\n    "a\\n",\n    "b"\n   ]'
    assert edited(b"[]", "a\nb", ONE_LINE) == b'["a\\n", "b"]'
    assert edited(b"[]", "a\nb", Style(newline="\r\n")) == b'[\r\n    "a\\n",\r\n    "b"\r\n   ]'


def test_no_text_is_an_empty_list() -> None:
    assert edited(TIDY, "") == b"[]"


def test_lines_are_split_where_jupyter_splits_them() -> None:
    text = "a\rb\r\nc\x0bd\x0ce\x1cf\x85g\u2028h\n"
    made = json.loads(edited(b"[]", text))
    assert made == text.splitlines(keepends=True)
    assert len(made) == 8


def test_pieces_that_were_cut_elsewhere_are_kept_up_to_the_line_that_changed() -> None:
    old = b'["a", "b\\n", "c", "d\\n", "e", "f"]'
    assert edited(old, "ab\nXd\nef", ONE_LINE) == b'["a", "b\\n", "Xd\\n", "e", "f"]'


@pytest.mark.parametrize(
    ("old", "text", "style", "made"),
    [
        (b'"\\u00e9"', "éü", Style(), b'"\\u00e9\\u00fc"'),
        (b'"a"', "é", Style(ascii=True), b'"\\u00e9"'),
        (b'"a"', "é", Style(), '"é"'.encode()),
        ('"é"'.encode(), "éü", Style(ascii=True), '"éü"'.encode()),
        (b'"\\\\u00e9"', "é", Style(), '"é"'.encode()),
    ],
)
def test_characters_are_escaped_where_they_were(old: bytes, text: str, style: Style, made: bytes) -> None:
    assert edited(old, text, style) == made


def test_half_a_pair_of_surrogates_is_escaped() -> None:
    assert edited('"é"'.encode(), "é\ud83d") == '"é\\ud83d"'.encode()
