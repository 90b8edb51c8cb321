"""Journals as notebooks."""

import json
import stat
from pathlib import Path
from typing import Any

import msgspec
import nbformat
import pytest

from pisces.errors import JournalError
from pisces.journal.entries import AnyEntry, CellBegan, TextCut
from pisces.journal.export import Exported, export_notebook, notebook
from pisces.journal.line import encode_line
from pisces.model.events import (
    AnyEvent,
    ClearOutput,
    Display,
    Error,
    InputRequested,
    ProcessExit,
    Result,
    Status,
    Stream,
)
from tests.unit.journal.journaling import BEGAN, cell, joined


def exported(*parts: Any) -> list[dict[str, Any]]:
    """The cells of a notebook that is valid."""
    made = notebook(joined(BEGAN, *parts))
    nbformat.validate(made, version=4, version_minor=5, relax_add_props=False)
    cells: list[dict[str, Any]] = made["cells"]
    return cells


def outputs(*events: AnyEvent) -> list[dict[str, Any]]:
    """The outputs of a cell that said this."""
    found: list[dict[str, Any]] = exported(cell(1, "x", *events))[0]["outputs"]
    return found


def shown(data: dict[str, Any], **metadata: Any) -> dict[str, Any]:
    return {"output_type": "display_data", "data": data, "metadata": metadata}


def text(content: str, name: str = "stdout") -> dict[str, Any]:
    return {"output_type": "stream", "name": name, "text": content}


def test_a_notebook_says_which_kernel_it_wants_and_where_it_comes_from() -> None:
    metadata = notebook([BEGAN])["metadata"]
    assert metadata["kernelspec"]["name"] == "python3"
    assert metadata["pisces"] == {"session": "s", "version": "1.0.0"}


def test_a_notebook_of_a_kernelspec_wants_that_one_and_names_no_language() -> None:
    made = notebook(joined(msgspec.structs.replace(BEGAN, kernelspec="bash"), cell(1, "echo hi")))
    assert made["metadata"]["kernelspec"] == {"display_name": "bash", "name": "bash"}
    assert "language_info" not in made["metadata"]
    nbformat.validate(made, version=4, version_minor=5, relax_add_props=False)


def test_text_of_one_stream_is_one_output() -> None:
    events = [Stream("stdout", "a"), Stream("stdout", "b\n"), Stream("stderr", "e"), Stream("stdout", "c")]
    assert outputs(*events) == [text("ab\n"), text("e", "stderr"), text("c")]


def test_a_value_has_its_number() -> None:
    assert outputs(Result({"text/plain": "2"}, 7)) == [
        {"output_type": "execute_result", "execution_count": 7, "data": {"text/plain": "2"}, "metadata": {}}
    ]
    assert exported(cell(1, "1 + 1", execution_count=7))[0]["execution_count"] == 7


def test_pictures_and_values_are_included_as_they_came() -> None:
    bundle = {
        "image/png": "iVBORw0KGgo=",
        "image/jpeg": "/9j/4AAQ",
        "image/svg+xml": "<svg/>",
        "application/json": {"a": [1, None]},
        "application/vnd.plotly.v1+json": {"data": []},
        "text/html": ["<b>", "x</b>"],
    }
    assert outputs(Display(bundle, {"image/png": {"width": 3}})) == [
        shown({**bundle, "text/html": "<b>x</b>"}, **{"image/png": {"width": 3}})
    ]


def test_a_value_that_the_format_does_not_allow_becomes_text() -> None:
    assert outputs(Display({"text/x-odd": {"é": 1}})) == [shown({"text/x-odd": '{"é": 1}'})]


def test_an_error_has_its_traceback_and_marks_the_cell() -> None:
    failed = exported(cell(1, "x", Error("E", "wrong", ("line 1", "line 2")), outcome="error"))[0]
    assert failed["outputs"] == [
        {"output_type": "error", "ename": "E", "evalue": "wrong", "traceback": ["line 1", "line 2"]}
    ]
    assert failed["metadata"]["tags"] == ["raises-exception"]


def test_an_update_replaces_what_it_updates_also_in_an_earlier_cell() -> None:
    first, second = exported(
        cell(1, "a", Display({"text/plain": "0 %"}, display_id="p"), Stream("stdout", "x")),
        cell(2, "b", Display({"text/plain": "100 %"}, display_id="p", update=True)),
    )
    assert first["outputs"] == [shown({"text/plain": "100 %"}), text("x")]
    assert second["outputs"] == []


def test_an_update_of_what_is_not_there_shows_nothing_as_in_jupyter() -> None:
    update = Display({"text/plain": "new"}, display_id="p", update=True)
    assert outputs(update) == []
    assert outputs(Display({"text/plain": "old"}, display_id="p"), ClearOutput(), update) == []


