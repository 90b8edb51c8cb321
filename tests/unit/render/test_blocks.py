"""What there is to see of a cell: of each output, the form of it that shows most."""

import re
from typing import Any

import pytest

from pisces.notebooks.cell import Cell
from pisces.notebooks.style import Style
from pisces.render.blocks import (
    Block,
    Code,
    Formatted,
    Heading,
    Image,
    Markdown,
    Remark,
    Tree,
    Words,
    blocks_of,
    blocks_of_output,
    language_of,
)
from pisces.render.cells import cell_rows
from pisces.render.look import Look
from pisces.render.view import CellView
from tests.fakes.cell_views import text_of

PNG = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
TABLE = "<table><tr><th>a</th><th>b</th></tr><tr><td>1</td><td>2</td></tr></table>"


def cell(**members: Any) -> Cell:
    style = Style()
    return Cell(style.encode({"metadata": {}, "source": "x = 1\ny", **members}), style)


def blocks(made: Cell, *, outputs: bool = True) -> list[Block]:
    return list(blocks_of(3, made, language="python", outputs=outputs))


def display(**data: Any) -> list[Block]:
    bundle = {key.replace("__", "/"): value for key, value in data.items()}
    return list(blocks_of_output({"output_type": "display_data", "data": bundle, "metadata": {}}))


def test_a_code_cell_has_a_heading_its_source_and_its_outputs() -> None:
    output = {"output_type": "stream", "name": "stderr", "text": ["one\n", "two\n"]}
    made = cell(cell_type="code", id="ab", execution_count=7, outputs=[output], metadata={"tags": ["z", "a"]})
    assert blocks(made) == [
        Heading(3, ("code", "[7]", "id ab", "tagged a, z")),
        Code("x = 1\ny", "python"),
        Words("one\ntwo\n", "stderr"),
    ]
    assert len(blocks(made, outputs=False)) == 2


def test_a_cell_that_was_never_run_has_no_number() -> None:
    assert blocks(cell(cell_type="code", execution_count=None, outputs=[]))[0] == Heading(3, ("code", "[]"))


@pytest.mark.parametrize(
    ("kind", "source"),
    [("markdown", Markdown("x = 1\ny")), ("raw", Code("x = 1\ny")), ("future", Code("x = 1\ny"))],
)
def test_other_cells_are_shown_as_what_they_are(kind: str, source: Block) -> None:
    assert blocks(cell(cell_type=kind)) == [Heading(3, (kind,)), source]


def test_sources_ids_and_tags_are_cleaned_of_terminal_control() -> None:
    made = cell(cell_type="code", id="a\x1b[2Jb", source="\x1b]0;x\x07y", metadata={"tags": ["t\x07"]}, outputs=[])
    assert blocks(made) == [Heading(3, ("code", "[]", "id ab", "tagged t")), Code("y", "python")]


def test_what_is_no_cell_is_named() -> None:
    blocks = list(blocks_of(3, Cell(b"5", Style()), language="python", outputs=True))
    assert blocks == [Heading(3, ("invalid",)), Remark("[a cell that is no object]")]


def test_a_table_stays_a_table_with_the_text_of_its_maker_beside_it() -> None:
    (block,) = display(text__html=TABLE, text__plain="   a  b\n0  1  2")
    assert isinstance(block, Formatted)
    assert block.text.splitlines()[0].replace(" ", "") == "|a|b|"
    assert block.plain == "   a  b\n0  1  2"
    assert block.fits(80)
    assert not block.fits(5)


def test_the_name_of_an_object_is_no_stand_in_for_its_table() -> None:
    (block,) = display(text__html=TABLE, text__plain="<Styler object at 0x7f>")
    assert isinstance(block, Formatted)
    assert (block.plain, block.unformatted) == ("", block.text)


def test_a_table_that_nothing_stands_in_for_is_text_where_it_would_lose_columns() -> None:
    (block,) = display(text__html=TABLE)
    assert isinstance(block, Formatted)
    assert (block.fits(80), block.fits(5)) == (True, False)
    shown = text_of(cell_rows(CellView(code="", blocks=(block,)), Look(width=20, expanded=True)))
    assert all(word in shown for word in re.findall(r"\w+", block.text))


@pytest.mark.parametrize(
    ("data", "shown"),
    [
        ({"text__markdown": "**a**", "text__plain": "a"}, [Formatted("**a**")]),
        ({"text__plain": ["a\n", "b"]}, [Words("a\nb")]),
        ({"text__html": "<i>a</i>", "text__plain": "a"}, [Words("a")]),
        ({"text__html": "<i>a</i>"}, [Formatted("*a*")]),
        ({"application__json": {"a": [1]}, "text__plain": "<JSON>"}, [Tree({"a": [1]})]),
        ({"image__png": PNG, "text__plain": "<Figure>"}, [Image("image/png", PNG, 1, 1)]),
        ({"image__png": PNG[:40] + "\n" + PNG[40:]}, [Image("image/png", PNG, 1, 1)]),
        ({"image__svg+xml": "<svg/>"}, [Remark("[image/svg+xml]")]),
        ({"application__vnd.x+json": {}, "text__plain": "Slider"}, [Words("Slider")]),
        ({"text__plain": 7}, [Remark("[text/plain]")]),
        ({}, []),
    ],
    ids=[
        "markdown",
        "lines",
        "html-plain",
        "html",
        "json",
        "picture",
        "wrapped-base64",
        "svg",
        "widget",
        "broken-text",
        "nothing",
    ],
)
def test_the_richest_form_that_can_be_shown_is_chosen(data: dict[str, Any], shown: list[Block]) -> None:
    assert display(**data) == shown


def test_a_broken_picture_is_told_and_the_text_beside_it_shown() -> None:
    first, second = display(image__png="!!", text__plain="<Figure>")
    assert isinstance(first, Remark)
    assert first.text.startswith("[image/png cannot be shown: its base64 is broken")
    assert second == Words("<Figure>")


def test_an_error_is_its_traceback_or_else_its_name() -> None:
    error = {"output_type": "error", "ename": "E", "evalue": "v"}
    assert list(blocks_of_output({**error, "traceback": ["a", "b"]})) == [Words("a\nb", "error")]
    assert list(blocks_of_output({**error, "traceback": []})) == [Words("E: v", "error")]


def test_an_output_of_no_known_kind_is_named() -> None:
    assert list(blocks_of_output({"output_type": "pyout\x1b[2J"})) == [Remark("[pyout]")]


@pytest.mark.parametrize(
    ("metadata", "language"),
    [
        ({"language_info": {"name": "R"}, "kernelspec": {"language": "x"}}, "r"),
        ({"kernelspec": {"language": "julia"}}, "julia"),
        ({"language_info": {"name": "ipython"}}, "python"),
        ({"language_info": 7, "kernelspec": {"language": None}}, "python"),
        (None, "python"),
    ],
    ids=["info", "kernelspec", "ipython", "broken", "none"],
)
def test_the_language_is_that_of_the_metadata_or_else_python(metadata: Any, language: str) -> None:
    assert language_of(metadata) == language
