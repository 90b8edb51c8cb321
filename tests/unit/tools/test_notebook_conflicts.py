"""A notebook that somebody else changes: what was not seen is not written over, and outputs go where they belong."""

import json
import os
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import anyio
import pytest

from pisces.files.version import FileVersion
from pisces.files.whole_file import locked
from pisces.kernels.memory_script import Script, WaitFor
from pisces.model.events import Stream
from pisces.runtime import Runtime
from tests.fakes.drive import eventually
from tests.fakes.notebooks import (
    Asked,
    ask,
    begin_asking,
    cells_in,
    code,
    edit_details,
    is_as_jupyter_writes_it,
    markdown,
    ran,
    run_details,
    sources_in,
    state_of,
    text_in,
    written,
)
from tests.fakes.runtimes import scripted_runtime

CHANGED = (
    "Error: a.ipynb has changed on disk since it was read; nothing was done.\n"
    "Read it again: cells may have other numbers now."
)
CELL_CHANGED = (
    "Error: The cell 'c1' of a.ipynb has changed on disk since it was read; nothing was done.\nRead it again."
)


def say(text: str) -> Stream:
    return Stream("stdout", f"{text}\n")


@pytest.fixture
async def runtime(tmp_path: Path) -> AsyncIterator[Runtime]:
    async with scripted_runtime({"a": [say("ran a")], "b": [say("ran b")], "c": [say("ran c")]}, tmp_path) as made:
        yield made


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return written(tmp_path / "a.ipynb", code("a"), code("b"), code("c"))


def somebody_else(file: Path, *cells: Any) -> None:
    """Another program writes the file, in place and without asking anybody."""
    value = json.loads(file.read_text(encoding="utf-8"))
    value["cells"] = list(cells)
    file.write_text(json.dumps(value, indent=1, sort_keys=True) + "\n", encoding="utf-8")


def insert_on_top(file: Path) -> None:
    somebody_else(file, markdown("theirs", "theirs"), *cells_in(file))


@pytest.mark.parametrize("cell", [{"cell_index": 0}, {"cell_id": "c0"}])
async def test_a_cell_that_was_shown_in_part_is_not_replaced(
    runtime: Runtime, tmp_path: Path, cell: dict[str, Any]
) -> None:
    long = "".join(f"a{number} = {number}\n" for number in range(5000))
    file = written(tmp_path / "a.ipynb", code(long), code("b"))
    read = await ask(runtime, "read", "a.ipynb")
    shown, _, notice = read.text.rpartition("\n")
    before = file.read_bytes()
    refused = await ask(runtime, "edit", "a.ipynb", **cell, content=shown)
    assert refused.text == (
        "Error: You have not seen all of cell 0 of a.ipynb, and `edit` replaces it; nothing was done.\n"
        "Read it alone and whole first, or change a part of the file with the tool `edit` or with Python."
    )
    for action in ("insert", "edit"):
        kept = await ask(runtime, action, "a.ipynb", cell_index=1, content=f"b\n{notice}")
        assert kept.text.startswith(f"Error: The text has the line {notice!r}, which is a notice"), kept.text
    assert file.read_bytes() == before
    assert not (await ask(runtime, "edit", "a.ipynb", cell_index=1, content="seen whole")).is_error
    assert not (await ask(runtime, "delete", "a.ipynb", **cell)).is_error


@pytest.mark.parametrize("tool", ["read", "notebook"])
@pytest.mark.parametrize("minor", [4, 5])
async def test_what_counts_is_what_was_shown_whatever_showed_it(
    runtime: Runtime, tmp_path: Path, tool: str, minor: int
) -> None:
    long = "".join(f"a{number} = {number}\n" for number in range(5000))
    file = written(tmp_path / "a.ipynb", code("b"), code(long), minor=minor)
    params = {"path": "a.ipynb"} if tool == "read" else {"action": "read", "notebook_path": "a.ipynb"}
    await runtime.tool(tool, params)
    before = file.read_bytes()
    refused = await ask(runtime, "edit", "a.ipynb", cell_index=1, content="less")
    assert refused.text.startswith("Error: You have not seen all of cell 1 of a.ipynb"), refused.text
    assert file.read_bytes() == before
    for content in ("seen whole", "its own words"):
        assert not (await ask(runtime, "edit", "a.ipynb", cell_index=0, content=content)).is_error


@pytest.mark.parametrize("source", ["a\r\nb", "a = '\x1b[31m'", "a\n\n", ""])
async def test_a_cell_with_characters_that_no_result_shows_can_be_replaced(
    runtime: Runtime, tmp_path: Path, source: str
) -> None:
    written(tmp_path / "a.ipynb", code(source), code("b"))
    await ask(runtime, "read", "a.ipynb")
    assert not (await ask(runtime, "edit", "a.ipynb", cell_index=0, content="c")).is_error


