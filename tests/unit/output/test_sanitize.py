"""What is taken out of a stream, and what stays."""

import pytest

from pisces.output.sanitize import SEQUENCE_LIMIT, Sanitizer, clean


@pytest.mark.parametrize(
    ("sequence", "kind"),
    [
        ("\x1b[1;31m", "colour"),
        ("\x1b[?2004h", "private mode"),
        ("\x9b31m", "eight-bit colour"),
        ("\x1b]0;title\x07", "title ended by a bell"),
        ("\x1b]8;;http://x\x1b\\", "link ended by a string terminator"),
        ("\x1bPq#0;2;0;0;0\x1b\\", "device control"),
        ("\x1b_Gf=100\x1b\\", "application command"),
        ("\x1b^private\x1b\\", "privacy message"),
        ("\x1bXstring\x1b\\", "start of string"),
        ("\x1b(B", "character set"),
        ("\x1b7", "save the cursor"),
    ],
)
def test_an_escape_sequence_leaves_nothing_behind(sequence: str, kind: str) -> None:
    assert clean(f"before{sequence}after") == "beforeafter", kind


def test_a_split_escape_sequence_leaves_no_tail() -> None:
    text = "a\x1b[38;5;196mb\x1b]0;title\x1b\\c"
    for place in range(len(text) + 1):
        sanitizer = Sanitizer()
        assert sanitizer.feed(text[:place]) + sanitizer.feed(text[place:]) + sanitizer.finish() == "abc", place


def test_a_sequence_cut_off_by_the_end_of_the_stream_is_dropped() -> None:
    assert clean("text\x1b[31") == "text"


def test_a_string_without_end_does_not_swallow_the_next_line() -> None:
    assert clean("\x1b]0;never ended\nnext line\n") == "\nnext line\n"


def test_a_string_without_end_or_newline_is_given_up_at_the_limit() -> None:
    sanitizer = Sanitizer()
    sanitizer.feed("\x1b]")
    shown = "".join(sanitizer.feed("x" * 64) for _ in range(SEQUENCE_LIMIT // 64 + 10))
    assert len(shown) == 640


def test_control_characters_and_surrogates_go_but_tab_and_newline_stay() -> None:
    assert clean("a\x00b\x08c\x7fd\x85e\x9ff\ud800g\udcffh\ti\n") == "abcdefgh\ti\n"


@pytest.mark.parametrize("text", ["a\r\nb", "a\r\r\nb", "a\r\x1b[K\nb"])
def test_a_return_before_a_newline_is_part_of_the_newline(text: str) -> None:
    for place in range(len(text) + 1):
        sanitizer = Sanitizer()
        assert sanitizer.feed(text[:place]) + sanitizer.feed(text[place:]) + sanitizer.finish() == "a\nb", place


def test_a_return_on_its_own_is_left_to_the_sink() -> None:
    sanitizer = Sanitizer()
    assert sanitizer.feed("10%\r") == "10%"
    assert sanitizer.feed("20%\r") == "\r20%"
    assert sanitizer.finish() == "\r"


def test_characters_of_any_script_pass() -> None:
    text = "naïve 漢字 🐟 \u00a0°±\n" * 3
    assert clean(text) == text
