"""The text that is edited: markers, escapes, line ends, and what is no such text."""

from typing import Any

import pytest

from pisces.errors import NotebookError
from pisces.notebooks.celltext import TextCell, from_text, has_crlf, to_text

PATH = "folder/a.ipynb"


def sources(text: str) -> list[str]:
    return [cell.source for cell in from_text(text, PATH)]


def refusal(text: str) -> NotebookError:
    with pytest.raises(NotebookError) as caught:
        from_text(text, PATH)
    return caught.value


def test_each_cell_stands_below_a_marker_that_counts_from_0() -> None:
    cells: list[tuple[Any, str]] = [("code", "a = 1\nb = 2"), ("markdown", "# Title"), ("raw", "x")]
    assert to_text(cells) == (
        "# %% [code] cell:0\na = 1\nb = 2\n# %% [markdown] cell:1\n# Title\n# %% [raw] cell:2\nx\n"
    )


@pytest.mark.parametrize(
    ("source", "below"),
    [("", "\n"), ("a", "a\n"), ("a\n", "a\n\n"), ("\n", "\n\n"), ("a\n\n", "a\n\n\n"), ("a\r", "a\r\n")],
)
def test_exactly_one_newline_follows_a_source(source: str, below: str) -> None:
    text = to_text([("code", source), ("code", source)])
    assert text == f"# %% [code] cell:0\n{below}# %% [code] cell:1\n{below}"
    assert sources(text) == [source, source]


def test_no_cells_are_an_empty_text() -> None:
    assert to_text([]) == ""
    assert from_text("", PATH) == []


def test_a_cell_of_a_text_knows_its_type_its_number_and_its_line() -> None:
    text = "# %% [code] cell:7\na\n\n# %% [markdown]\n# %% [raw] cell:0\n"
    assert from_text(text, PATH) == [
        TextCell("code", 7, "a\n", 1),
        TextCell("markdown", None, "", 4),
        TextCell("raw", 0, "", 5),
    ]


@pytest.mark.parametrize(
    ("line", "shown"),
    [
        ("# %% [code] cell:3", "# %%% [code] cell:3"),
        ("# %% [markdown]", "# %%% [markdown]"),
        ("# %% [raw] anything", "# %%% [raw] anything"),
        ("# %%% [code]", "# %%%% [code]"),
        ("# %%%%%% [code]x", "# %%%%%%% [code]x"),
    ],
)
def test_a_line_that_looks_like_a_marker_gets_one_more_percent_sign(line: str, shown: str) -> None:
    text = to_text([("code", f"a\n{line}\nb"), ("code", line)])
    assert text.split("\n") == ["# %% [code] cell:0", "a", shown, "b", "# %% [code] cell:1", shown, ""]
    assert sources(text) == [f"a\n{line}\nb", line]


@pytest.mark.parametrize(
    "line",
    ["# %%", "#%% [code]", " # %% [code]", "# %% [Code]", "# %% [codes]", "#  %% [code]", "# % [code]", "# %%[raw]"],
)
def test_a_line_that_only_resembles_one_stays_as_it_is(line: str) -> None:
    assert to_text([("code", line)]) == f"# %% [code] cell:0\n{line}\n"
    assert sources(f"# %% [code]\n{line}\n") == [line]


def test_only_a_newline_ends_a_line() -> None:
    source = "a\r# %% [code]\x0b# %% [code]\u2028# %% [code]"
    assert to_text([("code", source)]) == f"# %% [code] cell:0\n{source}\n"
    assert sources(to_text([("code", source)])) == [source]


def test_the_last_newline_may_be_missing() -> None:
    assert sources("# %% [code]\na") == ["a"]
    assert sources("# %% [code]") == [""]
    assert sources("# %% [code]\n") == [""]
    assert sources("# %% [code]\n\n") == [""]


def test_white_space_behind_a_marker_does_no_harm() -> None:
    assert [cell.index for cell in from_text("# %% [code] cell:1 \t\na\n# %% [raw]  \n", PATH)] == [1, None]


def test_in_a_text_with_crlf_every_line_ends_in_it() -> None:
    text = "# %% [code] cell:0\r\na\r\n# %%% [raw]\r\n\r\n# %% [markdown]\r\nb\r\n"
    assert has_crlf(text)
    assert sources(text) == ["a\n# %% [raw]\n", "b"]


def test_in_a_text_without_it_a_carriage_return_belongs_to_its_line() -> None:
    text = "# %% [code] cell:0\na\r\nb\n# %% [markdown] cell:1\r\nc\n"
    assert not has_crlf(text)
    assert sources(text) == ["a\r\nb", "c"]
    assert [cell.index for cell in from_text(text, PATH)] == [0, 1]


def test_half_a_pair_of_surrogates_is_shown_as_one_character() -> None:
    text = to_text([("code", "a\ud83db\udc80")])
    assert text == "# %% [code] cell:0\na\ufffdb\ufffd\n"
    assert text.encode("utf-8")
    assert to_text([("code", "🙂é")]) == "# %% [code] cell:0\n🙂é\n"


def test_a_number_without_end_is_no_cell_of_the_file() -> None:
    assert [cell.index for cell in from_text(f"# %% [code] cell:{'9' * 5000}\n", PATH)] == [None]


@pytest.mark.parametrize(
    "first", ["", "print(1)", "\ufeff# %% [code]", "# %% [code] cell:x", "# %%% [code]", "# %% [sql] cell:0"]
)
def test_a_first_line_that_is_no_marker_is_refused(first: str) -> None:
    error = refusal(f"{first}\n# %% [code] cell:0\n")
    assert str(error) == (
        f"Invalid notebook editable representation for {PATH}: "
        f"expected first line to be `# %% [code|markdown|raw] cell:N`, got {first!r}"
    )
    assert "a new cell needs no ` cell:N`" in error.hint


def test_a_long_first_line_is_told_in_short() -> None:
    assert str(refusal("x" * 5000)).endswith(f"got '{'x' * 100}…'")


@pytest.mark.parametrize(
    "line", ["# %% [code] something else", "# %% [raw] cell:-1", "# %% [markdown] cell:1.0", "# %% [code]cell:1"]
)
def test_a_line_that_begins_like_a_marker_and_is_none_is_refused_with_its_number(line: str) -> None:
    error = refusal(f"# %% [code] cell:0\na\n# %% [raw] cell:1\n\n{line}\nb\n")
    assert str(error) == (
        f"Invalid notebook editable representation for {PATH}: line 5 begins like a marker but is none: {line!r}"
    )
    assert line.replace("# %%", "# %%%") in error.hint
