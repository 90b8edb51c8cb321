"""What a recorder has to tell goes into the file while work goes on, and all of it when the work ends."""

import errno
import json
import os
import shutil
from collections.abc import Callable, Mapping
from pathlib import Path

import anyio
import anyio.lowlevel
import pytest

from pisces.errors import FileError, NotebookError
from pisces.model.cells import CellRecord
from pisces.model.events import Done, Stream
from pisces.notebooks.notebook_file import CellRef, NotebookFile
from pisces.notebooks.outputs_writer import OutputsWriter
from pisces.notebooks.recorder import Recorder, RunState
from tests.fakes.drive import eventually
from tests.fakes.notebooks import cells_in, code, markdown, ran, state_of, text_in, written


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return written(tmp_path / "a.ipynb", markdown("t"), code("a"), code("b"))


def writer_for(file: Path, recorder: Recorder, written: Callable[[], None] = lambda: None) -> OutputsWriter:
    """The call's cells 0 and 1 are the notebook's 1 and 2."""
    notebook = NotebookFile(file, "a.ipynb")
    document = notebook.read()
    return OutputsWriter(notebook, {0: CellRef.of(document, 1), 1: CellRef.of(document, 2)}, recorder, written)


def begin(recorder: Recorder, index: int) -> None:
    recorder.began(CellRecord(index=index, title="", code=""))


def say(recorder: Recorder, text: str) -> None:
    recorder.took(Stream("stdout", text))


def change_source(file: Path, index: int, source: str) -> None:
    value = json.loads(file.read_text(encoding="utf-8"))
    value["cells"][index]["source"] = [source]
    file.write_text(json.dumps(value), encoding="utf-8")


async def test_it_is_written_while_the_work_goes_on(file: Path) -> None:
    recorder = Recorder()
    go = anyio.Event()

    async def work() -> str:
        begin(recorder, 0)
        say(recorder, "begun\n")
        await go.wait()
        say(recorder, "ended\n")
        recorder.ended(Done("ok", execution_count=4))
        return "made"

    async def watch() -> None:
        await eventually(lambda: text_in(file, 1) == "begun\n")
        assert cells_in(file)[1]["execution_count"] is None
        go.set()

    writer = writer_for(file, recorder)
    async with anyio.create_task_group() as group:
        group.start_soon(watch)
        assert await writer.during(work) == "made"
    assert (text_in(file, 1), cells_in(file)[1]["execution_count"]) == ("begun\nended\n", 4)
    assert (writer.lost, writer.failure) == (set(), None)


async def test_each_write_is_told_of_and_no_other(file: Path) -> None:
    recorder = Recorder()
    writes: list[str] = []

    async def work() -> None:
        begin(recorder, 0)
        say(recorder, "one\n")
        await eventually(lambda: bool(writes))
        say(recorder, "two\n")

    writer = writer_for(file, recorder, lambda: writes.append(text_in(file, 1)))
    await writer.during(work)
    assert writes == ["one\n", "one\ntwo\n"]
    os.unlink(file)
    recorder.ended(Done("ok"))
    await writer.during(anyio.lowlevel.checkpoint)
    assert (len(writes), writer.failure is None) == (2, False)


async def test_without_news_nothing_is_written(file: Path) -> None:
    before = state_of(file)

    async def work() -> None:
        return None

    await writer_for(file, Recorder()).during(work)
    assert state_of(file) == before


async def test_what_was_said_is_written_also_when_the_work_raises(file: Path) -> None:
    recorder = Recorder()

    async def work() -> None:
        begin(recorder, 1)
        say(recorder, "so far\n")
        raise NotebookError("on purpose")

    with pytest.raises(NotebookError, match="on purpose"):
        await writer_for(file, recorder).during(work)
    assert text_in(file, 2) == "so far\n"


