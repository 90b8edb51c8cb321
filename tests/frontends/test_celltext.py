"""Splitting a script into cells."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pisces.cli.celltext import split_cells


def titles_and_code(source: str) -> list[tuple[str, str]]:
    return [(cell.title, cell.code) for cell in split_cells(source)]


def test_a_script_without_markers_is_one_cell() -> None:
    assert titles_and_code("x = 1\nx") == [("", "x = 1\nx\n")]


@pytest.mark.parametrize(
    ("marker", "title"),
    [
        ("# %%", ""),
        ("#%%", ""),
        ("# %% Load the data", "Load the data"),
        ("# %%% A part of it", "A part of it"),
        ('# %% Plot tags=["slow"]', "Plot"),
        ('# %% {"tags": ["slow"]}', ""),
        ("# %%\tTabbed ", "Tabbed"),
    ],
)
def test_a_marker_begins_a_cell_with_its_title(marker: str, title: str) -> None:
    assert titles_and_code(f"a\n{marker}\nb\n") == [("", "a\n"), (title, "b\n")]


@pytest.mark.parametrize("line", ["# %%time", "    # %%", "x = 1  # %%", "# 5 %% 3"])
def test_what_only_looks_like_a_marker_stays_in_its_cell(line: str) -> None:
    assert titles_and_code(f"a\n{line}\nb\n") == [("", f"a\n{line}\nb\n")]


@pytest.mark.parametrize("quotes", ["'''", '"""'])
def test_a_marker_inside_a_text_is_text(quotes: str) -> None:
    source = f"a = {quotes}\n# %% no cell\n{quotes}\n"
    assert titles_and_code(source) == [("", source)]


def test_an_apostrophe_in_a_comment_or_a_command_opens_no_text() -> None:
    source = "# it's\n!echo it's\n# %% Next\nb\n"
    assert titles_and_code(source) == [("", "# it's\n!echo it's\n"), ("Next", "b\n")]


# The time grew with the square of their number: this took hours.
def test_a_line_of_many_quotes_behind_backslashes_is_read_at_once() -> None:
    source = "!echo " + '\\"' * 1_000_000 + "\n# %% Next\nb\n"
    assert [title for title, _ in titles_and_code(source)] == ["", "Next"]


@pytest.mark.parametrize("kind", ["[markdown]", "[md]", "[raw]", "About [markdown]"])
def test_cells_of_words_are_left_out(kind: str) -> None:
    assert titles_and_code(f"# %% {kind}\n# words\n# %%\nb\n") == [("", "b\n")]


def test_cells_without_code_are_left_out() -> None:
    assert titles_and_code("# a header\n\n# %% Empty\n\n# %% Comment\n# nothing\n") == []


LINES = st.sampled_from(["x = 1", "print('# %%')", "", "# %%", "# %% T", "'''", "# it's", "  y = 2"])


@given(st.lists(LINES, max_size=12))
def test_no_line_of_code_is_lost_or_moved(lines: list[str]) -> None:
    source = "\n".join(lines)
    joined = "\n".join(cell.code for cell in split_cells(source))
    kept = [line for line in joined.splitlines() if "x = 1" in line or "y = 2" in line]
    assert kept == [line for line in lines if "x = 1" in line or "y = 2" in line]
