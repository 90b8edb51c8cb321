"""Real notebooks, byte for byte: a change changes what it is about and nothing else; taken back, it leaves no trace."""

import itertools
import json
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

import pytest

from pisces.errors import NotebookError
from pisces.model.results import ToolResult
from pisces.notebooks.cell import Cell
from pisces.notebooks.cell_view import view, with_text
from pisces.notebooks.document import Document
from pisces.notebooks.old_formats import upgrade
from pisces.notebooks.readable import readable
from pisces.runtime import Runtime
from tests.fakes.notebook_bytes import cell_places, changed_part, joined, source_place
from tests.fakes.notebook_peers import problems
from tests.fakes.runtimes import runtime_on
from tests.notebook_corpus import corpus, corpus_id

NEW_LINE = "# new \N{SNOWMAN}\n"
OTHER_SOURCE = '# %% [code] cell:0\n\ttab, "quote", \\ and \N{SNOWMAN}\r\nlast'
RUN_ALL: dict[str, Any] = {"action": "run_all"}

INVALID = {"nbformat/tests/invalid.ipynb": 2, "nbformat/tests/test4plus.ipynb": 9}
"""Notebooks with a cell of a type that this format does not have, and the first such cell."""
WITHOUT_CELLS = {"nbformat/tests/test3_no_worksheets.ipynb"}
LAYOUT_OF_LINES_GONE = {
    ("nbconvert/tests/files/notebook2.ipynb", 14): "lines in pieces: where they were cut is known from the source only",
    ("papermill/papermill/tests/notebooks/test_notebooknode_io.ipynb", 0): "its one list of lines is on one line",
}
"""Cells that come back with the same source in another layout when all of the source was replaced, and why."""


def is_old(path: Path) -> bool:
    return int(json.loads(path.read_bytes()).get("nbformat", 4)) < 4


OLD = [path for path in corpus() if is_old(path)]
CURRENT = [path for path in corpus() if path not in OLD]
EVERY_CURRENT = pytest.mark.parametrize("path", CURRENT, ids=corpus_id)
EVERY_OLD = pytest.mark.parametrize("path", OLD, ids=corpus_id)


def edits(source: str) -> Iterator[str]:
    """Other sources: with a line more at the beginning, with more at the end, another one, none."""
    yield NEW_LINE + source
    yield source + "\nmore"
    yield OTHER_SOURCE
    yield ""


class Before:
    """A notebook before an edit."""

    def __init__(self, data: bytes) -> None:
        self.text = data.decode()
        self._places = cell_places(self.text)

    def check_edit(self, index: int, written: bytes, source: str) -> None:
        """Only the source of this cell has changed, to this one, and is a text or a list of lines as it was."""
        place = self._places[index]
        old, new = place.within(self.text), changed_part(self.text, written.decode(), place)
        was, now = json.loads(old), json.loads(new)
        assert joined(now["source"]) == source
        if "source" in was:
            assert type(now["source"]) is type(was["source"])
            changed_part(old, new, source_place(old))
        else:
            del now["source"]
            assert now == was

    def has_source(self, index: int) -> bool:
        """Whether a cell has one, as cells should."""
        return "source" in json.loads(self._places[index].within(self.text))


def gaps(data: bytes) -> set[str]:
    """What stands between cells that follow each other."""
    text = data.decode()
    return {text[one.end : other.start] for one, other in itertools.pairwise(cell_places(text))}


def margins(cell: Cell) -> tuple[str, str]:
    """What the first member of a cell and its end are indented by."""
    _, member, *_, end = bytes(cell.raw).decode().splitlines()
    return member[: -len(member.lstrip())], end[:-1]


@EVERY_CURRENT
def test_an_edit_changes_one_source_and_taken_back_it_leaves_no_trace(path: Path) -> None:
    data = path.read_bytes()
    document = Document.parse(data, path.name)
    assert document.to_bytes() == data
    before = Before(data)
    for index, cell in enumerate(document.cells):
        has_source = before.has_source(index)
        for source in edits(cell.source):
            edited = document.with_cell(index, cell.with_source(source)).to_bytes()
            before.check_edit(index, edited, source)
            reopened = Document.parse(edited, path.name)
            back = reopened.with_cell(index, reopened.cells[index].with_source(cell.source)).to_bytes()
            if not has_source:
                before.check_edit(index, back, "")
            elif (corpus_id(path), index) in LAYOUT_OF_LINES_GONE and source in ("", OTHER_SOURCE):
                before.check_edit(index, back, cell.source)
            else:
                assert back == data


