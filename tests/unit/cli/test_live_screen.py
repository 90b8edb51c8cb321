"""Cells on a screen, without a terminal: what is written when, and that the output is all there at the end."""

from itertools import pairwise
from typing import Final

from hypothesis import given
from hypothesis import strategies as st

from pisces.cli.live_screen import INTERVAL, Ended, LiveScreen, Signs
from tests.fakes.emulator import Emulator

PLAIN: Final = Signs(coloured=False)
LINES = st.text(alphabet=st.sampled_from("ab \t\n世█"), min_size=1, max_size=30)
CELLS = st.lists(
    st.lists(st.one_of(LINES, st.floats(min_value=0.01, max_value=0.3)), max_size=8), min_size=2, max_size=4
)
"""For each cell what it says; numbers are seconds in which it says nothing."""


class Shown:
    """A screen with a clock that stands until it is moved."""

    def __init__(self, names: list[str], columns: int = 60, rows: int = 10) -> None:
        self.now = 100.0
        self.size = columns, rows
        self.terminal = Emulator(columns, rows)
        self.screen = LiveScreen(names, lambda: self.size, PLAIN, clock=lambda: self.now)

    def wait(self, seconds: float) -> None:
        end = self.now + seconds
        while self.now < end:
            self.now = min(end, self.now + INTERVAL)
            self.terminal.feed(self.screen.tick())

    @property
    def lines(self) -> list[str]:
        return self.terminal.lines


@given(CELLS, st.integers(min_value=12, max_value=40), st.integers(min_value=1, max_value=8))
def test_what_stays_is_the_output_with_a_line_above_and_below(
    cells: list[list[str | float]], columns: int, rows: int
) -> None:
    names = [f"c{number}" for number in range(len(cells))]
    shown, expected = Shown(names, columns, rows), Emulator(columns, rows)
    for number, steps in enumerate(cells):
        shown.terminal.feed(shown.screen.begin(number, Ended("complete", 5) if number else None))
        for step in steps:
            if isinstance(step, str):
                shown.terminal.feed(shown.screen.text(step))
            else:
                shown.wait(step)
        text = "".join(step for step in steps if isinstance(step, str))
        place = f"[{number + 1}/{len(cells)}] c{number}"
        end = "" if not text or text.endswith("\n") else "\n"
        expected.feed((f"{place[: columns - 1]}\n" if text else "") + text + end)
        closing = shown.screen._fitted(place, ["5 ms"])
        expected.feed(f"✓ {closing}\n")
    shown.terminal.feed(shown.screen.end(Ended("complete", 5)))
    assert shown.lines == expected.lines


def test_nothing_is_drawn_in_the_first_moment() -> None:
    shown = Shown(["one"])
    shown.terminal.feed(shown.screen.begin(0))
    shown.wait(INTERVAL)
    assert shown.lines == []
    shown.wait(0.2)
    assert shown.lines == ["⠙ one · 0.3 s"] or shown.lines[0].endswith("one · 0.3 s")


def test_before_the_first_cell_it_says_that_it_starts() -> None:
    shown = Shown(["one"])
    shown.wait(0.5)
    assert shown.lines[0].endswith("starting · 0.5 s")


def test_a_flood_is_not_followed_by_a_status_each_time() -> None:
    shown = Shown(["one"])
    shown.terminal.feed(shown.screen.begin(0))
    shown.wait(1.0)
    drawn = 0
    for _ in range(1000):
        shown.now += 0.001
        drawn += "one" in shown.screen.text("x\n")
    assert drawn <= 35


def test_the_sign_moves_and_the_time_passes() -> None:
    shown = Shown(["one"])
    shown.terminal.feed(shown.screen.begin(0))
    seen: list[str] = []
    for _ in range(12):
        shown.wait(1.1)
        seen += shown.lines[-1:]
    assert all(before != after for before, after in pairwise(seen))
    assert seen[-1].endswith("one · 13.2 s")


def test_a_wish_to_stop_is_shown() -> None:
    shown = Shown(["one"])
    shown.terminal.feed(shown.screen.begin(0))
    shown.screen.stopping = True
    shown.wait(0.5)
    assert "stopping one" in shown.lines[0]


def test_one_cell_that_took_its_time_says_how_long() -> None:
    shown = Shown(["one"])
    shown.terminal.feed(shown.screen.begin(0) + shown.screen.text("said") + shown.screen.end(Ended("complete", 2500)))
    assert shown.lines == ["said", "✓ one · 2.5 s"]


def test_a_failed_cell_is_told_however_short() -> None:
    shown = Shown(["one"])
    shown.terminal.feed(shown.screen.begin(0) + shown.screen.end(Ended("error", 3, "timed out")))
    assert shown.lines == ["✗ one · timed out · 3 ms"]


def test_facts_give_way_to_the_name_where_there_is_little_room() -> None:
    shown = Shown(["a long name of a cell", "two"], columns=24)
    shown.terminal.feed(shown.screen.begin(0))
    shown.wait(0.5)
    assert "[1/2]" in shown.lines[0]
    assert "0.5 s" in shown.lines[0]
    assert "pending" not in shown.lines[0]


def test_what_a_cell_says_cannot_turn_a_line_around() -> None:
    shown = Shown(["one"])
    shown.terminal.feed(shown.screen.begin(0) + shown.screen.text("is_admin = \u202eeurT\u202c # \u2067é\u2069\n"))
    assert shown.lines == [r"is_admin = \u202eeurT\u202c # \u2067é\u2069"]
