"""A line of status below output: the output stands on the screen as if there had been none."""

from hypothesis import given
from hypothesis import strategies as st

from pisces.cli.bottom_line import BottomLine, fitted, most_columns
from tests.fakes.emulator import Emulator

TEXTS = st.text(alphabet=st.sampled_from("ab \t\r\n世é█\N{COMBINING ACUTE ACCENT}👩\u200d"), max_size=60)
STEPS = st.lists(st.one_of(TEXTS, st.just(None)), max_size=25)
"""Output; None is a moment in which the status is drawn."""
SIZES = st.tuples(st.integers(min_value=4, max_value=30), st.integers(min_value=1, max_value=6))


@given(STEPS, SIZES)
def test_nothing_is_left_behind_and_nothing_is_lost(steps: list[str | None], size: tuple[int, int]) -> None:
    line, shown, expected = BottomLine(*size), Emulator(*size), Emulator(*size)
    for step in steps:
        if step is None:
            shown.feed(line.draw("=" * (size[0] - 1)))
        else:
            shown.feed(line.output(step))
            expected.feed(step)
            assert shown.lines == expected.lines
    shown.feed(line.erase())
    assert shown.lines == expected.lines
    assert shown.cursor == expected.cursor


@given(TEXTS, SIZES)
def test_the_status_is_in_the_last_row_and_the_cursor_where_the_output_goes_on(
    text: str, size: tuple[int, int]
) -> None:
    line, shown = BottomLine(*size), Emulator(*size)
    shown.feed(line.output(text))
    before, cursor = shown.lines, shown.cursor
    drawn = line.draw("===")
    shown.feed(drawn)
    assert shown.cursor == cursor
    if drawn:
        assert shown.lines[-1] == "==="
        assert [each for each in shown.lines[:-1] if each] == [each for each in before if each]


def test_a_status_stands_below_a_line_that_is_not_finished() -> None:
    line, shown = BottomLine(20, 4), Emulator(20, 4)
    for text in ("one\n", "50 %", "\r60 %"):
        shown.feed(line.output(text) + line.draw("running"))
    assert shown.lines == ["one", "60 %", "running"]


def test_what_stands_right_of_the_cursor_stays() -> None:
    line, shown = BottomLine(20, 4), Emulator(20, 4)
    shown.feed(line.output("abcdef\rxy") + line.draw("running"))
    shown.feed(line.erase())
    assert shown.lines == ["xycdef"]


def test_at_the_right_edge_nothing_is_drawn() -> None:
    line = BottomLine(4, 4)
    line.output("full")
    assert line.draw("---") == ""
    line.output("\n")
    assert line.draw("---") != ""


def test_behind_what_terminals_measure_variously_nothing_is_drawn() -> None:
    line = BottomLine(40, 4)
    line.output("\N{REGIONAL INDICATOR SYMBOL LETTER D}\N{REGIONAL INDICATOR SYMBOL LETTER E}")
    assert line.draw("---") == ""


def test_in_the_middle_of_a_line_nothing_is_drawn_after_a_change_of_size() -> None:
    line = BottomLine(40, 4)
    line.output("begun")
    line.resized(30, 4)
    assert line.draw("---") == ""
    line.output("\n")
    assert line.draw("---") != ""


@given(st.text(max_size=50), st.integers(min_value=0, max_value=40))
def test_a_text_is_cut_so_that_it_fits(text: str, columns: int) -> None:
    from rich.cells import cell_len

    made = fitted(text, columns)
    assert most_columns(made) <= columns
    assert cell_len("".join(character for character in made if character.isprintable())) <= columns
    assert text.startswith(made.removesuffix("…").rstrip()) or made == text
