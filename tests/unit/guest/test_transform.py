import pytest

from pisces.guest.transform import SHELL_NAME, clean_cell, rewrite_special_syntax, transform_cell
from tests.unit.guest.special_syntax import CELLS, comparable, transformed_by_ipython


@pytest.mark.parametrize("cell", CELLS.values(), ids=CELLS)
def test_special_syntax_means_what_it_means_to_ipython(cell: str) -> None:
    assert comparable(transform_cell(cell)) == comparable(transformed_by_ipython(cell))


@pytest.mark.parametrize(
    ("cell", "expected"),
    [
        ("%cd ..", "S.run_line_magic('cd', '..')\n"),
        ("!ls 'a'", "S.system(\"ls 'a'\")\n"),
        ("!!ls", "S.getoutput('ls')\n"),
        ("if x:\n    y = !ls", "if x:\n    y = S.getoutput('ls')\n"),
        ("%%bash -e\nls", "S.run_cell_magic('bash', '-e', 'ls\\n')\n"),
        ("a.b?", "S.run_line_magic('pinfo', 'a.b')\n"),
        ("a.b??", "S.run_line_magic('pinfo2', 'a.b')\n"),
        ("a.b*?", "S.run_line_magic('psearch', 'a.b*')\n"),
        ("?", "S.show_usage()\n"),
    ],
)
def test_special_syntax_becomes_a_call_of_the_shell(cell: str, expected: str) -> None:
    assert transform_cell(cell) == expected.replace("S.", SHELL_NAME + ".")


@pytest.mark.parametrize(
    "cell",
    [
        "1+1",
        "",
        "\n\n  \nx = 1\n\n",
        "x = '''\n%cd\n!ls\n  \n?\n'''",
        "x = 7 \\\n    % 3",
        "x = (7\n% 3\n/ 2\n, 1)",
        "a != b\nc %= d\n'?'\n# help?",
        "y = a[\n...: 3]",
        "x = a \\\n!= 3",
        "  # a comment that is indented\nx = 1",
        "print(f'{x!r:>{w}}')  # %cd",
        "s = 'a\\\n%b\\\n!c'",
        "x = 1\r\nif x:\r\n\ty = '''\r\n!a'''\r\n",
    ],
)
def test_plain_python_comes_back_as_the_very_same_text(cell: str) -> None:
    assert transform_cell(cell) == cell


def test_a_plain_cell_is_not_even_read() -> None:
    cell = "import os\nfor name in os.listdir():\n    print(name, 5 % 3, 'what?', a != b)\n"
    assert rewrite_special_syntax(cell) is cell


@pytest.mark.parametrize(
    "cell", ["!ls \\\n -l \\\n -a\n1/0", "x = !ls \\\n -l\n\n1/0", "(a,\nb) = zip?\n\n1/0", "\n\n%cd\n1/0"]
)
def test_lines_after_special_syntax_keep_their_numbers(cell: str) -> None:
    transformed = transform_cell(cell)
    assert transformed.split("\n").index("1/0") == cell.split("\n").index("1/0")


def test_a_blank_line_in_a_string_keeps_its_spaces() -> None:
    assert transform_cell("x = '''\n   \n'''\n%cd").startswith("x = '''\n   \n'''\n")


def test_prompts_in_the_body_of_a_cell_magic_stay() -> None:
    assert transform_cell("%%writefile a\n>>> x\n...: y\n").endswith("'>>> x\\n...: y\\n')\n")


def test_a_bracket_in_a_command_does_not_swallow_what_follows() -> None:
    assert len(comparable(transform_cell("v = !ls (\npass\nx?"))) == 3


def test_many_special_lines_are_no_limit() -> None:
    cell = "%cd\n" * 2000
    assert transform_cell(cell).count("run_line_magic") == 2000


def test_cleaning_leaves_special_syntax_for_tracebacks() -> None:
    assert clean_cell("    >>> !ls\n    >>> %cd") == "!ls\n%cd"
    assert clean_cell("      \n    >>> !ls\n") == "  \n!ls\n"


# The time grew with the square of the length: this took hours.
@pytest.mark.parametrize("end", ["", " ?"])
def test_a_long_word_in_a_command_is_read_at_once(end: str) -> None:
    assert transform_cell(f"!echo {'a' * 1_000_000}{end}").startswith(f"{SHELL_NAME}.system(")
