"""Output in lines: whole ones, without anything that a terminal would obey."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pisces.model.completion import Completion
from pisces.render.terminal_text import without_control
from pisces.tui.plain.reading import candidates
from pisces.tui.plain.speech import Lines, Speech


@given(st.lists(st.text(alphabet="ab\n\x1b[31mH", max_size=6)))
def test_text_in_pieces_says_what_it_says_in_one(pieces: list[str]) -> None:
    lines = Lines()
    said = "".join([*map(lines.feed, pieces), lines.finish()])
    text = without_control("".join(pieces))
    assert said == (text if text.endswith("\n") or not text else text + "\n")
    assert "\x1b" not in said


def test_of_a_line_that_is_written_over_the_last_state_is_said() -> None:
    lines = Lines()
    assert lines.feed("10 %\r") == ""
    assert lines.feed("50 %\r100 %\nnext") == "100 %\n"
    assert lines.finish() == "next\n"


def test_a_line_without_an_end_is_not_held_back_for_ever() -> None:
    lines = Lines()
    assert sum(len(lines.feed("x" * 1000)) for _ in range(1000)) > 900_000


def test_a_long_line_without_an_end_ends_before_what_is_said_next() -> None:
    lines = Lines()
    said = lines.feed("x" * 100_000)
    assert lines.feed("") == ""
    assert said + lines.finish() == "x" * 100_000 + "\n"
    assert lines.finish() == ""


def test_what_became_of_the_state_is_said_first_and_in_capitals(capsys: pytest.CaptureFixture[str]) -> None:
    Speech().tell(["Cell 2 failed.", "[State: restored] The kernel exited with code 3."])
    assert capsys.readouterr().out == "STATE RESTORED: The kernel exited with code 3.\nCell 2 failed.\n"


@pytest.mark.parametrize(
    ("line", "begin", "completion", "wanted"),
    [
        ("x.up", 0, Completion(("upper",), 2, 4), ["x.upper"]),
        ("f(na", 2, Completion(("name", "named"), 2, 4), ["name", "named"]),
        ("d['k", 3, Completion(("'key']",), 2, 4), ["key']"]),
        ("d['k", 3, Completion(("other",), 2, 4), []),
    ],
)
def test_a_match_is_put_where_readline_puts_it(
    line: str, begin: int, completion: Completion, wanted: list[str]
) -> None:
    assert candidates(completion, line, begin, shift=0) == wanted


def test_matches_count_from_the_beginning_of_the_input() -> None:
    assert candidates(Completion(("upper",), 12, 14), "  x.up", 2, shift=8) == ["x.upper"]
