"""Rows that were made once are kept, as many as there is room for."""

import time

from pisces.render.blocks import Words
from pisces.render.cells import cell_rows
from pisces.render.drawn import Drawings, lines_of
from pisces.render.look import Look
from pisces.render.view import CellView, Notice
from tests.fakes.cell_views import STATES, lines

PLAIN = CellView(
    code="import os\nx = 1\nfor i in range(3):\n    print(i)\nx", status="complete", blocks=(Words(lines(5)),)
)


def best_of(count: int, view: CellView, drawings: Drawings | None) -> float:
    times = []
    for _ in range(count):
        began = time.perf_counter()
        drawings.lines_of(view, Look()) if drawings else cell_rows(view, Look())
        times.append(time.perf_counter() - began)
    return min(times)


def test_a_second_ask_is_more_than_fifty_times_cheaper() -> None:
    drawings = Drawings()
    drawings.lines_of(PLAIN, Look())
    assert best_of(50, PLAIN, None) > 50 * best_of(50, PLAIN, drawings)


def test_a_cell_of_a_few_lines_is_drawn_in_a_moment() -> None:
    assert best_of(50, PLAIN, None) < 0.005  # 0.4 ms.


def test_the_rows_are_those_that_would_be_made_anew() -> None:
    for view in STATES.values():
        assert lines_of(view, Look()) == cell_rows(view, Look()) == lines_of(view, Look())
    assert lines_of(PLAIN, Look()) is lines_of(PLAIN, Look())


def test_another_look_makes_other_rows() -> None:
    view = STATES["long"]
    assert lines_of(view, Look(expanded=True)) != lines_of(view, Look())
    assert lines_of(view, Look(width=40)) != lines_of(view, Look())


def test_time_goes_on_only_for_a_cell_that_runs() -> None:
    drawings = Drawings()
    running, over = STATES["running"], STATES["complete"]
    assert drawings.lines_of(over, Look(now=1.0)) is drawings.lines_of(over, Look(now=2.0))
    assert running.began is not None
    first = drawings.lines_of(running, Look(now=running.began + 1))
    assert first != drawings.lines_of(running, Look(now=running.began + 2))


def test_what_is_kept_stays_below_its_bound_and_the_oldest_go_first() -> None:
    drawings = Drawings(most=200_000)
    views = [CellView(code=f"x = {number}", blocks=(Words(lines(5)),)) for number in range(500)]
    made = [drawings.lines_of(view, Look()) for view in views]
    assert 100_000 < drawings.size <= 200_000
    assert drawings.lines_of(views[-1], Look()) is made[-1]
    assert drawings.lines_of(views[0], Look()) is not made[0]


def test_one_that_would_push_out_the_others_is_not_kept() -> None:
    drawings = Drawings(most=200_000)
    small = Notice("info", "small")
    drawings.lines_of(small, Look())
    before = drawings.size
    drawings.lines_of(CellView(code="", blocks=(Words("x" * 100_000),)), Look())
    assert drawings.size == before


def test_a_view_that_is_gone_is_not_taken_for_another() -> None:
    drawings = Drawings()
    for number in range(1000):
        text = "".join(piece.text for row in drawings.lines_of(Notice("info", str(number)), Look()) for piece in row)
        assert text == f"· {number}"
