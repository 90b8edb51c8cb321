"""Marks for texts that are too long to be edited: nothing of the text is lost."""

from hypothesis import given
from hypothesis import strategies as st

from pisces.tui.editor.folding import LONGEST, LONGEST_LINE, Folding
from pisces.tui.editor.pasted import fit, in_order


def test_of_a_text_with_a_long_line_the_other_lines_can_be_edited() -> None:
    folding = Folding()
    text = "if x:\n    y = '" + "a" * LONGEST_LINE + "'\n    z"
    shown = folding.folded(text)
    assert shown == "if x:\n    <text 1: 2,006 characters, 1 line>\n    z"
    assert folding.unfolded(shown.replace("z", "w")) == text.replace("z", "w")


def test_a_mark_stands_for_its_own_text_only() -> None:
    folding = Folding()
    first, second = "a\n" * LONGEST, "b\n" * LONGEST
    shown = folding.folded(first) + folding.folded(second)
    assert shown == "<text 1: 200,000 characters, 100,001 lines><text 2: 200,000 characters, 100,001 lines>"
    assert folding.unfolded(shown) == first + second
    folding.forget()
    assert folding.unfolded(shown) == shown


lines = st.text("ab \t<>1:,") | st.integers(1, 3).map(lambda times: " x" * (LONGEST_LINE // 2) * times)


@given(st.lists(st.lists(lines, max_size=5).map("\n".join), max_size=4))
def test_nothing_is_lost_of_any_texts(texts: list[str]) -> None:
    folding = Folding()
    assert folding.unfolded("".join(folding.folded(text) for text in texts)) == "".join(texts)


@given(st.text())
def test_what_is_fit_has_no_control_characters_but_tabs_and_newlines(text: str) -> None:
    made = fit(text)
    assert all(part.isprintable() or not part.isascii() for part in made.replace("\t", "").split("\n"))
    assert len(made.split("\n")) == len((made + "x").splitlines()), "no other line ends"
    assert fit(made) == made
    assert len(in_order(made)) == len(made)
    assert not set(in_order(made)) & set("\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")
