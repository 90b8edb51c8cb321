"""Source in colours: all of it is there, whatever the language and however long it is."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pisces.render.blocks import Formatted
from pisces.render.cells import cell_rows
from pisces.render.code import MOST_COLOURED, code_lines
from pisces.render.look import Look
from pisces.render.rich_part import MOST_LAID_OUT
from pisces.render.view import CellView
from tests.fakes.cell_views import text_of


def text(source: str, language: str = "python") -> list[str]:
    return ["".join(piece.text for piece in line) for line in code_lines(source, language)]


def has_styles(source: str, language: str = "python", *, coloured: bool = True) -> bool:
    return any(piece.style for line in code_lines(source, language, coloured=coloured) for piece in line)


@pytest.mark.parametrize("language", ["python", "py", "bash", "json", "julia", "no-such-language", ""])
@pytest.mark.parametrize(
    "source", ["", "x", "\n\nx = 1\n\n", "def f():\n\treturn 'a\n", "%matplotlib\n!ls", "x\r\ny", '"""a\nb'], ids=ascii
)
def test_every_line_is_there(source: str, language: str) -> None:
    expected = [line.rstrip("\r").expandtabs(8) for line in source.removesuffix("\n").split("\n")]
    assert text(source, language) == expected


@given(
    st.text(alphabet="abc \n\t'\"#(){}[]=:\\\\!%@$é漢", max_size=60),
    st.sampled_from(["python", "bash", "json", "markdown"]),
)
def test_whatever_is_typed_no_line_is_lost(source: str, language: str) -> None:
    assert text(source, language) == text(source, "no-such-language")


def test_code_has_colours_where_they_are_wanted() -> None:
    assert has_styles("import os")
    assert not has_styles("import os", coloured=False)
    assert not has_styles("import os", "no-such-language")


def test_what_ipython_adds_is_no_mistake() -> None:
    for line in code_lines("!ls", "python"):
        assert not any(piece.style and piece.style.bgcolor for piece in line)
        assert all(piece.text != "!" or piece.style is None for piece in line)


def test_a_source_that_takes_too_long_to_colour_is_shown_without() -> None:
    source = "x = 1\n" * (MOST_COLOURED // 6 + 1)
    assert not has_styles(source)
    assert text(source) == source.splitlines()


def test_markdown_that_takes_too_long_to_lay_out_is_shown_as_it_is_written() -> None:
    long = Formatted("* **a**\n" * (MOST_LAID_OUT // 8 + 1))
    assert "│ * **a**" in text_of(cell_rows(CellView(code="", blocks=(long,)), Look()))


def test_of_long_code_the_beginning_is_shown_and_the_rest_counted() -> None:
    shown = text_of(cell_rows(CellView(code="x = 1\n" * 30), Look())).split("\n")
    assert (len(shown), shown[-2]) == (14, "│ … 19 more lines")
    assert len(cell_rows(CellView(code="x = 1\n" * 30), Look(expanded=True))) == 32