@EVERY_CURRENT
def test_cells_put_in_and_taken_out_and_moved_there_and_back_leave_no_trace(path: Path) -> None:
    data = path.read_bytes()
    document = Document.parse(data, path.name)
    count, known = len(document.cells), gaps(data)
    for index in range(count + 1):
        put_in = Document.parse(document.with_new(index, "code", "1\n2").to_bytes(), path.name)
        assert put_in.without(index).to_bytes() == data
        assert count < 2 or gaps(put_in.to_bytes()) == known
        assert not count or margins(put_in.cells[index]) == margins(document.cells[0])
    for index, to in itertools.product(range(count), {0, count // 2, count - 1}):
        moved = Document.parse(document.with_moved(index, to).to_bytes(), path.name)
        assert bytes(moved.cells[to].raw) == bytes(document.cells[index].raw)
        assert moved.with_moved(to, index).to_bytes() == data


@EVERY_CURRENT
def test_the_text_of_a_notebook_taken_back_changes_the_cells_that_changed_in_it(path: Path) -> None:
    data, name = path.read_bytes(), corpus_id(path)
    if name in INVALID:
        for refused in (lambda: view(data, name), lambda: with_text(data, "", name)):
            with pytest.raises(NotebookError, match=rf"Invalid notebook structure \(cell {INVALID[name]}: "):
                refused()
        return
    text = view(data, name)
    assert b"".join(with_text(data, text, name).pieces) == data
    before = Before(data)
    for index, cell in enumerate(Document.parse(data, name).cells):
        marker = f"# %% [{cell.cell_type}] cell:{index}\n"
        assert text.count(marker) == 1
        change = with_text(data, text.replace(marker, marker + NEW_LINE), name)
        assert (change.changed, change.added, change.removed) == ([index], [], 0)
        edited = b"".join(change.pieces)
        before.check_edit(index, edited, NEW_LINE + cell.source)
        back = b"".join(with_text(edited, text, name).pieces)
        assert back == data or not before.has_source(index)


@pytest.fixture(scope="module")
async def runtime(plain_python: str, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Runtime]:
    async with runtime_on(plain_python, tmp_path_factory.mktemp("cwd")) as made:
        yield made


class Tool:
    """The `notebook` tool on a copy of a notebook."""

    def __init__(self, runtime: Runtime, path: Path, folder: Path) -> None:
        self.data = path.read_bytes()
        self.copy = folder / path.name
        self.copy.write_bytes(self.data)
        self._runtime = runtime

    async def __call__(self, action: str, **params: Any) -> ToolResult:
        given = {"action": action, "notebook_path": str(self.copy), **params}
        return await self._runtime.tool("notebook", given)

    async def ok(self, action: str, **params: Any) -> bytes:
        """The file after a call that must go well."""
        result = await self(action, **params)
        assert not result.is_error, result.text
        return self.copy.read_bytes()


@EVERY_CURRENT
async def test_the_tool_edits_the_file_and_its_edits_taken_back_give_the_same_file(
    path: Path, runtime: Runtime, tmp_path: Path
) -> None:
    tool = Tool(runtime, path, tmp_path)
    cells = json.loads(tool.data)["cells"]
    if cells:
        index = len(cells) // 2
        source = joined(cells[index].get("source", ""))
        edited = await tool.ok("edit", cell_index=index, content=NEW_LINE + source)
        Before(tool.data).check_edit(index, edited, NEW_LINE + source)
        assert await tool.ok("edit", cell_index=index, content=source) == tool.data
        await tool.ok("move", cell_index=index, to_index=0)
        assert await tool.ok("move", cell_index=0, to_index=index) == tool.data
    inserted = json.loads(await tool.ok("insert", cell_index=len(cells), content=OTHER_SOURCE, cell_type="raw"))
    assert len(problems(inserted)) <= len(problems(json.loads(tool.data)))
    assert joined(inserted["cells"].pop()["source"]) == OTHER_SOURCE
    assert inserted == json.loads(tool.data)
    assert await tool.ok("delete", cell_index=len(cells)) == tool.data


@pytest.mark.parametrize("path", [path for path in CURRENT if corpus_id(path) in INVALID], ids=corpus_id)
async def test_a_cell_of_an_unknown_type_is_named_passed_over_and_taken_out(
    path: Path, runtime: Runtime, tmp_path: Path
) -> None:
    tool = Tool(runtime, path, tmp_path)
    index = INVALID[corpus_id(path)]
    kind = json.loads(tool.data)["cells"][index]["cell_type"]
    flaw = f"a cell of type {kind!r}; cells are code, markdown, raw"
    for call in ({"action": "edit", "content": "x"}, {"action": "move", "to_index": 0}, {"action": "run"}):
        result = await tool(**call, cell_index=index)
        assert (result.is_error, flaw in result.text) == (True, True)
        assert tool.copy.read_bytes() == tool.data
    assert f"── cell {index} (invalid: {flaw})" in (await tool(action="read")).text
    cleared = json.loads(await tool.ok("clear"))["cells"]
    assert cleared[index] == json.loads(tool.data)["cells"][index]
    left = json.loads(await tool.ok("delete", cell_index=index))["cells"]
    assert left == [cell for place, cell in enumerate(cleared) if place != index]


@EVERY_OLD
async def test_an_old_notebook_can_be_read_and_its_upgrade_is_valid(
    path: Path, runtime: Runtime, tmp_path: Path
) -> None:
    tool = Tool(runtime, path, tmp_path)
    content = {"cell_index": 0, "content": "x"}
    for call in ({"action": "edit", **content}, {"action": "insert", **content}, RUN_ALL):
        result = await tool(**call)
        assert result.is_error
        assert "which is too old to be changed" in result.text
        assert "`pisces notebook upgrade`" in result.text
    assert tool.copy.read_bytes() == tool.data
    old = json.loads(tool.data)
    if corpus_id(path) in WITHOUT_CELLS:
        with pytest.raises(NotebookError, match="missing cells array"):
            upgrade(old, ids=iter(map(str, itertools.count())).__next__)
        return
    made = upgrade(old, ids=iter(map(str, itertools.count())).__next__)
    assert not problems(made)
    sources = [joined(cell["source"]) for cell in made["cells"]]
    assert [cell.source for cell in readable(tool.data, path.name).cells] == sources
    shown = await tool("read", outputs="none")
    assert not shown.is_error
    assert all(line in shown.text for source in sources for line in source.splitlines())
    assert all(line in view(tool.data, path.name) for source in sources for line in source.splitlines())
