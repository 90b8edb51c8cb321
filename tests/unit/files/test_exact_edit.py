"""An exact text is replaced by another, and every byte outside the match stays."""

import codecs

import msgspec
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from pisces.errors import FileError
from pisces.files.exact_edit import MAX_TEXT, replaced
from pisces.files.seen import ALL
from pisces.output.artifact_text import LineRange


def edit(data: bytes | str, old: str, new: str, *, every: bool = False) -> bytes:
    raw = data.encode() if isinstance(data, str) else data
    return replaced(raw, "a.txt", old, new, every=every).data


def refusal(data: bytes | str, old: str, new: str = "new") -> str:
    with pytest.raises(FileError) as caught:
        edit(data, old, new)
    return caught.value.explain()


def test_one_match_is_replaced_and_shown_with_its_surroundings() -> None:
    text = "".join(f"line {number}\n" for number in range(1, 11))
    made = replaced(text.encode(), "a.txt", "line 5\n", "line five\nand a half\n", every=False)
    assert made.data.decode() == text.replace("line 5\n", "line five\nand a half\n")
    assert [(span.first, span.last) for span in made.spans] == [(5, 6)]
    assert made.excerpt == (
        "     3\tline 3\n     4\tline 4\n     5\tline five\n     6\tand a half\n     7\tline 6\n     8\tline 7"
    )


def test_more_than_one_match_changes_nothing_and_names_the_lines() -> None:
    told = refusal("x = 1\ny = 1\nx = 1\n", "x = 1")
    assert told.startswith("The old text is in a.txt 2 times (lines 1, 3); nothing was changed.")
    assert "all: true" in told
    many = refusal("x\n" * 30, "x")
    assert "30 times (lines 1, 2, 3, 4, 5, 6, 7, 8, 9, 10 …)" in many


def test_matches_that_overlap_are_two_places() -> None:
    assert "2 times (lines 1)" in refusal("aXaXa", "aXa")
    assert edit("aXaXa", "aXa", "b", every=True) == b"bXa"


def test_all_matches_can_be_replaced() -> None:
    made = replaced(b"a\nb\na\n", "a.txt", "a\n", "c\nd\n", every=True)
    assert (made.data, made.count) == (b"c\nd\nb\nc\nd\n", 2)
    assert [(span.first, span.last) for span in made.spans] == [(1, 2), (4, 5)]


def test_lines_can_be_deleted_up_to_the_whole_file() -> None:
    made = replaced(b"a\nb\n", "a.txt", "b\n", "", every=False)
    assert (made.data, [(span.first, span.last) for span in made.spans]) == (b"a\n", [(1, 1)])
    assert replaced(b"a\n", "a.txt", "a\n", "", every=False).excerpt == ""


def test_without_a_match_the_nearest_lines_are_shown() -> None:
    text = "import os\n\ndef compute_total(values):\n    return sum(values)\n"
    told = refusal(text, "def compute_totals(value):\n    return 0\n")
    assert told.startswith("The old text was not found in a.txt; nothing was changed.\n")
    assert "     3\tdef compute_total(values):" in told
    assert refusal(text, "zzz").endswith("No line is like its first one.")


def test_a_difference_of_white_space_alone_is_told() -> None:
    told = refusal("if x:\n\treturn  1\n", "if x:\n    return 1\n")
    assert "Only white space differs from lines 1-2:\n     1\tif x:\n     2\t\treturn  1" in told
    assert "Only white space differs from line 2" in refusal("a\nb  c\n", "b c")


def test_a_difference_of_line_ends_alone_is_told() -> None:
    assert "It is at line 2 with other line ends" in refusal("a\nb\nc\n", "b\r\nc")


def test_what_stands_for_bytes_that_are_no_text_is_not_taken_for_line_ends() -> None:
    told = refusal(b"a\nb \xff\n", "b \ufffd")
    assert "At line 2 `\ufffd` stands for bytes that are no UTF-8" in told


def test_looking_for_the_nearest_line_is_bounded() -> None:
    told = refusal("some words in a line\n" * 300_000 + "x" * 3_000_000, "some wards in a lime")
    assert len(told) < 2000


def test_a_file_with_crlf_keeps_it() -> None:
    assert edit("a\r\nb\r\nc\r\n", "a\nb", "x\ny\nz") == b"x\r\ny\r\nz\r\nc\r\n"
    assert edit("a\r\nb\r\n", "a\r\nb", "x\r\ny") == b"x\r\ny\r\n"
    assert edit("a\r\nb\r\n", "b", "b\nc") == b"a\r\nb\r\nc\r\n"


def test_in_a_file_with_both_line_ends_the_match_decides() -> None:
    assert edit("a\r\nb\r\nc\nd\n", "a\nb", "x\ny") == b"x\r\ny\r\nc\nd\n"
    assert edit("a\r\nb\r\nc\nd\n", "c\nd", "x\ny") == b"a\r\nb\r\nx\ny\n"


