"""What two notebooks do not have in common is told cell by cell."""

import re
from collections.abc import Sequence
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from pisces.notebooks.compare import CellLike, as_lines, compare

PRINTED = {"output_type": "stream", "name": "stdout", "text": "1\n"}


def cells(*sources: str, ids: str = "") -> list[CellLike]:
    """Code cells; where `ids` are given, each letter is the id of one."""
    return [CellLike(index, ids[index : index + 1] or None, "code", source) for index, source in enumerate(sources)]


def one(**members: Any) -> list[CellLike]:
    return [CellLike(**{"index": 0, "id": "a", "cell_type": "code", "source": "x", **members})]


def told(old: Sequence[CellLike], new: Sequence[CellLike]) -> list[str]:
    return as_lines(compare(old, new))


def kinds(old: Sequence[CellLike], new: Sequence[CellLike]) -> list[tuple[str, int]]:
    found = compare(old, new)
    return [(change.kind, (change.new or change.old or cells("")[0]).index) for change in found]


def test_equal_notebooks_have_no_changes() -> None:
    assert compare(cells("a", "", "", "b"), cells("a", "", "", "b")) == []
    assert compare([], []) == []


def test_a_changed_source_is_told_as_a_unified_diff_with_three_lines_of_context() -> None:
    before = "\n".join(f"line {number}" for number in range(9))
    old, new = cells("same", before, ids="ab"), cells("same", before.replace("line 4", "other"), ids="ab")
    assert told(old, new) == [
        "cell 1 (code, id b): changed",
        "@@ -2,7 +2,7 @@",
        " line 1",
        " line 2",
        " line 3",
        "-line 4",
        "+other",
        " line 5",
        " line 6",
        " line 7",
    ]


def test_a_newline_at_the_end_is_a_difference() -> None:
    assert told(cells("a", ids="a"), cells("a\n", ids="a")) == [
        "cell 0 (code, id a): changed",
        "@@ -1 +1,2 @@",
        " a",
        "+",
    ]


def test_cells_that_come_and_go_are_shown_whole_and_in_their_places() -> None:
    old = cells("first", "gone\naway", "last")
    new = [*cells("first", "last"), CellLike(2, "n", "markdown", "# New")]
    assert told(old, new) == [
        "cell 1 (code): removed",
        "-gone",
        "-away",
        "cell 2 (markdown, id n): added",
        "+# New",
    ]


def test_a_cell_that_comes_before_others_does_not_move_them() -> None:
    assert kinds(cells("a", "b", "c"), cells("new", "a", "b", "c")) == [("added", 0)]
    assert kinds(cells("gone", "a", "b", "c"), cells("a", "b", "c")) == [("removed", 0)]


def test_a_cell_that_stands_elsewhere_has_moved_and_the_others_have_not() -> None:
    assert told(cells("a", "b", "c", "d"), cells("b", "c", "a", "d")) == ["cell 2 (code): moved from 0"]


def test_a_cell_may_have_moved_and_changed() -> None:
    old, new = cells("a", "b", "c", ids="xyz"), cells("b", "c", "other", ids="yzx")
    assert told(old, new) == ["cell 2 (code, id x): changed, moved from 0", "@@ -1 +1 @@", "-a", "+other"]


def test_the_id_tells_which_cell_it_is_even_where_the_sources_are_swapped() -> None:
    old, new = cells("one", "two", ids="ab"), cells("two", "one", ids="ab")
    assert kinds(old, new) == [("changed", 0), ("changed", 1)]


def test_ids_that_two_cells_share_tell_nothing() -> None:
    assert compare(cells("one", "two", ids="aa"), cells("one", "two", ids="aa")) == []


def test_a_new_id_alone_is_no_difference() -> None:
    assert compare(cells("one", "two"), cells("one", "two", ids="ab")) == []


def test_which_of_many_empty_cells_is_gone_is_known_by_their_neighbours() -> None:
    assert kinds(cells("a", "", "b", ""), cells("a", "b", "")) == [("removed", 1)]
    assert kinds(cells("", "a", ""), cells("a", "")) == [("removed", 0)]


def test_a_cell_without_an_id_is_known_by_most_of_its_words() -> None:
    old = cells("load(path)", "plot(frame, color, width)\nshow()", "save(target)")
    new = cells("load(path)", "plot(frame, color, height)\nshow()", "save(target)")
    assert kinds(old, new) == [("changed", 1)]


def test_cells_with_little_in_common_are_two_cells() -> None:
    assert kinds(cells("a", "import os", "z"), cells("a", "plot(frame)", "z")) == [("removed", 1), ("added", 1)]


def test_the_most_alike_belong_together_not_the_first_that_would_do() -> None:
    whole, half, most = "alpha beta gamma delta", "alpha beta other more", "alpha beta gamma epsilon"
    assert kinds(cells(whole), cells(half, most)) == [("added", 0), ("changed", 1)]
    assert kinds(cells(half, whole), cells(most)) == [("removed", 0), ("changed", 0)]


def test_a_changed_cell_is_found_behind_many_new_ones() -> None:
    added = [f"alpha beta gamma other_{number}" for number in range(50)]
    old, new = cells("anchor", "alpha beta gamma delta"), cells(*added, "anchor", "alpha beta gamma epsilon")
    assert kinds(old, new)[-1] == ("changed", 51)


