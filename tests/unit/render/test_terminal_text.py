"""Text of others for a terminal: colours stay, everything else that it would obey is gone."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pisces.render.terminal_text import LONGEST_LINE, cut, visible, with_colours, without_control

COLOUR = re.compile(r"\x1b\[[0-9;:]*m")


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("\x1b[31mred\x1b[0m", "\x1b[31mred\x1b[0m"),
        ("\x1b[38;2;1;2;3mx", "\x1b[38;2;1;2;3mx"),
        ("a\x1b[2Jb\x1b[Hc", "abc"),
        ("\x1b]0;title\x07x", "x"),
        ("\x1b]52;c;Zm9v\x1b\\x", "x"),
        ("\x1b_Ga=T;AAAA\x1b\\x", "x"),
        ("a\x07b\x9bc", "ab"),
        ("10%\r50%\r100%\n", "100%\n"),
        ("\x1b[32m10%\r100%\x1b[0m", "100%\x1b[0m"),
        ("a\r\nb", "a\nb"),
        ("\udc80x", "x"),
    ],
    ids=["colour", "true-colour", "cursor", "title", "clipboard", "picture", "c1", "bar", "bar-colour", "crlf", "half"],
)
def test_only_colours_pass(text: str, shown: str) -> None:
    assert with_colours(text) == shown


PIECES = ["\x1b", "[", "]", "31m", "0;", "m", "\x1b[1m", "\x07", "\\", "P", "_G", "a", "\n", "\r", "\x9b", "\x90", "é"]


@given(st.lists(st.sampled_from(PIECES)).map("".join))
def test_whatever_comes_no_other_sequence_is_left(text: str) -> None:
    left = COLOUR.sub("", with_colours(text))
    assert not re.search("[\x00-\x09\x0b-\x1f\x7f-\x9f]", left)
    assert left.count("\n") == text.count("\n")


@given(st.lists(st.sampled_from(PIECES)).map("".join))
def test_text_alone_has_no_sequence_at_all(text: str) -> None:
    assert not re.search("[\x00-\x09\x0b-\x1f\x7f-\x9f]", without_control(text))


def test_of_a_long_text_the_beginning_is_shown_and_the_rest_is_counted() -> None:
    lines = cut("".join(f"{n}\n" for n in range(25)), 20)
    assert lines.shown == [str(n) for n in range(20)]
    assert lines.note == "… 5 more lines"


def test_of_a_traceback_the_end_is_shown() -> None:
    lines = cut("\n".join(map(str, range(21))), 20, at_end=True)
    assert (lines.shown[0], lines.shown[-1], lines.note) == ("1", "20", "… 1 more line")


def test_what_is_just_long_enough_is_whole() -> None:
    assert cut("\n".join(map(str, range(20))), 20).note == ""


def test_a_long_line_is_cut_unless_all_is_wanted() -> None:
    line = "x" * (LONGEST_LINE + 7)
    assert cut(line, 20).shown == ["x" * LONGEST_LINE + "[…7 characters cut…]"]
    assert cut(line, None).shown == [line]


def test_what_a_terminal_would_obey_is_named_where_it_is_compared() -> None:
    assert visible("a\tb\x1b[31m\x9b\r\u2028\ud800é") == "a\tb\\x1b[31m\\x9b\\r\\u2028\\ud800é"
