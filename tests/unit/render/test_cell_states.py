"""Every state of a cell, as it is shown in narrow and in wide terminals."""

import pytest
from syrupy.assertion import SnapshotAssertion

from pisces.render.cells import cell_rows
from pisces.render.look import Look, Variant
from pisces.render.rows import width_of
from tests.fakes.cell_views import NOW, STATES, styled_text_of, text_of

WIDTHS = [20, 40, 80, 120]


LONGER = ["running", "long", "error", "json", "events", "many-events"]


@pytest.mark.parametrize("width", WIDTHS[1:])
@pytest.mark.parametrize("variant", ["tool", "own"])
def test_every_state_without_colours(snapshot: SnapshotAssertion, width: int, variant: Variant) -> None:
    look = Look(width=width, variant=variant, coloured=False, now=NOW)
    assert "\n".join(f"== {name}\n{text_of(cell_rows(view, look))}" for name, view in STATES.items()) == snapshot


@pytest.mark.parametrize("width", WIDTHS[1:])
def test_more_of_those_that_have_more(snapshot: SnapshotAssertion, width: int) -> None:
    look = Look(width=width, expanded=True, coloured=False, now=NOW)
    assert "\n".join(f"== {name}\n{text_of(cell_rows(STATES[name], look))}" for name in LONGER) == snapshot


@pytest.mark.parametrize(("width", "dark"), [(40, True), (80, True), (120, True), (80, False)])
def test_every_state_in_colours(snapshot: SnapshotAssertion, width: int, dark: bool) -> None:
    look = Look(width=width, dark=dark, now=NOW)
    assert "\n".join(f"== {name}\n{styled_text_of(cell_rows(view, look))}" for name, view in STATES.items()) == snapshot


@pytest.mark.parametrize("width", [8, *WIDTHS])
@pytest.mark.parametrize("variant", ["tool", "own"])
@pytest.mark.parametrize("name", STATES)
@pytest.mark.parametrize("expanded", [False, True], ids=["collapsed", "expanded"])
def test_no_row_is_wider_than_the_terminal(name: str, width: int, variant: Variant, expanded: bool) -> None:
    for only_ascii in (False, True):
        look = Look(width=width, variant=variant, expanded=expanded, ascii=only_ascii, now=NOW)
        assert max(map(width_of, cell_rows(STATES[name], look))) <= width


@pytest.mark.parametrize("name", STATES)
def test_without_colours_there_are_none(name: str) -> None:
    for row in cell_rows(STATES[name], Look(coloured=False, now=NOW)):
        assert all(piece.style is None or (piece.style.color, piece.style.bgcolor) == (None, None) for piece in row)


@pytest.mark.parametrize("name", STATES)
def test_where_only_ascii_can_be_shown_only_that_is(name: str) -> None:
    assert text_of(cell_rows(STATES[name], Look(ascii=True, now=NOW))).isascii()


def test_a_running_cell_turns_and_counts() -> None:
    view = STATES["running"]
    assert view.began is not None
    first, later = (text_of(cell_rows(view, Look(now=view.began + seconds))).split("\n")[0] for seconds in (61.0, 61.1))
    assert first[3] != later[3]
    assert first.endswith("1 min 1 s · running")
