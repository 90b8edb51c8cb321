"""What an edited text makes of a notebook's file."""

import json
from typing import Any

import pytest

from pisces.errors import NotebookError
from pisces.notebooks.cell_view import Change, view, with_text
from pisces.notebooks.document import Document

PATH = "a.ipynb"
STREAM = {"name": "stdout", "output_type": "stream", "text": ["1\n"]}
CELLS: list[dict[str, Any]] = [
    {"cell_type": "markdown", "id": "one", "metadata": {}, "source": ["# Title\n", "text"]},
    {
        "cell_type": "code",
        "execution_count": 1,
        "id": "two",
        "metadata": {"k": 1},
        "outputs": [STREAM],
        "source": ["a = 1\n", "a"],
        "unknown": [None],
    },
    {"cell_type": "code", "execution_count": None, "id": "three", "metadata": {}, "outputs": [], "source": []},
    {"attachments": {"a.png": {}}, "cell_type": "raw", "id": "four", "metadata": {}, "source": "x\n"},
]
TEXT = """# %% [markdown] cell:0
# Title
text
# %% [code] cell:1
a = 1
a
# %% [code] cell:2

# %% [raw] cell:3
x

"""


def written(cells: list[dict[str, Any]]) -> bytes:
    notebook = {"cells": cells, "metadata": {"m": 1}, "nbformat": 4, "nbformat_minor": 5, "zz": 0}
    return json.dumps(notebook, indent=1).encode() + b"\n"


FILE = written(CELLS)


def cells_of(change: Change) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads(b"".join(change.pieces))["cells"]
    return found


def file_of(change: Change) -> bytes:
    return b"".join(change.pieces)


def of_sources(*sources: Any) -> bytes:
    return written([{**CELLS[2], "id": f"i{number}", "source": source} for number, source in enumerate(sources)])


def test_a_notebook_is_shown_as_text() -> None:
    assert view(FILE, PATH) == TEXT
    assert view(written([]), PATH) == ""


def test_a_text_that_was_not_changed_gives_the_same_file() -> None:
    change = with_text(FILE, TEXT, PATH)
    assert file_of(change) == FILE
    assert change.notes == ["Nothing changed."]
    assert (change.total_cells, change.changed, change.added, change.removed, change.stale) == (4, [], [], 0, [])


def test_a_changed_source_keeps_all_else_of_its_cell() -> None:
    change = with_text(FILE, TEXT.replace("a = 1", "a = 2"), PATH)
    assert file_of(change) == FILE.replace(b"a = 1", b"a = 2")
    assert (change.changed, change.stale) == ([1], [1])
    assert change.notes == [
        "Notebook now has 4 cells: 1 changed.",
        "The outputs of cell 1 are from before this edit.",
    ]


def test_outputs_of_several_cells_may_be_from_before() -> None:
    data = written([CELLS[1]] * 20)
    for count, told in [(2, "cells 0 and 1"), (3, "cells 0, 1 and 2"), (13, "13 cells")]:
        change = with_text(data, view(data, PATH).replace("a = 1", "a = 2", count), PATH)
        assert change.notes[1:] == [f"The outputs of {told} are from before this edit."]


def test_a_code_cell_without_outputs_has_none_from_before() -> None:
    change = with_text(FILE, TEXT.replace("cell:2\n\n", "cell:2\nb\n").replace("text", "Text"), PATH)
    assert (change.changed, change.stale) == ([0, 2], [])
    assert change.notes == ["Notebook now has 4 cells: 2 changed."]


def test_a_cell_of_another_type_has_the_members_of_that_type() -> None:
    text = TEXT.replace("[code] cell:1", "[markdown] cell:1").replace("[raw] cell:3", "[code] cell:3")
    change = with_text(FILE, text, PATH)
    told = CELLS[1].keys() - {"outputs", "execution_count"}
    assert cells_of(change)[1] == {key: CELLS[1][key] for key in told} | {"cell_type": "markdown"}
    assert cells_of(change)[3] == {
        "cell_type": "code", "execution_count": None, "id": "four", "metadata": {}, "outputs": [], "source": "x\n"
    }  # fmt: skip
    assert (change.changed, change.stale, change.dropped) == ([1, 3], [], [1])
    assert change.notes == [
        "Notebook now has 4 cells: 2 changed.",
        "The outputs of cell 1 are gone: only code has outputs.",
    ]


def test_cells_can_be_put_in_another_order() -> None:
    change = with_text(FILE, "# %% [raw] cell:3\nx\n\n" + TEXT.removesuffix("# %% [raw] cell:3\nx\n\n"), PATH)
    assert file_of(change) == written([CELLS[3], *CELLS[:3]])
    assert change.notes == ["Notebook now has 4 cells: reordered."]
    assert (change.changed, change.reordered) == ([], True)


