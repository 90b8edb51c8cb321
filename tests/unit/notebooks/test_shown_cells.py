"""Cells as text for a reader: a heading, the source, and outputs in brief or in full."""

import json
from typing import Any

import pytest

from pisces.notebooks.cell import Cell
from pisces.notebooks.shown_cells import pictures_of, shown_cell, shown_output
from pisces.notebooks.style import Style
from tests.fakes.notebooks import CellValue, code, markdown, ran
from tests.unit.output.pictures import encoded, png


def cell(value: CellValue) -> Cell:
    return Cell(json.dumps(value).encode(), Style())


def display(**data: Any) -> dict[str, Any]:
    bundle = {name.replace("__", "/"): value for name, value in data.items()}
    return {"output_type": "display_data", "metadata": {}, "data": bundle}


@pytest.mark.parametrize(
    ("value", "heading"),
    [
        (markdown("x"), "── cell 4 (markdown)"),
        (markdown("x", "m"), "── cell 4 (markdown, id m)"),
        (code("x"), "── cell 4 (code, not run)"),
        (ran(code("x", "k", tags=["b", "a"]), "1\n", 12), "── cell 4 (code, id k, run as [12], 1 output, tagged a, b)"),
        (code("x", outputs=[display(), display()]), "── cell 4 (code, not run, 2 outputs)"),
    ],
)
def test_the_heading_says_what_the_cell_is(value: CellValue, heading: str) -> None:
    assert shown_cell(4, cell(value), outputs="none") == f"{heading}\nx"


def test_escape_sequences_do_not_get_through() -> None:
    value = ran(code("\x1b[31mred\x1b[0m"), "\x1b[31mred\x1b[0m\n")
    assert "\x1b" not in shown_cell(0, cell(value), outputs="full")


def test_in_brief_a_long_text_is_its_beginning_and_how_much_there_is() -> None:
    text = {"output_type": "stream", "name": "stderr", "text": [f"{number}\n" for number in range(7)]}
    brief, full = shown_output(text, full=False), shown_output(text, full=True)
    assert brief == "  stderr:\n    0\n    1\n    2\n    3\n    4\n    [… 2 more lines, 14 B in all]"
    assert full.splitlines() == ["  stderr:", *(f"    {number}" for number in range(7))]


def test_in_brief_one_endless_line_is_cut_too() -> None:
    brief = shown_output({"output_type": "stream", "name": "stdout", "text": "x" * 100_000}, full=False)
    assert len(brief) < 500


def test_an_error_is_its_last_line_in_brief_and_its_traceback_in_full() -> None:
    error = {"output_type": "error", "ename": "E", "evalue": "why", "traceback": ["frame", "E: why"]}
    assert shown_output(error, full=False) == "  error: E: why"
    assert shown_output(error, full=True) == "  error:\n    frame\n    E: why"


def test_a_bundle_says_what_it_has() -> None:
    output = display(text__plain="<X>", image__png=encoded(png(3, 2)), application__pdf="JVBE")
    assert shown_output(output, full=False) == "  display:\n    <X>\n    [image/png 3x2]\n    [application/pdf]"


@pytest.mark.parametrize(
    "output",
    [
        {},
        {"output_type": "display_data"},
        {"output_type": "display_data", "data": 3},
        {"output_type": "error"},
        {"output_type": "error", "traceback": "text"},
        {"output_type": "stream"},
        {"output_type": "stream", "text": [1, None]},
        {"output_type": "from the future", "x": 1},
        {"output_type": "display_data", "data": {"image/png": [1], "text/plain": 3}},
    ],
)
@pytest.mark.parametrize("full", [False, True])
def test_an_output_that_is_none_is_shown_somehow(output: dict[str, Any], full: bool) -> None:
    assert isinstance(shown_output(output, full=full), str)
    assert pictures_of(output) == []


def test_pictures_are_found_as_text_and_as_lines_and_broken_ones_are_left_out() -> None:
    whole = encoded(png(3, 2))
    assert pictures_of(display(image__png=whole)) == [("image/png", whole)]
    assert pictures_of(display(image__png=[whole[:10], whole[10:]])) == [("image/png", whole)]
    assert pictures_of(display(image__png="bm9uZQ==", image__jpeg="***")) == []
