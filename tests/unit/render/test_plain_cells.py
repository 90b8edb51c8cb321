"""Cells in words, for pipes and screen readers."""

import pytest
from syrupy.assertion import SnapshotAssertion

from pisces.render.blocks import Words
from pisces.render.heading import facts
from pisces.render.plain_cells import plain_cell, plain_heading
from pisces.render.view import CellView
from tests.fakes.cell_views import STATES, lines

FRAMES = set("╭╰├│─━┃┏┗▀✓✗○⚠")


@pytest.mark.parametrize("expanded", [False, True], ids=["collapsed", "expanded"])
def test_every_state_in_words(snapshot: SnapshotAssertion, expanded: bool) -> None:
    names = STATES if not expanded else ["running", "long", "error", "json", "events"]
    assert "\n".join(plain_cell(STATES[name], expanded=expanded) for name in names) == snapshot


@pytest.mark.parametrize("name", STATES)
def test_there_are_words_and_no_signs(name: str) -> None:
    text = plain_cell(STATES[name], expanded=True, variant="own")
    assert not FRAMES & set(text)
    assert "\x1b" not in text
    assert text.endswith("\n")
    assert all(line == line.rstrip() for line in text.splitlines())


@pytest.mark.parametrize(
    ("name", "heading"),
    [
        ("error", "cell 2, failed after 38 ms:"),
        ("complete", "cell 1/3, Load the data, done after 1.2 s:"),
        ("timeout", "cell, ran out of time after 30.0 s, exit code 124:"),
        ("pending", "cell 3/3, Load the data, waiting:"),
        ("taken-back", "cell 4, done, taken back:"),
        ("disconnected", "cell, connection lost, its fate is unknown:"),
    ],
)
def test_the_first_words_say_which_one_and_how_it_went(name: str, heading: str) -> None:
    assert plain_heading(STATES[name]) == heading


def test_an_exit_without_an_error_is_no_failure() -> None:
    view = CellView(code="exit()", status="error", outcome="error", exit_code=0)
    assert plain_heading(view) == "cell, exited, exit code 0:"
    assert facts(view, 0.0) == ["exit 0"]


def test_a_persons_own_code_has_the_prompt_of_an_interpreter() -> None:
    text = plain_cell(CellView(code="a\nb", status="complete", blocks=(Words("c\n"),)), variant="own")
    assert text == "cell, done:\n>>> a\n... b\nc\n"


def test_long_output_is_counted_in_words() -> None:
    view = CellView(code="", status="complete", blocks=(Words(lines(40)),))
    shown = plain_cell(view).splitlines()
    assert shown[3:6] == ["line 3", "(30 more lines)", "line 34"]
    assert len(plain_cell(view, expanded=True).splitlines()) == 41