def test_a_cell_that_is_left_out_goes_with_its_separator_only() -> None:
    change = with_text(FILE, TEXT.replace("# %% [code] cell:2\n\n", ""), PATH)
    assert file_of(change) == written([*CELLS[:2], CELLS[3]])
    assert change.notes == ["Notebook now has 3 cells: 1 removed."]
    odd = b'{"cells":[ {"cell_type":"raw"},\n\n{"cell_type":"code"}  , {"cell_type":"raw"} ]}'
    assert file_of(with_text(odd, "# %% [raw] cell:0\n\n# %% [raw] cell:2\n\n", PATH)) == (
        b'{"cells":[ {"cell_type":"raw"}  , {"cell_type":"raw"} ]}'
    )
    assert file_of(with_text(odd, "# %% [raw] cell:2\n\n", PATH)) == b'{"cells":[ {"cell_type":"raw"} ]}'
    gaps = b'[{"cell_type":"raw"},1{"cell_type":"raw"},2{"cell_type":"raw"},3{"cell_type":"raw"}]'
    for number in (1, 2, 3):
        gaps = gaps.replace(b",%d" % number, b"," + b" " * number)
    assert file_of(with_text(b'{"cells":%b}' % gaps, "# %% [raw] cell:1\n\n# %% [raw] cell:3\n\n", PATH)) == (
        b'{"cells":[{"cell_type":"raw"},   {"cell_type":"raw"}]}'
    )


def test_an_empty_text_leaves_no_cells() -> None:
    change = with_text(FILE, "", PATH)
    assert file_of(change) == written([])
    assert change.notes == ["Notebook now has 0 cells: 4 removed."]


@pytest.mark.parametrize("marker", ["# %% [code]", "# %% [code] cell:4", "# %% [code] cell:99", "# %% [code] cell:1"])
def test_a_marker_without_a_cell_of_its_own_makes_a_new_one(marker: str) -> None:
    change = with_text(FILE, f"{TEXT}{marker}\nb = 2\n", PATH)
    made = cells_of(change)[4]
    assert cells_of(change)[:4] == CELLS
    assert {**made, "id": ""} == {**CELLS[2], "id": "", "source": ["b = 2"]}
    assert made["id"] not in ("", *(cell["id"] for cell in CELLS))
    assert (change.added, change.notes) == ([4], ["Notebook now has 5 cells: 1 added."])


def test_of_two_markers_for_one_cell_the_first_is_that_cell() -> None:
    change = with_text(FILE, "# %% [code] cell:1\nfirst\n# %% [code] cell:1\na = 1\na\n", PATH)
    assert [cell["id"] == "two" for cell in cells_of(change)] == [True, False]
    assert cells_of(change)[1]["outputs"] == []
    assert change.notes[0] == "Notebook now has 2 cells: 1 changed, 1 added, 3 removed."


def test_new_cells_between_others_leave_all_other_bytes() -> None:
    text = "# %% [raw]\nnew\n" + TEXT.replace("# %% [code] cell:2", "# %% [raw]\nnew\n# %% [raw]\n# %% [code] cell:2")
    change = with_text(FILE, text, PATH)
    document = Document.parse(file_of(change), PATH)
    assert change.added == [0, 3, 4]
    assert len({cell.id for cell in document.cells}) == 7
    for index in reversed(change.added):
        document = document.without(index)
    assert document.to_bytes() == FILE


def test_all_cells_can_be_replaced_by_new_ones() -> None:
    change = with_text(FILE, "# %% [code]\na\n# %% [raw]\nb\n", PATH)
    assert file_of(change) == written(cells_of(change))
    assert [cell["source"] for cell in cells_of(change)] == [["a"], ["b"]]
    assert change.notes == ["Notebook now has 2 cells: 2 added, 4 removed."]


def test_a_missing_file_begins_as_an_empty_notebook() -> None:
    change = with_text(None, "# %% [code]\nprint(1)\n", PATH)
    made = json.loads(file_of(change))
    assert (made["nbformat"], made["nbformat_minor"], made["metadata"]) == (4, 5, {})
    assert [cell["source"] for cell in made["cells"]] == [["print(1)"]]
    assert file_of(change) == json.dumps(made, indent=1).encode() + b"\n"
    assert file_of(with_text(None, "", PATH)).endswith(b'"nbformat_minor": 5\n}\n')


def test_lines_are_split_where_jupyter_splits_them() -> None:
    change = with_text(None, "# %% [code]\na\rb\x0cc\n\nd\n", PATH)
    assert cells_of(change)[0]["source"] == ["a\r", "b\x0c", "c\n", "\n", "d"]