def test_a_result_with_a_display_id_is_updated_like_a_display() -> None:
    first, second = exported(
        cell(1, "a", Result({"text/plain": "0 %"}, 1, display_id="p")),
        cell(2, "b", Display({"text/plain": "100 %"}, display_id="p", update=True)),
    )
    (result,) = first["outputs"]
    assert (result["output_type"], result["data"]) == ("execute_result", {"text/plain": "100 %"})
    assert second["outputs"] == []


def test_what_was_cleared_is_not_there() -> None:
    assert outputs(Stream("stdout", "old"), ClearOutput(), Stream("stdout", "new")) == [text("new")]
    assert outputs(Stream("stdout", "old"), ClearOutput()) == []


def test_clearing_can_wait_for_the_next_output() -> None:
    assert outputs(Stream("stdout", "old"), ClearOutput(wait=True), Stream("stdout", "new")) == [text("new")]
    assert outputs(Stream("stdout", "old"), ClearOutput(wait=True)) == [text("old")]


def test_statuses_and_requests_for_input_show_nothing() -> None:
    status = Display({"application/x-pisces-status": {"op": "read"}})
    assert outputs(Status("read", {"path": "x"}), InputRequested("?"), status) == []


def test_a_title_is_metadata() -> None:
    titled = CellBegan(2.0, 1, "x", title="Load the data")
    (made,) = exported(titled, cell(1, "x")[1:])
    assert made["metadata"]["title"] == "Load the data"


def test_a_cell_under_which_the_kernel_died_says_so_and_is_not_to_be_run() -> None:
    (made,) = exported(
        cell(
            1,
            "x",
            Stream("stdout", "a"),
            outcome="crashed",
            died=True,
            process_exit=ProcessExit(signal=11, detail="at\nx"),
        )
    )
    assert made["metadata"]["tags"] == ["raises-exception", "skip-execution"]
    assert made["outputs"][1] == {
        "output_type": "error",
        "ename": "KernelDied",
        "evalue": "The kernel was ended by SIGSEGV",
        "traceback": ["The kernel was ended by SIGSEGV", "at", "x"],
    }


@pytest.mark.parametrize("outcome", ["timeout", "interrupted", "disconnected"])
def test_a_cell_that_was_stopped_is_not_to_be_run(outcome: str) -> None:
    assert exported(cell(1, "x", outcome=outcome))[0]["metadata"]["tags"] == ["raises-exception", "skip-execution"]


def test_a_cell_that_still_runs_is_there_with_what_it_said() -> None:
    (made,) = exported(cell(1, "x", Stream("stdout", "so far"))[:-1])
    assert made["outputs"] == [text("so far")]
    assert made["metadata"]["pisces"]["outcome"] == "unfinished"


def test_text_that_the_journal_does_not_have_is_counted_where_it_is_missing() -> None:
    entries: list[AnyEntry] = cell(
        1, "x", Stream("stdout", "head"), Stream("stdout", "tail"), artifact_id="3", left_out=2
    )
    entries.insert(2, TextCut(2.0, 1, 99))
    (made,) = exported(entries)
    assert made["outputs"] == [
        text(
            "head\n[…99 characters are not in the journal; artifact 3 has all of the text…]\ntail"
            "\n[2 displays were more than the journal keeps]\n"
        )
    ]


def write(journal: Path, entries: list[AnyEntry]) -> None:
    journal.write_bytes(b"".join(map(encode_line, entries)))


def test_the_file_is_what_notebook_tools_read(tmp_path: Path) -> None:
    journal, target = tmp_path / "j.jsonl", tmp_path / "n.ipynb"
    write(journal, joined(BEGAN, cell(1, "print('é')", Stream("stdout", "é\n"))))
    with journal.open("ab") as file:
        file.write(b"torn\n")
    assert export_notebook(journal, target) == Exported(target, 1, unreadable=1)
    read = json.loads(target.read_text(encoding="utf-8"))
    nbformat.validate(read)
    assert read["cells"][0]["outputs"][0]["text"] == "é\n"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["j.jsonl", "n.ipynb"]
    assert stat.S_IMODE(target.stat().st_mode) & 0o400


def test_a_notebook_that_cannot_be_written_leaves_what_was_there(tmp_path: Path) -> None:
    journal, folder = tmp_path / "j.jsonl", tmp_path / "folder"
    write(journal, [BEGAN])
    folder.mkdir()
    with pytest.raises(JournalError, match="could not be written to") as caught:
        export_notebook(journal, folder)
    assert caught.value.hint
    with pytest.raises(JournalError, match="No such file"):
        export_notebook(journal, tmp_path / "none" / "n.ipynb")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["folder", "j.jsonl"]


def test_a_notebook_that_is_there_is_replaced(tmp_path: Path) -> None:
    journal, target = tmp_path / "j.jsonl", tmp_path / "n.ipynb"
    target.write_text("old", encoding="utf-8")
    write(journal, [BEGAN])
    export_notebook(journal, target)
    assert json.loads(target.read_text(encoding="utf-8"))["nbformat"] == 4
