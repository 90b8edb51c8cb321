"""Whatever the cell: plain Python stays as it is, and special syntax is what IPython takes it for."""

import ast

from hypothesis import example, given
from hypothesis import strategies as st

from pisces.guest.transform import transform_cell
from tests.unit.guest.special_syntax import comparable, transformed_by_ipython

PLAIN = [
    "x = 1",
    "x %= 3",
    "y = (1\n% 3\n)",
    "z = 7 \\\n% 3",
    "s = '''\n%cd\n!ls\nx?\n'''",
    's = "a # ?"  # it\'s',
    "d = {'a': [1, 2], 'b': f'{x!r:>5}'}",
    "f(a=1, b='=!')",
    "a != b; c == d",
    "g = lambda q=1: q % 2",
    "# what?",
    "",
    "w: int = x if x else y",
]
SPECIAL = [
    "%cd ..",
    "!ls 'oops",
    "!!ls | wc",
    "v = !ls",
    "v = %pwd",
    "x?",
    "x.y[0]??",
    "?x",
    "!a \\\n  b",
    "%t x\\\n y",
]
OPEN = ["!echo (", "v = !echo [ {", '%cd "', "!echo '''"]
"""What would swallow the lines below it if it were read as Python; IPython can be led astray by it."""
OPENINGS = ["if x:", "for i in x:", "def f(a=1):", "with x as y:", "while x % 2:", "class A(B):"]


def indented(lines: list[str]) -> str:
    """A block of these lines; a line that goes on below keeps its own indentation there."""
    return "\n".join("    " + line for line in lines)


def cells(lines: list[str]) -> st.SearchStrategy[str]:
    """Cells of these lines, in blocks and out of them."""
    line = st.sampled_from(lines)
    block = st.builds(
        lambda opening, body: opening + "\n" + indented([*body, "pass"]),
        st.sampled_from(OPENINGS),
        st.lists(line, max_size=4),
    )
    return st.lists(line | block, min_size=1, max_size=8).map("\n".join)


@given(cells(PLAIN))
def test_plain_python_is_left_as_it_is(cell: str) -> None:
    ast.parse(cell)
    assert transform_cell(cell) == cell


@given(cells(PLAIN + SPECIAL))
def test_a_mixed_cell_is_what_ipython_makes_of_it(cell: str) -> None:
    assert comparable(transform_cell(cell)) == comparable(transformed_by_ipython(cell))


@given(cells(PLAIN + SPECIAL + OPEN))
def test_a_mixed_cell_becomes_python_with_as_many_lines(cell: str) -> None:
    transformed = transform_cell(cell)
    ast.parse(transformed)
    assert transformed.rstrip("\n").count("\n") <= cell.count("\n")
    assert transformed.count("\n") >= cell.count("\n")


@given(st.text(alphabet="%!?ab \n\t=(){}[]#'\\,;/.>:", max_size=60))
@example("x = !")
@example("\\\n%")
@example("'''\n%a")
def test_no_text_is_too_odd_and_none_is_lost_in_a_string(text: str) -> None:
    transform_cell(text)
    body = text.replace("\\", "").replace('"', "")
    cell = f'x = r"""{body}"""\ny = x'
    assert transform_cell(cell) == cell
