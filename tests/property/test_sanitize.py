"""A cleaned stream does not depend on where its chunks were cut, and is always clean."""

import re
from itertools import pairwise

from hypothesis import example, given
from hypothesis import strategies as st

from pisces.output.sanitize import SEQUENCE_LIMIT, Sanitizer, clean

SNIPPETS = [
    "a", "Z", "é", "漢", "\n", "\t", "\r", "\r\n", "\r\r\n", "\x1b", "\x1b[", "31", ";", "m", "\x1b[0m", "\x1b[?25l",
    "\x1b]", "0;title", "\x07", "\x1b\\", "\\", "\x9b", "\x9c", "\x90", "\x1bP", "\x1b_", "\x1b^", "\x1bX", "\x1b(B",
    "\x1b c", "\x00", "\x08", "\x18", "\x1a", "\x7f", "\x85", "\ud83d", "\udc80", " ", "!", "x" * (SEQUENCE_LIMIT // 2),
]  # fmt: skip
TEXTS = st.lists(st.sampled_from(SNIPPETS), max_size=30).map("".join) | st.text(max_size=60)
FORBIDDEN = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ud800-\udfff]")


def cut(text: str, places: list[int]) -> list[str]:
    edges = [0, *sorted(place % (len(text) + 1) for place in places), len(text)]
    return [text[start:end] for start, end in pairwise(edges)]


def feed(chunks: list[str]) -> str:
    sanitizer = Sanitizer()
    return "".join([*map(sanitizer.feed, chunks), sanitizer.finish()])


@given(text=TEXTS, places=st.lists(st.integers(min_value=0), max_size=8))
@example(text="\x1b]0;title\x1b\\after", places=[10])
@example(text="a\r\nb", places=[2])
@example(text="a\r\x1b[K\nb", places=[2, 4])
@example(text="\x1b]" + "x" * SEQUENCE_LIMIT + "\x07after", places=[SEQUENCE_LIMIT + 2])
def test_where_the_chunks_are_cut_makes_no_difference(text: str, places: list[int]) -> None:
    assert feed(cut(text, places)) == clean(text)


@given(text=TEXTS)
def test_nothing_that_a_terminal_would_obey_is_left(text: str) -> None:
    result = clean(text)
    assert FORBIDDEN.search(result) is None
    assert "\r\n" not in result
    assert "\r\r" not in result


@given(text=TEXTS)
def test_no_newline_is_ever_lost(text: str) -> None:
    assert clean(text).count("\n") == text.count("\n")


@given(text=TEXTS)
def test_cleaning_twice_changes_nothing(text: str) -> None:
    assert clean(clean(text)) == clean(text)


@given(text=st.text(st.characters(exclude_categories=("Cc", "Cs"), include_characters="\n\t")))
def test_text_without_controls_passes_unchanged(text: str) -> None:
    assert clean(text) == text
