"""Lines put together to what can be run."""

import codeop

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pisces.tui.plain import gathering as gathering_module
from pisces.tui.plain.gathering import Gathering


def gathered(text: str, *, blank_ends: bool) -> list[str]:
    gathering = Gathering(blank_ends=blank_ends)
    whole = [each for line in text.split("\n") for each in gathering.take(line)]
    return [*whole, *gathering.finish()]


@pytest.mark.parametrize(
    ("text", "inputs"),
    [
        ("x = 1\nx", ["x = 1", "x"]),
        ("f(1,\n2)\nx", ["f(1,\n2)", "x"]),
        ("s = '''a\n\nb'''\nx", ["s = '''a\n\nb'''", "x"]),
        ("s = f(\n  '''a\nb)\n''',\n)\nx", ["s = f(\n  '''a\nb)\n''',\n)", "x"]),
        ("a = [\n  [1],\n  [2]]\nx", ["a = [\n  [1],\n  [2]]", "x"]),
        ("a = [\n{\n1:\n(2),\n},\n3]\n:undo", ["a = [\n{\n1:\n(2),\n},\n3]", ":undo"]),
        ("for i in a:\n  i\nx", ["for i in a:\n  i", "x"]),
        ("if a:\n  b\nelse:\n  c\nx", ["if a:\n  b\nelse:\n  c", "x"]),
        ("@f\ndef g():\n  pass\ng()", ["@f\ndef g():\n  pass", "g()"]),
        ("await f()", ["await f()"]),
        ("async with a:\n  b\nc", ["async with a:\n  b", "c"]),
        ("x = (\n1)\n:undo", ["x = (\n1)", ":undo"]),
        ("! ls", ["! ls"]),
        ("$ for i in a:\n  i\nx", ["$ for i in a:\n  i", "x"]),
        ("%%bash\nfor i in a; do\necho\ndone\n\nx", ["%%bash\nfor i in a; do\necho\ndone", "x"]),
        ("%time x", ["%time x"]),
        ("# a comment\n\n   \n", []),
        ("a b\nc", ["a b", "c"]),
    ],
)
@pytest.mark.parametrize("blank_ends", [True, False], ids=["typed", "piped"])
@pytest.mark.parametrize("many", [1, 50])
def test_lines_become_inputs(
    text: str, inputs: list[str], blank_ends: bool, many: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(gathering_module, "_MANY", many)
    assert gathered(text, blank_ends=blank_ends) == inputs


def test_an_empty_line_ends_a_block_that_is_typed_and_none_that_is_piped() -> None:
    text = "def f():\n    a = 1\n\n    return a\nf()"
    assert gathered(text, blank_ends=False) == ["def f():\n    a = 1\n\n    return a", "f()"]
    assert gathered(text, blank_ends=True)[0] == "def f():\n    a = 1"


@pytest.mark.parametrize(
    ("first", "line", "last"),
    [
        ("x = [", "    [1, 2],", "]"),
        ("x = [", "(1, 2),", "]"),
        ("x = '''", "f(x)", "'''"),
        ("def f():", "    x[0] = f(1)", "    return 1"),
    ],
    ids=["list", "list at the margin", "string", "function"],
)
def test_a_long_block_is_not_compiled_with_every_line(
    first: str, line: str, last: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    judged: list[str] = []
    judge = codeop.CommandCompiler.__call__

    def counted(self: codeop.CommandCompiler, source: str, filename: str, symbol: str) -> object:
        judged.append(source)
        return judge(self, source, filename, symbol)

    monkeypatch.setattr(codeop.CommandCompiler, "__call__", counted)
    block = "\n".join([first, *[line] * 500, last])
    assert gathered(f"{block}\ny", blank_ends=False) == [block, "y"]
    assert len(judged) < 60


def test_a_long_block_that_is_broken_takes_no_command_with_it() -> None:
    block = "\n".join(["for i in a:", *["    f(i)"] * 100, "    )"])
    assert gathered(f"{block}\n:undo", blank_ends=False) == [block, ":undo"]


def test_what_has_begun_can_be_dropped() -> None:
    gathering = Gathering(blank_ends=True)
    assert gathering.take("for i in a:") == []
    assert gathering.open
    gathering.drop()
    assert gathering.take("x") == ["x"]


LINES = st.lists(
    st.one_of(
        st.sampled_from(
            ["if a:", "  b", "else:", "x = (", ")", "'''", "@d", "%%m", "! c", ":c", "$ d", "", "# e", "\\"]
        ),
        st.text(max_size=8).map(lambda text: text.replace("\n", " ").replace("\r", " ")),
    ),
    max_size=12,
)


@given(LINES, st.booleans())
def test_no_line_of_code_is_lost_and_none_comes_twice(lines: list[str], blank_ends: bool) -> None:
    inputs = gathered("\n".join(lines), blank_ends=blank_ends)
    kept = [line for text in inputs for line in text.split("\n") if line.strip() and not line.lstrip().startswith("#")]
    wanted = [line for line in lines if line.strip() and not line.lstrip().startswith("#")]
    assert [line.rstrip() for line in kept] == [line.rstrip() for line in wanted]