def test_what_is_gone_is_told_where_it_was_among_the_cells_that_stayed() -> None:
    old, new = cells("moves", "gone", "a", "b", "c", "d"), cells("a", "b", "moves", "c", "d")
    assert kinds(old, new) == [("removed", 1), ("moved", 2)]


def test_a_cell_that_changed_its_type_is_the_same_cell() -> None:
    old, new = [CellLike(0, None, "code", "# Title")], [CellLike(0, None, "markdown", "# Title")]
    assert told(old, new) == ["cell 0 (markdown): changed", "  type: code → markdown"]


def test_metadata_is_told_key_by_key_and_long_values_are_cut() -> None:
    old, new = (
        one(metadata={"gone": 1, "tags": ["a"], "same": 0}),
        one(metadata={"tags": ["b"], "same": 0, "new": "x" * 99}),
    )
    assert told(old, new) == [
        "cell 0 (code, id a): changed",
        "  metadata gone: removed 1",
        '  metadata new: added "' + "x" * 58 + "…",
        '  metadata tags: ["a"] → ["b"]',
    ]


def test_a_value_that_is_no_number_equals_itself() -> None:
    assert compare(one(metadata={"a": float("nan")}), one(metadata={"a": float("nan")})) == []


def test_outputs_are_told_by_their_kinds() -> None:
    picture = {"output_type": "display_data", "data": {"text/plain": "<I>", "image/png": "AA"}, "metadata": {}}
    value = {"output_type": "execute_result", "data": {"text/plain": "1"}, "metadata": {}, "execution_count": 1}
    failed = {"output_type": "error", "ename": "ValueError", "evalue": "", "traceback": []}
    assert told(one(), one(outputs=[PRINTED, picture, value, failed])) == [
        "cell 0 (code, id a): changed",
        "  outputs: none → stdout, image/png, text/plain, ValueError",
    ]
    assert told(one(outputs=[PRINTED]), one(outputs=[{**PRINTED, "text": "2\n"}]))[1] == "  outputs: changed (stdout)"
    assert told(one(), one(outputs=[PRINTED] * 7))[1] == "  outputs: none → " + "stdout, " * 5 + "2 more"
    assert told([], one(outputs=[PRINTED])) == ["cell 0 (code, id a): added", "  outputs: stdout", "+x"]


def test_lists_of_lines_and_counts_of_runs_make_no_difference() -> None:
    value = {"output_type": "execute_result", "data": {"text/plain": "a\nb"}, "metadata": {}, "execution_count": 1}
    other = {**value, "data": {"text/plain": ["a\n", "b"]}, "execution_count": 9}
    assert compare(one(outputs=[PRINTED, value]), one(outputs=[{**PRINTED, "text": ["1\n"]}, other])) == []


def test_a_source_of_very_many_lines_is_not_compared_line_by_line() -> None:
    assert told(one(source="x\n" * 6000), one(source="x\n" * 6001)) == [
        "cell 0 (code, id a): changed",
        "  source: 6001 lines → 6002 lines, too many to compare one by one",
    ]


def test_a_thousand_cells_that_all_changed_are_matched_one_by_one() -> None:
    def sources(word: str) -> list[str]:
        return [f"step_{number} = load(path_{number})\nshow(step_{number}, {word})" for number in range(1000)]

    found = compare(cells(*sources("red")), cells(*sources("blue")))
    assert [(change.kind, change.moved, change.old and change.old.index) for change in found] == [
        ("changed", False, number) for number in range(1000)
    ]


SOURCE = st.lists(st.sampled_from(["", "a", "b = 1", "c d e", "\r"]), max_size=4).map("\n".join)
CELL = st.tuples(st.sampled_from([None, "p", "q", "r", "s"]), st.sampled_from(["code", "markdown"]), SOURCE)
NOTEBOOK = st.lists(CELL, max_size=8).map(
    lambda made: [CellLike(index, cell[0], cell[1], cell[2]) for index, cell in enumerate(made)]
)


def patched(old: list[str], diff: Sequence[str]) -> list[str]:
    """Lines with the hunks of a unified diff applied."""
    result: list[str] = []
    at = 0
    for line in diff:
        if hunk := re.fullmatch(r"@@ -(\d+)(?:,(\d+))? \+.* @@", line):
            start = int(hunk[1]) - (hunk[2] != "0")
            result += old[at:start]
            at = start
        elif line.startswith("+"):
            result.append(line[1:])
        else:
            assert old[at] == line[1:]
            result += [old[at]] if line.startswith(" ") else []
            at += 1
    return result + old[at:]


def lines(source: str) -> list[str]:
    return source.split("\n") if source else []


@given(old=NOTEBOOK, new=NOTEBOOK)
def test_the_changes_lead_from_one_notebook_to_the_other(old: list[CellLike], new: list[CellLike]) -> None:
    changes = compare(old, new)
    of_new = {change.new.index: change for change in changes if change.new}
    of_old = {change.old.index for change in changes if change.old}
    untouched = (cell for cell in old if cell.index not in of_old)
    order = []
    for cell in new:
        change = of_new.get(cell.index)
        before = change.old if change else next(untouched)
        if before is not None:
            order += [] if change and change.moved else [before.index]
            diff = change.source if change else ()
            assert patched(lines(before.source), diff) == lines(cell.source)
    assert next(untouched, None) is None
    assert order == sorted(order)


@given(cells_of_both=NOTEBOOK)
def test_a_notebook_has_no_changes_to_itself(cells_of_both: list[CellLike]) -> None:
    assert compare(cells_of_both, list(cells_of_both)) == []