def test_a_mark_and_bytes_that_are_no_utf_8_stay() -> None:
    data = codecs.BOM_UTF8 + b"caf\xe9\nold\n\xff\xfe\x00"
    assert edit(data, "old", "grün") == data.replace(b"old", "grün".encode())


@pytest.mark.parametrize("name", ["utf-16-le", "utf-16-be"])
def test_utf_16_is_edited_as_such(name: str) -> None:
    mark = codecs.BOM_UTF16_LE if name == "utf-16-le" else codecs.BOM_UTF16_BE
    lone = b"\x00\xd8" if name == "utf-16-le" else b"\xd8\x00"
    data = mark + "grün\r\n🐟\r\n".encode(name) + lone
    assert edit(data, "🐟\n", "x\n🐠\n") == mark + "grün\r\nx\r\n🐠\r\n".encode(name) + lone
    with pytest.raises(FileError, match="not all of it is"):
        edit(data + b"\x00", "grün", "x")


def test_what_is_too_large_is_refused_with_a_way_out() -> None:
    with pytest.raises(FileError, match="64 MiB can be edited") as caught:
        edit(b"x" * (MAX_TEXT + 1), "x", "y")
    assert caught.value.hint
    with pytest.raises(FileError, match="would become"):
        edit(b"x" * 1_000_000, "x", "y" * 1000, every=True)


texts = st.text(st.sampled_from("ab \n\té🐟"), max_size=30)
needles = st.text(st.sampled_from("ab \n\té"), min_size=1, max_size=3)
holding = st.tuples(texts, needles, texts).map(lambda parts: ("".join(parts), parts[1]))
"""A text, and a part of it."""


@given(holding, texts)
def test_it_is_what_replacing_in_a_plain_text_gives(held: tuple[str, str], new: str) -> None:
    text, old = held
    assume(old != new)
    assert edit(text, old, new, every=True) == text.replace(old, new).encode()
    if text.find(old) == text.rfind(old):
        assert edit(text, old, new) == text.replace(old, new).encode()
    else:
        with pytest.raises(FileError):
            edit(text, old, new)


@given(holding, texts)
def test_with_crlf_it_is_the_same_in_the_line_ends_of_the_file(held: tuple[str, str], new: str) -> None:
    text, old = f"{held[0]}\n", held[1]
    assume(old != new)
    expected = text.replace(old, new).replace("\n", "\r\n").encode()
    assert edit(text.replace("\n", "\r\n"), old, new, every=True) == expected


@given(holding, texts, st.binary(max_size=8), st.binary(max_size=8))
def test_bytes_around_it_are_never_touched(held: tuple[str, str], new: str, before: bytes, after: bytes) -> None:
    text, old = held
    data = b"{" + before.replace(b"\r", b"") + b"<" + text.encode() + b">" + after.replace(b"\r", b"") + b"}"
    assume(old != new and data.count(old.encode()) == text.count(old))
    assert edit(data, old, new, every=True) == data.replace(old.encode(), new.encode())


@given(texts, texts, st.text(st.sampled_from("ab\n"), max_size=6))
def test_the_lines_that_are_named_are_those_that_came_in(before: str, after: str, new: str) -> None:
    old = "<\n>"
    text = f"{before}{old}{after}"
    (span,) = replaced(text.encode(), "a", old, new, every=False).spans
    result = text.replace(old, new)
    total = max(1, len(result.split("\n")) - result.endswith("\n"))
    first = text[: text.find(old)].count("\n") + 1
    assert span.first == min(first, total)
    assert span.last == min(span.first + max(0, new.count("\n") - new.endswith("\n")), total)


@given(
    data=st.data(),
    text=st.text(alphabet="ab\n", min_size=1, max_size=30),
    known=st.sets(st.integers(1, 12)),
    new=st.text(alphabet="ab\n", max_size=6),
    every=st.booleans(),
)
def test_only_lines_whose_every_character_is_known_stay_known(
    data: st.DataObject, text: str, known: set[int], new: str, *, every: bool
) -> None:
    start = data.draw(st.integers(0, len(text) - 1))
    old = text[start : data.draw(st.integers(start + 1, len(text)))]
    assume(old != new and (every or text.find(old, text.find(old) + 1) < 0))
    edited = msgspec.structs.replace(replaced(text.encode(), "a", old, new, every=every), shown=())
    # Each character with whether it is known, line by line.
    number, seen = 1, []
    for character in text:
        seen.append((character, number in known))
        number += character == "\n"
    rest = text
    made: list[tuple[str, bool]] = []
    while old in rest and (every or not made):
        at = rest.index(old)
        made += [*seen[:at], *((character, True) for character in new)]
        rest, seen = rest[at + len(old) :], seen[at + len(old) :]
    made += seen
    lines: list[list[bool]] = [[]]
    for character, is_known in made:
        lines[-1].append(is_known)
        lines += [[]] if character == "\n" else []
    total = text.count("\n") + 1
    carried = edited.carried(LineRange(line, line) for line in known if line <= total)
    for span in carried:
        for line in range(span.first, (span.last or 0) + 1):
            assert line > len(lines) or all(lines[line - 1]), (span, edited)
    assert edited.carried(ALL) == ALL