BY_INDEX: list[tuple[str, dict[str, Any]]] = [
    ("edit", {"cell_index": 1, "content": "mine"}),
    ("insert", {"cell_index": 1, "content": "mine"}),
    ("delete", {"cell_index": 1}),
    ("move", {"cell_index": 1, "to_index": 0}),
    ("clear", {"cell_index": 1}),
    ("run", {"cell_index": 1}),
    ("run_until", {"cell_index": 1}),
]


@pytest.mark.parametrize(("action", "params"), BY_INDEX, ids=[action for action, _ in BY_INDEX])
async def test_an_index_into_what_was_not_seen_is_refused_until_it_is_read_again(
    runtime: Runtime, file: Path, action: str, params: dict[str, Any]
) -> None:
    await ask(runtime, "read", "a.ipynb")
    insert_on_top(file)
    before = state_of(file)
    refused = await ask(runtime, action, "a.ipynb", **params)
    assert (refused.text, refused.is_error) == (CHANGED, True)
    assert state_of(file) == before
    await ask(runtime, "read", "a.ipynb")
    done = await ask(runtime, action, "a.ipynb", **params)
    assert not done.is_error


async def test_an_id_means_the_same_cell_whatever_has_changed_around_it(runtime: Runtime, file: Path) -> None:
    await ask(runtime, "read", "a.ipynb")
    insert_on_top(file)
    result = await ask(runtime, "edit", "a.ipynb", cell_id="c1", content="mine")
    assert result.text.startswith("Replaced cell 2 ")
    assert sources_in(file) == ["theirs", "a", "mine", "c"]


@pytest.mark.parametrize(("action", "more"), [("edit", {"content": "mine"}), ("delete", {})], ids=["edit", "delete"])
async def test_what_somebody_else_wrote_into_the_cell_itself_is_not_lost_until_it_is_read(
    runtime: Runtime, file: Path, action: str, more: dict[str, Any]
) -> None:
    await ask(runtime, "read", "a.ipynb")
    a, b, c = cells_in(file)
    somebody_else(file, a, {**b, "source": ["theirs"]}, c)
    before = state_of(file)
    refused = await ask(runtime, action, "a.ipynb", cell_id="c1", **more)
    assert (refused.text, refused.is_error, state_of(file)) == (CELL_CHANGED, True, before)
    await ask(runtime, "read", "a.ipynb", cell_id="c0")
    assert (await ask(runtime, action, "a.ipynb", cell_id="c1", **more)).text == CELL_CHANGED
    await ask(runtime, "read", "a.ipynb", cell_id="c1")
    assert not (await ask(runtime, action, "a.ipynb", cell_id="c1", **more)).is_error


async def test_a_cell_is_still_known_after_ones_own_edits_of_it_and_after_runs_by_others(
    runtime: Runtime, file: Path
) -> None:
    await ask(runtime, "read", "a.ipynb")
    insert_on_top(file)
    await ask(runtime, "edit", "a.ipynb", cell_id="c1", content="b")
    await ask(runtime, "edit", "a.ipynb", cell_id="c1", content="a")
    await ask(runtime, "run_all", "a.ipynb", owner="another")
    result = await ask(runtime, "edit", "a.ipynb", cell_id="c1", content="mine")
    assert (result.is_error, sources_in(file)) == (False, ["theirs", "a", "mine", "c"])


@pytest.mark.parametrize(
    ("tool", "params"),
    [
        ("edit", {"path": "a.ipynb", "old_text": "b\n", "new_text": "b2\n"}),
        ("write", {"path": "a.ipynb", "content": "# %% [code] cell:0\na\n# %% [code] cell:1\nb2\n"}),
        ("read", {"path": "a.ipynb"}),
    ],
    ids=["edit", "write", "read"],
)
async def test_a_cell_that_was_seen_or_written_as_text_is_known(
    runtime: Runtime, file: Path, tool: str, params: dict[str, Any]
) -> None:
    await ask(runtime, "read", "a.ipynb")
    if tool == "read":
        a, b, c = cells_in(file)
        somebody_else(file, a, {**b, "source": ["theirs"]}, c)
    assert not (await runtime.tool(tool, params)).is_error
    assert not (await ask(runtime, "edit", "a.ipynb", cell_id="c1", content="mine")).is_error


async def test_a_goal_is_an_index_too_although_the_cell_that_goes_there_is_named_by_its_id(
    runtime: Runtime, file: Path
) -> None:
    await ask(runtime, "read", "a.ipynb")
    insert_on_top(file)
    refused = await ask(runtime, "move", "a.ipynb", cell_id="c2", to_index=0)
    assert refused.text == CHANGED
    assert sources_in(file) == ["theirs", "a", "b", "c"]