async def test_what_was_said_is_written_also_when_the_work_is_cancelled(file: Path) -> None:
    recorder = Recorder()
    began = anyio.Event()

    async def work() -> None:
        begin(recorder, 0)
        say(recorder, "so far\n")
        began.set()
        await anyio.sleep_forever()

    writer = writer_for(file, recorder)
    async with anyio.create_task_group() as group:
        group.start_soon(writer.during, work)
        await began.wait()
        group.cancel_scope.cancel()
    assert text_in(file, 1) == "so far\n"


async def test_work_that_ends_just_when_its_news_were_fetched_has_them_written(file: Path) -> None:
    """The writer is stopped between fetching the news and writing them: whoever fetches lets the work end."""
    fetched = anyio.Event()

    class Telling(Recorder):
        def take_news(self) -> Mapping[int, RunState]:
            fetched.set()
            return super().take_news()

    recorder = Telling()

    async def work() -> None:
        begin(recorder, 0)
        say(recorder, "all of it\n")
        recorder.ended(Done("ok", execution_count=1))
        await fetched.wait()

    await writer_for(file, recorder).during(work)
    assert (text_in(file, 1), cells_in(file)[1]["execution_count"]) == ("all of it\n", 1)


async def test_what_could_not_be_written_is_written_later(file: Path) -> None:
    recorder = Recorder()
    writer = writer_for(file, recorder)
    aside = file.with_name("aside")

    async def work() -> None:
        os.rename(file, aside)
        begin(recorder, 0)
        say(recorder, "text\n")
        await eventually(lambda: writer.failure is not None)
        assert isinstance(writer.failure, NotebookError)
        os.rename(aside, file)

    await writer.during(work)
    assert (text_in(file, 1), writer.failure) == ("text\n", None)


async def test_a_file_that_jupyter_is_writing_when_the_work_ends_is_waited_for(file: Path) -> None:
    recorder = Recorder()
    writer = writer_for(file, recorder)
    saved = written(file.with_name("saved"), markdown("t"), code("a"), code("b"))

    async def work() -> None:
        begin(recorder, 0)
        say(recorder, "text\n")
        os.truncate(file, 0)  # Jupyter opens it so, and then makes the text that comes into it.

    async def save() -> None:
        await eventually(lambda: writer.failure is not None)
        shutil.copyfile(saved, file)

    async with anyio.create_task_group() as group:
        group.start_soon(save)
        await writer.during(work)
    assert (text_in(file, 1), writer.failure) == ("text\n", None)


async def test_why_the_last_try_failed_is_kept(file: Path) -> None:
    recorder = Recorder()
    writer = writer_for(file, recorder)

    async def work() -> None:
        begin(recorder, 0)
        os.unlink(file)
        os.mkdir(file)

    await writer.during(work)
    assert isinstance(writer.failure, FileError)


async def test_a_cell_with_another_source_is_lost_and_others_are_not(file: Path) -> None:
    recorder = Recorder()
    writer = writer_for(file, recorder)

    async def work() -> None:
        for index in (0, 1):
            begin(recorder, index)
            say(recorder, f"cell {index}\n")
            recorder.ended(Done("ok"))
        change_source(file, 1, "other")

    await writer.during(work)
    assert (writer.lost, text_in(file, 1), text_in(file, 2)) == ({0}, "", "cell 1\n")


async def test_outputs_that_another_program_has_saved_over_are_written_again_at_the_end(file: Path) -> None:
    """Jupyter saves the copy that it has: without the outputs, or with those of before the run."""
    cells = cells_in(file)
    stale = [*cells[:2], ran(cells[2], "of before\n", 7)]
    written(file, *stale)
    recorder = Recorder()
    writer = writer_for(file, recorder)

    async def work() -> None:
        for index in (0, 1):
            begin(recorder, index)
            say(recorder, f"cell {index}\n")
            recorder.ended(Done("ok", execution_count=index + 1))
        await eventually(lambda: text_in(file, 2) == "cell 1\n")
        written(file, *stale)

    await writer.during(work)
    assert [text_in(file, index) for index in (1, 2)] == ["cell 0\n", "cell 1\n"]
    assert [cell.get("execution_count") for cell in cells_in(file)] == [None, 1, 2]
    assert (writer.lost, writer.failure) == (set(), None)


