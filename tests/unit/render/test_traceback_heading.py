"""The heading of a traceback by IPython fits, wherever it is shown."""

import pytest

from pisces.render.blocks import Words
from pisces.render.cells import cell_rows
from pisces.render.look import Look
from pisces.render.plain_cells import plain_cell
from pisces.render.screen import Screen
from pisces.render.styled import StyledPainter
from pisces.render.traceback_heading import narrowed, spoken
from pisces.render.view import CellView
from pisces.tui.plain.speech import Lines
from tests.fakes.cell_views import COLOURED_TRACEBACK, text_of

RULE = "-" * 75
NAME = "ZeroDivisionError"
HEADING = f"{RULE}\n{NAME}                         Traceback (most recent call last)\n"
TEXT = f"{HEADING}Cell In[1], line 1\n----> 1 1 / 0\n\n{NAME}: division by zero"


@pytest.mark.parametrize("text", [TEXT, COLOURED_TRACEBACK], ids=["plain", "coloured"])
@pytest.mark.parametrize("width", [20, 40, 60, 74])
def test_in_a_narrow_terminal_the_rule_is_one_row_and_the_name_leads_to_the_words(text: str, width: int) -> None:
    rows = text_of(cell_rows(CellView(code="", blocks=(Words(text, "error"),)), Look(variant="own", width=width)))
    rule, *heading = rows.split("\n")[1:4]
    assert rule == "-" * width
    words = "Traceback (most recent call last)" if width > 52 else "Traceback"
    assert "".join(heading).startswith(f"{NAME}  {words}")
    assert width < 30 or heading[0].endswith(words)


def test_where_there_is_room_it_stays_as_it_is() -> None:
    assert [narrowed(line, 75) for line in TEXT.split("\n")] == TEXT.split("\n")


def test_a_notebook_shows_it_in_one_row_too() -> None:
    said: list[str] = []
    StyledPainter(said.append, Screen(width=60, styled=True), most_lines=None).paint([Words(TEXT, "error")])
    rows = [row.strip() for row in "".join(said).split("\n")]
    assert rows[:2] == ["-" * 56, f"{NAME}  Traceback (most recent call last)"]


def test_who_hears_it_hears_words_alone() -> None:
    heard = f"{NAME}: Traceback (most recent call last)"
    for text in (TEXT, COLOURED_TRACEBACK):
        assert plain_cell(CellView(code="", blocks=(Words(text, "error"),))).split("\n")[1] == heard
    assert Lines().feed(HEADING) == heard + "\n"


@pytest.mark.parametrize("text", [f"{RULE}\n", f"{RULE}\ntotal      9\n", f"a{HEADING}", "a    Traceback\n"])
def test_other_output_is_heard_as_it_is(text: str) -> None:
    assert spoken(text) == text
