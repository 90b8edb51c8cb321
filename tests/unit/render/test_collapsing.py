"""Which lines of an output are shown: of a cell that runs the newest, of one that is over both ends."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pisces.model.cells import CellStatus
from pisces.render.blocks import Block, Formatted, Tree, Words
from pisces.render.cells import MOST_LINES, cell_rows
from pisces.render.look import Look, Variant
from pisces.render.view import CellView
from tests.fakes.cell_views import COLOURED_TRACEBACK, TRACEBACK, lines, png, text_of


def output(*blocks: Block, status: CellStatus = "complete", look: Look | None = None) -> list[str]:
    view = CellView(code="", status=status, blocks=blocks)
    return text_of(cell_rows(view, look or Look(variant="own"))).split("\n")[1:]


def test_what_is_short_enough_is_whole() -> None:
    assert output(Words(lines(20))) == lines(20).splitlines()


def test_of_a_cell_that_is_over_both_ends_are_shown() -> None:
    shown = output(Words(lines(100)))
    assert shown[5:8] == ["line 6", "… 80 more lines", "line 87"]
    assert (shown[0], shown[-1], len(shown)) == ("line 1", "line 100", 21)


def test_of_a_cell_that_runs_the_newest_lines_are_shown() -> None:
    shown = output(Words(lines(100)), status="running")
    assert (shown[0], shown[1], shown[-1]) == ("… 80 more lines", "line 81", "line 100")


def test_the_lines_are_those_of_the_cell_and_not_of_each_output() -> None:
    shown = output(*(Words(lines(9)) for _ in range(9)))
    assert len(shown) == 21
    assert shown.count("… 61 more lines") == 1


def test_the_end_of_a_traceback_is_always_there() -> None:
    shown = output(Words(lines(500)), Words(lines(300) + TRACEBACK, "error"), status="error")
    assert shown[-5:] == [line.rstrip() for line in TRACEBACK.splitlines()]


def test_the_heading_of_ipythons_tracebacks_fits_a_narrow_terminal() -> None:
    shown = output(Words(COLOURED_TRACEBACK, "error"), look=Look(width=60, variant="own"), status="error")
    assert shown[:2] == ["-" * 60, "ZeroDivisionError  Traceback (most recent call last)"]


def test_one_long_line_takes_no_more_room_than_many() -> None:
    shown = output(Words("x" * 3999), look=Look(width=40, variant="own"))
    assert len(shown) == 21
    assert "… 1 more line" in shown


def test_a_line_of_more_than_4000_characters_is_cut_and_says_so() -> None:
    shown = "".join(output(Words("x" * 5000), look=Look(width=120, variant="own", expanded=True)))
    assert shown == "x" * 4000 + "[…1000 characters cut…]"


def test_colours_do_not_count_as_characters_of_a_line() -> None:
    look = Look(width=120, variant="own", expanded=True)
    assert "".join(output(Words("\x1b[38;2;1;2;3mx" * 3000), look=look)) == "x" * 3000
    assert "".join(output(Words("\x1b[38;2;1;2;3mx" * 5000), look=look)) == "x" * 4000 + "[…1000 characters cut…]"


def test_a_tools_cell_shows_all_of_a_long_line_when_it_is_expanded() -> None:
    rows = cell_rows(CellView(code="", blocks=(Words("x" * 9000),)), Look(width=102, expanded=True))
    assert text_of(rows).count("x") == 9000


def test_a_picture_is_shown_whole_where_the_lines_around_it_are_not() -> None:
    shown = output(Words(lines(50)), png(12, 8), Words(lines(50)))
    assert sum("▀" in line for line in shown) == 4
    assert len(shown) == 25


def test_of_many_pictures_the_newest_are_drawn_and_the_others_named() -> None:
    shown = output(*(png(4, 4) for _ in range(5)))
    assert shown.count("[image/png 4x4]") == 2
    assert sum("▀" in line for line in shown) == 6


def test_a_table_that_does_not_fit_is_shown_as_its_maker_writes_it() -> None:
    wide = Formatted("| a | b |\n|---|---|\n| " + "x" * 100 + " | 2 |", "a b\n1 2")
    assert output(wide) == ["a b", "1 2"]


@pytest.mark.parametrize("variant", ["tool", "own"])
@given(
    counts=st.lists(st.integers(1, 40), min_size=1, max_size=6),
    longest=st.integers(1, 400),
    running=st.booleans(),
)
def test_there_are_never_more_rows_and_every_line_is_shown_or_counted(
    variant: Variant, counts: list[int], longest: int, running: bool
) -> None:
    blocks = tuple(Words("\n".join(["x" * longest] * count)) for count in counts)
    look = Look(width=60, variant=variant)
    view = CellView(code="", status="running" if running else "complete", blocks=blocks)
    rows = text_of(cell_rows(view, look)).split("\n")
    shown = [row for row in rows if "x" in row]
    notes = [row for row in rows if "more line" in row]
    assert len(shown) <= MOST_LINES[variant]
    inside = 58 if variant == "tool" else 60
    rows_each = -(-longest // inside)
    hidden = int(notes[0].split("…")[1].split()[0]) if notes else 0
    # Each line that is shown whole takes all of its rows; of the others there may be some.
    assert (sum(counts) - hidden) * rows_each <= len(shown)
    assert bool(notes) == (sum(counts) * rows_each > MOST_LINES[variant])


def test_of_a_huge_output_only_what_is_shown_is_looked_at() -> None:
    view = CellView(code="", status="complete", blocks=(Words(("\x1b[31my\x1b[0m" * 10 + "\n") * 200_000),))
    took = []
    for _ in range(3):
        began = time.perf_counter()
        cell_rows(view, Look())
        took.append(time.perf_counter() - began)
    assert min(took) < 0.5  # About 20 ms; to clean all of it takes ten seconds.


def test_even_all_of_it_has_an_end() -> None:
    rows = cell_rows(CellView(code="", blocks=(Words(lines(50_000)),)), Look(expanded=True))
    assert len(rows) < 10_010
    assert "… 40000 more lines" in text_of(rows).replace(",", "")


def test_a_tree_is_deeper_when_all_is_wanted() -> None:
    deep = {"1": {"2": {"3": {"4": {"5": {"6": {"7": 8}}}}}}}
    assert output(Tree(deep))[-1] == "   └─ 2: {…} 1 key"
    assert output(Tree(deep), look=Look(variant="own", expanded=True))[-1].strip() == "└─ 6: {…} 1 key"