async def test_a_call_that_waits_for_another_writer_can_be_cancelled(runtime: Runtime, file: Path) -> None:
    answers = []

    async def edit() -> None:
        answers.append(await ask(runtime, "edit", "a.ipynb", cell_index=0, content="mine"))

    with locked(file):
        async with anyio.create_task_group() as group:
            group.start_soon(edit)
            await anyio.wait_all_tasks_blocked()
            group.cancel_scope.cancel()
    assert (answers, sources_in(file)) == ([], ["a", "b", "c"])


async def test_an_index_means_what_was_seen_although_a_cell_was_edited_by_its_id(runtime: Runtime, file: Path) -> None:
    await ask(runtime, "read", "a.ipynb")
    insert_on_top(file)
    await ask(runtime, "edit", "a.ipynb", cell_id="c1", content="mine")
    refused = await ask(runtime, "edit", "a.ipynb", cell_index=2, content="meant for c")
    assert refused.text == CHANGED
    assert sources_in(file) == ["theirs", "a", "mine", "c"]


@pytest.mark.parametrize(("action", "params"), [("run", {"cell_id": "c1"}), ("run_all", {})], ids=["run", "run_all"])
async def test_an_index_means_what_was_seen_although_cells_were_run_since(
    runtime: Runtime, file: Path, action: str, params: dict[str, Any]
) -> None:
    await ask(runtime, "read", "a.ipynb")
    insert_on_top(file)
    assert not (await ask(runtime, action, "a.ipynb", **params)).is_error
    refused = await ask(runtime, "delete", "a.ipynb", cell_index=2)
    assert refused.text == CHANGED
    assert sources_in(file) == ["theirs", "a", "b", "c"]


async def test_ones_own_changes_need_not_be_read_again(runtime: Runtime, file: Path) -> None:
    await ask(runtime, "read", "a.ipynb")
    await ask(runtime, "insert", "a.ipynb", cell_index=0, content="mine")
    await ask(runtime, "run", "a.ipynb", cell_index=1)
    await ask(runtime, "edit", "a.ipynb", cell_id="c1", content="also mine")
    result = await ask(runtime, "delete", "a.ipynb", cell_index=3)
    assert edit_details(result).cell_source == "c"


async def test_who_has_read_nothing_may_use_an_index(runtime: Runtime, file: Path) -> None:
    await ask(runtime, "read", "a.ipynb", owner="another")
    insert_on_top(file)
    result = await ask(runtime, "edit", "a.ipynb", cell_index=1, content="mine", owner="newcomer")
    assert not result.is_error


async def test_what_another_owner_wrote_was_not_seen_either(runtime: Runtime, file: Path) -> None:
    await ask(runtime, "read", "a.ipynb", owner="one")
    await ask(runtime, "insert", "a.ipynb", cell_index=0, content="new", owner="two")
    refused = await ask(runtime, "delete", "a.ipynb", cell_index=1, owner="one")
    assert refused.text == CHANGED


class Held:
    """A run whose second cell waits until it is let go."""

    def __init__(self, runtime: Runtime, file: Path, asked: Asked, go: anyio.Event) -> None:
        self.runtime = runtime
        self.file = file
        self.asked = asked
        self.go = go


@pytest.fixture
async def held(tmp_path: Path, file: Path) -> AsyncIterator[Held]:
    """Cell 1 has said something, which is in the file, and will say more."""
    go = anyio.Event()
    script: Script = {"a": [say("ran a")], "b": [say("begun"), WaitFor(go), say("ended")], "c": [say("ran c")]}
    async with scripted_runtime(script, tmp_path) as runtime, anyio.create_task_group() as group:
        await ask(runtime, "read", "a.ipynb")
        asked = begin_asking(group, runtime, "run_all", "a.ipynb")
        await eventually(lambda: text_in(file, 1) == "begun\n")
        yield Held(runtime, file, asked, go)


async def test_an_index_still_means_what_was_seen_while_ones_own_run_writes_the_file(held: Held) -> None:
    services = held.runtime._services
    assert services is not None
    now = FileVersion.of(os.stat(held.file))
    await eventually(lambda: services.seen.version("runtime", held.file.resolve()) == now)
    edited = await ask(held.runtime, "edit", "a.ipynb", cell_index=0, content="mine")
    held.go.set()
    result = await held.asked.finish()
    deleted = await ask(held.runtime, "delete", "a.ipynb", cell_index=1)
    assert (edited.is_error, result.is_error, deleted.is_error) == (False, False, False)
    assert sources_in(held.file) == ["mine", "c"]


