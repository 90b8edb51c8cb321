import io
import sysconfig
import tokenize
from pathlib import Path

import pytest

from pisces.guest.lexer import read_logical_line

STANDARD_LIBRARY = Path(sysconfig.get_path("stdlib"))


def ends_of_logical_lines(source: str) -> list[int]:
    """The numbers of the lines on which the statements of a module end, by our lexer."""
    ends, position, line = [], 0, 0
    while position < len(source):
        end = read_logical_line(source, position).end
        text = source[position:end]
        line += text.count("\n")
        if any(part.strip() and not part.strip().startswith("#") for part in text.split("\n")):
            ends.append(line)
        position = end
    return ends


@pytest.mark.parametrize("name", ["argparse", "ast", "dataclasses", "difflib", "pydoc", "string", "textwrap", "typing"])
def test_logical_lines_end_where_the_standard_tokenizer_says(name: str) -> None:
    source = (STANDARD_LIBRARY / f"{name}.py").read_text(encoding="utf-8")
    tokens = tokenize.generate_tokens(io.StringIO(source).readline)
    expected = [token.end[0] for token in tokens if token.type == tokenize.NEWLINE and token.string]
    assert ends_of_logical_lines(source) == expected


@pytest.mark.parametrize(
    "first",
    [
        "x = f'{a[0]}'",
        "x = f'{{ ( }}'",
        "x = f'\\{a}('",
        "x = f'''{a}\n( {b:(^{w}} ' '''",
        "x = rb'\\''",
        "x = 'a\\'(b'  # it's (",
        "x = '''a\\'''('''",
        "x = (1,\n  ')', # )\n  2)",
        "x = 1 + \\\n  2",
    ],
)
def test_a_logical_line_ends_at_its_own_newline(first: str) -> None:
    assert read_logical_line(first + "\nrest", 0).end == len(first) + 1


@pytest.mark.skipif("sys.version_info < (3, 12)", reason="quotes cannot be reused in an f-string before Python 3.12")
@pytest.mark.parametrize("first", ["x = f'{f('(')}'", "x = f'{d['#']}'", "x = f'{a:{b['}']}}'", "x = f'{\na['(']\n}'"])
def test_a_field_of_an_f_string_may_use_its_quotes(first: str) -> None:
    assert read_logical_line(first + "\nrest", 0).end == len(first) + 1


def test_a_string_that_is_not_closed_ends_with_its_line() -> None:
    assert read_logical_line("x = 'oops\nrest", 0).end == len("x = 'oops\n")


def test_reading_stops_at_a_command_because_the_rest_is_not_python() -> None:
    line = read_logical_line("x = !echo 'oops\nrest", 0)
    assert (line.command, line.end, line.asks) == (4, 4, False)
