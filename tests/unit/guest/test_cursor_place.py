"""Where the end of some source is, also of source that is wrong or half typed."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pisces.guest.cursor_place import place_of

PIECES = [
    "a",
    ".",
    "'",
    '"',
    "'''",
    '"""',
    "f'",
    "{",
    "}",
    "(",
    ")",
    "[",
    "]",
    "\n",
    "\\",
    "\\\n",
    "#",
    " ",
    "é",
    "\r\n",
    "!",
]


@given(st.lists(st.sampled_from(PIECES), max_size=40).map("".join))
def test_any_text_has_a_place_within_it(source: str) -> None:
    place = place_of(source)
    assert 0 <= place.line <= len(source)
    assert -1 <= place.opening <= place.string <= len(source)
    assert all(source[bracket] in "([{" for bracket in place.brackets)
    assert place.brackets == sorted(place.brackets)


@given(st.lists(st.sampled_from(PIECES), max_size=20).map("".join), st.sampled_from(["'", '"', "'''", '"""']))
def test_a_text_in_closed_quotes_changes_nothing_behind_it(inner: str, quote: str) -> None:
    text = inner.replace("\\", "").replace(quote[0], "").replace("\n", "").replace("\r", "")
    assert place_of(f"x = {quote}{text}{quote}").string == -1


@pytest.mark.parametrize(
    ("source", "text"),
    [
        ("open('da", "da"),
        ("x = '''a\n'b'", "a\n'b'"),
        ("'it\\'s", "it\\'s"),
        ("f'{x!r} da", "{x!r} da"),
        ('r"C', "C"),
        ("f'{d[\"al", "al"),
    ],
)
def test_the_text_of_a_string_that_is_open_is_known(source: str, text: str) -> None:
    place = place_of(source)
    assert source[place.string :] == text


@pytest.mark.parametrize("source", ["x = 'a'", "'open\n", "# 'comment", "f'{x", "''", "print('a', "])
def test_elsewhere_there_is_none(source: str) -> None:
    assert place_of(source).string == -1


def test_comments_brackets_and_lines_are_known() -> None:
    assert place_of("x = 1 # about a.").in_comment
    assert not place_of("x = 1 # about a.\n").in_comment
    assert place_of("f(a, [b, (c), ").brackets == [1, 5]
    assert place_of("a = 1\nb = f(\n  c").line == 6
    assert place_of("a = \\\n  b").line == 0