async def test_cells_that_others_edit_meanwhile_keep_their_changes(held: Held) -> None:
    cells = cells_in(held.file)
    somebody_else(held.file, {**cells[0], "metadata": {"theirs": True}}, cells[1], cells[2])
    held.go.set()
    result = await held.asked.finish()
    assert (result.is_error, run_details(result).written) == (False, True)
    assert cells_in(held.file)[0]["metadata"] == {"theirs": True}
    assert [text_in(held.file, index) for index in range(3)] == ["ran a\n", "begun\nended\n", "ran c\n"]
    assert is_as_jupyter_writes_it(held.file)


async def test_a_save_of_a_copy_without_outputs_costs_no_output_and_what_others_ran_is_named(held: Held) -> None:
    cells = cells_in(held.file)
    somebody_else(held.file, {**cells[0], "outputs": [], "execution_count": None}, *cells[1:])
    held.go.set()
    result = await held.asked.finish()
    assert (result.is_error, [text_in(held.file, index) for index in range(3)]) == (
        False,
        ["ran a\n", "begun\nended\n", "ran c\n"],
    )


async def test_a_cell_that_others_ran_meanwhile_keeps_their_outputs_and_is_named(held: Held) -> None:
    cells = cells_in(held.file)
    somebody_else(held.file, ran(cells[0], "theirs\n", 44), *cells[1:])
    held.go.set()
    result = await held.asked.finish()
    assert result.text.endswith("Not written to a.ipynb: the outputs of cell 0, which somebody has run again since.")
    assert (text_in(held.file, 0), run_details(result).unwritten, result.is_error) == ("theirs\n", [0], True)


async def test_outputs_follow_their_cell_when_others_insert_above_it(held: Held) -> None:
    insert_on_top(held.file)
    held.go.set()
    result = await held.asked.finish()
    assert not result.is_error
    assert sources_in(held.file) == ["theirs", "a", "b", "c"]
    assert "outputs" not in cells_in(held.file)[0]
    assert [text_in(held.file, index) for index in (1, 2, 3)] == ["ran a\n", "begun\nended\n", "ran c\n"]


async def test_outputs_of_a_source_that_others_changed_are_not_written_and_that_is_said(held: Held) -> None:
    cells = cells_in(held.file)
    somebody_else(held.file, cells[0], {**cells[1], "source": ["b2"], "outputs": []}, cells[2])
    held.go.set()
    result = await held.asked.finish()
    assert result.text.endswith(
        "Not written to a.ipynb: the outputs of cell 1, which somebody changed or removed while it ran."
    )
    assert (result.is_error, run_details(result).written, run_details(result).outcome) == (True, False, "ok")
    assert "ended" in result.text
    assert (sources_in(held.file)[1], text_in(held.file, 1), text_in(held.file, 2)) == ("b2", "", "ran c\n")


async def test_a_cell_that_others_removed_is_named(held: Held) -> None:
    cells = cells_in(held.file)
    somebody_else(held.file, cells[0], cells[2])
    held.go.set()
    result = await held.asked.finish()
    assert "Not written to a.ipynb: the outputs of cell 1," in result.text
    assert (result.is_error, [text_in(held.file, index) for index in (0, 1)]) == (True, ["ran a\n", "ran c\n"])


async def test_outputs_find_their_cell_past_one_that_no_notebook_can_have(held: Held) -> None:
    somebody_else(held.file, {"cell_type": "code", "source": 1, "id": "c1"}, *cells_in(held.file))
    held.go.set()
    result = await held.asked.finish()
    assert not result.is_error
    assert [text_in(held.file, index) for index in (1, 2, 3)] == ["ran a\n", "begun\nended\n", "ran c\n"]


async def test_a_file_that_others_removed_is_told_and_not_made_anew(held: Held) -> None:
    held.file.unlink()
    held.go.set()
    result = await held.asked.finish()
    assert result.text.endswith(
        "The outputs of cell 0, cell 1, cell 2 could not be written to a.ipynb: Notebook not found: a.ipynb"
    )
    assert run_details(result).unwritten == [0, 1, 2]
    assert (result.is_error, run_details(result).written, held.file.exists()) == (True, False, False)
    assert "ended" in result.text


async def test_a_file_that_others_broke_is_told_and_left_as_it_is(held: Held) -> None:
    held.file.write_text("not a notebook", encoding="utf-8")
    held.go.set()
    result = await held.asked.finish()
    assert "cell 2 could not be written to a.ipynb: Invalid JSON in notebook: a.ipynb" in result.text
    assert (result.is_error, held.file.read_text(encoding="utf-8")) == (True, "not a notebook")