def test_a_line_that_looks_like_a_marker_does_not_split_its_cell() -> None:
    data = of_sources("a\n# %% [code] cell:0\nb", "# %%% [raw]")
    text = view(data, PATH)
    assert text.count("\n# %% [") == 1
    assert file_of(with_text(data, text, PATH)) == data
    changed = with_text(data, text.replace("b\n", "B\n"), PATH)
    assert [cell["source"] for cell in cells_of(changed)] == ["a\n# %% [code] cell:0\nB", "# %%% [raw]"]


def test_what_a_text_cannot_show_stays() -> None:
    data = of_sources("a\ud83d\nb\nc\udc80", ["\ud83d", "\n"])
    text = view(data, PATH)
    assert text == "# %% [code] cell:0\na\ufffd\nb\nc\ufffd\n# %% [code] cell:1\n\ufffd\n\n"
    assert file_of(with_text(data, text, PATH)) == data
    changed = with_text(data, text.replace("b\n", "bb\n"), PATH)
    assert file_of(changed) == data.replace(b"\\nb\\n", b"\\nbb\\n")


def test_two_halves_that_come_together_stay_two_characters() -> None:
    data = of_sources("a\ud83d-\udc80")
    changed = with_text(data, view(data, PATH).replace("-", ""), PATH)
    assert view(file_of(changed), PATH) == "# %% [code] cell:0\na\ufffd\ufffd\n"


def test_line_ends_that_a_client_made_crlf_change_nothing() -> None:
    data = of_sources("a\nb", "c\r\nd", "e\r", "f\r\ng\nh")
    text = view(data, PATH).replace("\r\n", "\n").replace("\n", "\r\n")
    assert with_text(data, text, PATH).notes == ["Nothing changed."]
    changed = cells_of(with_text(data, text.replace("\na", "\nA").replace("\nc", "\nC"), PATH))
    assert [cell["source"] for cell in changed] == ["A\nb", "C\r\nd", "e\r", "f\r\ng\nh"]


def test_line_ends_of_one_source_can_be_changed() -> None:
    data = of_sources("c\r\nd")
    assert cells_of(with_text(data, view(data, PATH).replace("\r", ""), PATH))[0]["source"] == "c\nd"


OLD = (
    b'{"nbformat": 3, "metadata": {}, "worksheets": [{"cells": '
    b'[{"cell_type": "code", "input": ["a\\n", "b"], "outputs": []}]}]}'
)


def test_a_notebook_in_an_old_format_can_be_seen_but_not_written() -> None:
    assert view(OLD, PATH) == "# %% [code] cell:0\na\nb\n"
    with pytest.raises(NotebookError, match=r"nbformat 3, which is too old to be changed: a.ipynb"):
        with_text(OLD, "# %% [code] cell:0\na\nb\n", PATH)


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b'{"nbformat": 2}', "The notebook is in nbformat 2, which is too old to be changed: a.ipynb"),
        (
            b'{"nbformat": 9, "cells": []}',
            "The notebook is in nbformat 9, which is newer than what is known here (4): a.ipynb",
        ),
        (b"{", "Invalid JSON in notebook: a.ipynb"),
        (b"{}", "Invalid notebook structure (missing cells array): a.ipynb"),
        (
            b'{"cells": [{"cell_type": "raw"}, 5]}',
            "Invalid notebook structure (cell 1: a cell that is no object): a.ipynb",
        ),
        (
            b'{"cells": [{"cell_type": "sql"}]}',
            "Invalid notebook structure (cell 0: a cell of type 'sql'; cells are code, markdown, raw): a.ipynb",
        ),
        (
            b'{"cells": [{"cell_type": "raw", "source": 1}]}',
            "Invalid notebook structure (cell 0: a cell whose source is neither text nor a list of lines): a.ipynb",
        ),
    ],
)
def test_what_is_no_notebook_has_no_text_and_takes_none(data: bytes, message: str) -> None:
    for attempt in (lambda: view(data, PATH), lambda: with_text(data, "# %% [raw]\n", PATH)):
        with pytest.raises(NotebookError) as caught:
            attempt()
        assert str(caught.value) == message


def test_a_text_that_is_none_is_refused_with_the_path() -> None:
    with pytest.raises(
        NotebookError, match=r"^Invalid notebook editable representation for a.ipynb: expected first line"
    ):
        with_text(FILE, "\n" + TEXT, PATH)
    with pytest.raises(NotebookError, match=r"for a.ipynb: line 4 begins like a marker"):
        with_text(FILE, TEXT.replace("cell:1", "cell:one"), PATH)