async def test_a_finished_cell_that_somebody_else_has_run_since_keeps_those_outputs_and_is_named(file: Path) -> None:
    recorder = Recorder()
    writer = writer_for(file, recorder)

    async def work() -> None:
        for index in (0, 1):
            begin(recorder, index)
            say(recorder, f"cell {index}\n")
            recorder.ended(Done("ok", execution_count=index + 1))
        await eventually(lambda: text_in(file, 2) == "cell 1\n")
        cells = cells_in(file)
        written(file, cells[0], ran(cells[1], "of somebody else\n", 31), {**cells[2], "outputs": []})

    await writer.during(work)
    assert [text_in(file, index) for index in (1, 2)] == ["of somebody else\n", "cell 1\n"]
    assert (writer.lost, writer.run_by_others) == (set(), {0})


async def test_a_cell_that_is_no_code_any_more_gets_no_outputs_and_is_named(file: Path) -> None:
    recorder = Recorder()
    writer = writer_for(file, recorder)
    source = cells_in(file)[1]["source"]

    async def work() -> None:
        for index in (0, 1):
            begin(recorder, index)
            say(recorder, f"cell {index}\n")
            recorder.ended(Done("ok", execution_count=index + 1))
        await eventually(lambda: text_in(file, 2) == "cell 1\n")
        cells = cells_in(file)
        written(file, cells[0], {**markdown(""), "id": cells[1]["id"], "source": source}, cells[2])

    await writer.during(work)
    assert "outputs" not in cells_in(file)[1]
    assert (text_in(file, 2), writer.lost, writer.failure) == ("cell 1\n", {0}, None)


async def test_of_a_file_that_cannot_be_written_at_the_end_the_cells_are_named_whose_outputs_it_lacks(
    file: Path,
) -> None:
    recorder = Recorder()
    writer = writer_for(file, recorder)

    async def work() -> None:
        begin(recorder, 0)
        say(recorder, "cell 0\n")
        recorder.ended(Done("ok", execution_count=1))
        await eventually(lambda: text_in(file, 1) == "cell 0\n")
        begin(recorder, 1)
        say(recorder, "cell 1\n")
        recorder.ended(Done("ok", execution_count=2))
        os.truncate(file, 0)
        await eventually(lambda: writer.failure is not None)

    await writer.during(work)
    assert (isinstance(writer.failure, NotebookError), writer.unwritten) == (True, {0, 1})


async def test_what_was_written_before_the_disk_was_full_is_not_named(
    file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    recorder = Recorder()
    writer = writer_for(file, recorder)

    async def work() -> None:
        begin(recorder, 0)
        say(recorder, "cell 0\n")
        recorder.ended(Done("ok", execution_count=1))
        await eventually(lambda: text_in(file, 1) == "cell 0\n")
        begin(recorder, 1)
        say(recorder, "cell 1\n")
        recorder.ended(Done("ok", execution_count=2))

        def full(*_: object, **__: object) -> None:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

        monkeypatch.setattr("pisces.files.whole_file.unfinished", full)

    await writer.during(work)
    assert (isinstance(writer.failure, FileError), writer.unwritten) == (True, {1})


async def test_a_cell_whose_source_is_back_is_not_lost_any_more(file: Path) -> None:
    recorder = Recorder()
    writer = writer_for(file, recorder)

    async def work() -> None:
        change_source(file, 1, "other")
        begin(recorder, 0)
        say(recorder, "text\n")
        recorder.ended(Done("ok"))
        await eventually(lambda: writer.lost == {0})
        change_source(file, 1, "a")

    await writer.during(work)
    assert (writer.lost, text_in(file, 1)) == (set(), "text\n")
