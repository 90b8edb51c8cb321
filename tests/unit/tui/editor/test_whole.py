"""When Enter runs what was typed, and where the next line begins."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pisces.tui.editor.whole import is_whole, next_indent, one_level_less


@pytest.mark.parametrize(
    "text",
    [
        "1",
        "x = (1,\n2)",
        "if x: y",
        "if x:\n    y\n",
        "if x:\n    y\n    ",
        "for i in a:\n    f(i)\nprint(2)",
        "'''a\nb'''",
        "x = 'not closed",
        "x # (",
        "x = '(' # it is in a string",
        ")",
        "(]",
        "!ls (",
        "! ls 'it",
        "%cd (",
        "%time x = [",
        "x = !ls (",
        "?print",
        "x.y?",
        "%%time\nx\n",
        "%%bash\nif x; then\n",
        "@decorated\ndef f():\n    1\n",
        "$ 1 + 1",
        "lines = %who (",
        'f"""{x}"""',
        "x = r'\\'",
        "",
    ],
)
def test_enter_runs_what_is_whole_or_cannot_become_so(text: str) -> None:
    assert is_whole(text)


@pytest.mark.parametrize(
    "text",
    [
        "x = (",
        "f(1,\n  [2,",
        "f(1,\n\n",
        "if x:",
        "if x: # why",
        "if x:\n",
        "$ if x:",
        "if x:\n    y",
        "if x:\n    y\nelse:",
        "@decorated",
        "'''a",
        '"""a\n\n',
        "f('''(''', ",
        "x = 1 + \\",
        "x = 'a\\",
        "%%time",
        "%%time\nx",
        "! ls \\",
        "x = {'a': [1,\n",
    ],
)
def test_enter_makes_a_new_line_where_more_has_to_come(text: str) -> None:
    assert not is_whole(text)


@pytest.mark.parametrize(
    ("before", "indent"),
    [
        ("x", ""),
        ("if x:", "    "),
        ("if x:  # why", "    "),
        ("    if x:", "        "),
        ("if x:\n    y", "    "),
        ("if x:\n    return 1", ""),
        ("if x:\n    if y:\n        pass", "    "),
        ("returned = 1", ""),
        ("f(", "    "),
        ("f(\n    1,", "    "),
        ("f(1,", ""),
        ("x = {  # why", "    "),
        ("'''if x:", ""),
        ("'''\n  a", "  "),
        ("%%bash\nif x:", ""),
        ("! if x:", ""),
        ("if x:\n\ty", "\t"),
        ("x = a[1:", ""),
    ],
)
def test_a_new_line_is_indented_as_far_as_it_should_be(before: str, indent: str) -> None:
    assert next_indent(before) == indent


@pytest.mark.parametrize(("white", "less"), [("", ""), (" ", ""), ("    ", ""), ("      ", "    "), ("\t\t", "\t")])
def test_one_level_less(white: str, less: str) -> None:
    assert one_level_less(white) == less


pieces = st.sampled_from([*"ab \t\n()[]{}'\"\\#:%!$@?=", "'''", '"""', "if x:\n", "    "])


@given(st.lists(pieces, max_size=60).map("".join) | st.text())
def test_any_text_is_judged_and_indented_by_white_space_only(text: str) -> None:
    assert is_whole(text) in (True, False)
    assert next_indent(text).strip(" \t") == ""


@given(st.lists(pieces, max_size=60).map("".join))
def test_empty_lines_end_whatever_has_no_bracket_string_or_head_open(text: str) -> None:
    if is_whole(text) and not text.rstrip("\n ").endswith("\\"):
        assert is_whole(text + "\n")


@pytest.mark.parametrize("piece", ["(", "'", '"""', "\\", " ", "\n", "x = 1\n", "a[b] ", "%", "#", "x, "])
def test_a_long_text_of_anything_is_judged_at_once(piece: str) -> None:
    text = (piece * 100_000)[:100_000]
    began = time.process_time()
    is_whole(text)
    next_indent(text)
    assert time.process_time() - began < 2.5
