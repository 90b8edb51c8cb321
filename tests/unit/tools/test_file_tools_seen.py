"""What a caller has not seen of a file, its `write` does not remove or change."""

import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import anyio
import pytest

from pisces.model.results import ToolResult
from pisces.runtime import Runtime
from pisces.tools.base import CallContext
from tests.fakes.drive import PATIENCE
from tests.fakes.notebooks import code, sources_in, written
from tests.fakes.runtimes import scripted_runtime

LINES = [f"line {number}\n" for number in range(1, 31)]
TEXT = "".join(LINES)


@pytest.fixture
async def runtime(tmp_path: Path) -> AsyncIterator[Runtime]:
    async with scripted_runtime({}, tmp_path, output={"max_lines": 10}) as entered:
        yield entered


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "a.txt"
    path.write_bytes(TEXT.encode())
    return path


@pytest.fixture
def notebook(tmp_path: Path) -> Path:
    """Twenty cells, of which one read shows five."""
    return written(tmp_path / "n.ipynb", *(code(f"x = {number}") for number in range(20)))


async def ask(
    runtime: Runtime,
    tool: str,
    path: str,
    *,
    owner: str = "me",
    agent: str = "",
    max_text: int | None = None,
    **params: Any,
) -> ToolResult:
    with anyio.fail_after(PATIENCE):
        context = CallContext(owner=owner, caller=agent, max_text=max_text)
        return await runtime.tool(tool, {"path": path, **params}, context=context)


@pytest.fixture(params=[b"", b"\xef\xbb\xbf", b"\xff\xfe"], ids=["nothing", "a mark", "a wide mark"])
def empty(request: pytest.FixtureRequest, file: Path) -> Path:
    file.write_bytes(request.param)
    return file


@pytest.mark.usefixtures("empty")
async def test_an_empty_file_can_be_read_and_written_but_not_with_what_stands_for_it(runtime: Runtime) -> None:
    shown = await ask(runtime, "read", "a.txt")
    assert (shown.is_error, shown.text) == (False, "(empty file)")
    assert not (await ask(runtime, "read", "a.txt:raw")).is_error
    refused = await ask(runtime, "write", "a.txt", content="(empty file)\n")
    assert "The text has the line '(empty file)', which is a notice of `read`" in refused.text
    assert not (await ask(runtime, "write", "a.txt", content="some\n")).is_error


async def test_a_notebook_without_cells_can_be_read_and_written(runtime: Runtime, tmp_path: Path) -> None:
    file = written(tmp_path / "n.ipynb")
    assert not (await ask(runtime, "read", "n.ipynb")).is_error
    assert not (await ask(runtime, "write", "n.ipynb", content="# %% [code]\nx\n")).is_error
    assert sources_in(file) == ["x"]


async def test_of_equal_cells_without_ids_one_that_was_seen_does_not_stand_for_another(
    runtime: Runtime, tmp_path: Path
) -> None:
    file = written(tmp_path / "n.ipynb", code("a"), code("b"), code("a"), minor=4)
    await ask(runtime, "read", "n.ipynb:1-4")
    seen = "# %% [code] cell:0\n{}\n# %% [code] cell:1\nb\n"
    assert (await ask(runtime, "write", "n.ipynb", content=seen.format("a"))).is_error
    edited = await ask(runtime, "edit", "n.ipynb", old_text="cell:0\na\n", new_text="cell:0\nc\n")
    assert not edited.is_error
    refused = await ask(runtime, "write", "n.ipynb", content=seen.format("c"))
    assert "n.ipynb has cells that you have not seen" in refused.text
    assert sources_in(file) == ["c", "b", "a"]


async def test_a_view_of_some_cells_written_back_removes_no_others(runtime: Runtime, notebook: Path) -> None:
    before = content(notebook)
    shown = (await ask(runtime, "read", "n.ipynb")).text
    view = shown[: shown.index("\n[")]
    refused = await ask(runtime, "write", "n.ipynb", content=view)
    assert (refused.is_error, content(notebook)) == (True, before)
    assert refused.text == (
        "Error: n.ipynb has cells that you have not seen, and this text would remove or change 15 of them; nothing "
        "was written.\nRead n.ipynb:11-40 first, or change a part with `edit`."
    )
    for lines in ("11-20", "21-30", "31-39"):
        await ask(runtime, "read", f"n.ipynb:{lines}")
    refused = await ask(runtime, "write", "n.ipynb", content=view)
    assert "Read n.ipynb:40 first" in refused.text
    await ask(runtime, "read", "n.ipynb:40")  # Of the last cell one read has shown the marker, and another the source.
    assert not (await ask(runtime, "write", "n.ipynb", content=view)).is_error
    assert sources_in(notebook) == [f"x = {number}" for number in range(5)]


async def test_cells_that_were_not_seen_may_stay_as_they_are_around_changes(runtime: Runtime, notebook: Path) -> None:
    """As code in a cell writes them, which has the text from elsewhere."""
    await ask(runtime, "read", "n.ipynb:1-2")
    view = "".join(f"# %% [code] cell:{number}\nx = {number}\n" for number in range(20))
    theirs = view.replace("x = 0\n", "mine\n")
    assert not (await ask(runtime, "write", "n.ipynb", content=theirs)).is_error
    assert (await ask(runtime, "write", "n.ipynb", content=theirs.replace("x = 9", "y"))).is_error is False
    assert sources_in(notebook)[8:10] == ["x = 8", "y"]


async def test_a_cell_shown_by_the_notebook_tool_is_seen_and_one_that_was_cut_is_not(
    runtime: Runtime, notebook: Path
) -> None:
    view = "".join(f"# %% [code] cell:{number}\nx = {number}\n" for number in range(19))
    read = await runtime.tool("notebook", {"action": "read", "notebook_path": "n.ipynb"})
    assert "x = 9" not in read.text
    refused = await ask(runtime, "write", "n.ipynb", content=view.replace("x = 9", "y"), owner="runtime")
    assert "Read n.ipynb:19-20 first" in refused.text
    assert not (await ask(runtime, "write", "n.ipynb", content=view, owner="runtime")).is_error


async def test_cells_stay_known_through_edits_and_moves(runtime: Runtime, notebook: Path) -> None:
    for lines in ("1-10", "11-20", "21-30", "31-40"):
        await ask(runtime, "read", f"n.ipynb:{lines}", owner="runtime")
    for change in (
        {"action": "move", "cell_index": 19, "to_index": 0},
        {"action": "insert", "cell_index": 0, "content": "new"},
        {"action": "edit", "cell_id": "c3", "content": "edited"},
    ):
        moved = await runtime.tool("notebook", {"notebook_path": "n.ipynb", **change})
        assert not moved.is_error, moved.text
    await ask(runtime, "edit", "n.ipynb", old_text="x = 4\n", new_text="x = 4\n# %% [code]\nsplit\n", owner="runtime")
    wrote = await ask(runtime, "write", "n.ipynb", content="# %% [code]\nall new\n", owner="runtime")
    assert (wrote.is_error, sources_in(notebook)) == (False, ["all new"])


async def test_lines_that_were_not_seen_stay_or_the_write_is_refused(runtime: Runtime, file: Path) -> None:
    read = await ask(runtime, "read", "a.txt:1-5,8-9")
    assert read.text.endswith("[Showing lines 1-5 and 8-9 of 30]")
    for lost in (LINES[:5], [*LINES[:5], *LINES[7:]], [*LINES[:29], "line 30"], [*LINES[:6], "between\n", *LINES[6:]]):
        refused = await ask(runtime, "write", "a.txt", content="".join(lost))
        assert (refused.is_error, content(file)) == (True, TEXT.encode()), lost
        assert refused.text.startswith(
            "Error: a.txt has lines that you have not seen, and this text would remove or change some; nothing was "
            "written.\nRead a.txt:"
        )
        assert refused.text.endswith(" first, or change a part with `edit`.")
    kept = ["first\n", *LINES[5:7], *LINES[9:], "last\n"]
    assert not (await ask(runtime, "write", "a.txt", content="".join(kept))).is_error
    assert not (await ask(runtime, "write", "a.txt", content="")).is_error  # All that is there the caller has written.


@pytest.mark.parametrize(
    ("lines", "shown"),
    [
        (["0\n"] * 30, "1-20"),
        (["0\n"] * 30, "1-10,21-30"),
        (["if a:\n", "}\n", "if b:\n", "}\n"], "1-3"),
        (["if a:\n", "pass\n", "if b:\n", "pass\n"], "1,3-4"),
        (["a\n", "a\n", "b\n", "b\n"], "1,4"),
        (["a\n", "\n", "b\n", "\n", "c\n"], "1-3,5"),
        (["}\n", "}"], "1"),
    ],
)
async def test_a_line_that_was_seen_does_not_stand_for_an_equal_one_that_was_not(
    runtime: Runtime, tmp_path: Path, lines: list[str], shown: str
) -> None:
    file = tmp_path / "equal.txt"
    put(file, "".join(lines).encode())
    seen = ""
    for part in shown.split(","):
        first, _, last = part.partition("-")
        seen += "".join(lines[int(first) - 1 : int(last or first)])
        for start in range(int(first), int(last or first) + 1, 10):
            await ask(runtime, "read", f"equal.txt:{start}-{min(start + 9, int(last or first))}")
    refused = await ask(runtime, "write", "equal.txt", content=seen)
    assert (refused.is_error, content(file)) == (True, "".join(lines).encode())
    assert "has lines that you have not seen" in refused.text
    assert not (await ask(runtime, "write", "equal.txt", content="".join(["new\n", *lines]))).is_error


async def test_who_has_read_all_of_it_or_written_it_may_replace_it(runtime: Runtime, file: Path) -> None:
    assert "Read a.txt:1-30 first" in (await ask(runtime, "write", "a.txt", content="mine\n")).text
    for lines in ("21-30", "raw:1-10", "11-20"):
        await ask(runtime, "read", f"a.txt:{lines}")
    assert "a.txt:1-30" in (await ask(runtime, "write", "a.txt", content="x", owner="another")).text
    assert not (await ask(runtime, "write", "a.txt", content="mine\n")).is_error
    assert not (await ask(runtime, "write", "a.txt", content="mine again\n")).is_error


async def test_an_edit_shifts_what_was_seen(runtime: Runtime, file: Path) -> None:
    await ask(runtime, "read", "a.txt:1-10")
    edited = await ask(runtime, "edit", "a.txt", old_text="line 3\n", new_text="3a\n3b\n3c\n")
    assert not edited.is_error
    refused = await ask(runtime, "write", "a.txt", content="x")
    assert "Read a.txt:13-32 first" in refused.text
    await ask(runtime, "edit", "a.txt", old_text="line 20\n", new_text="")  # Where nothing was shown, but for this.
    assert "Read a.txt:13-19,25-31 first" in (await ask(runtime, "write", "a.txt", content="x")).text
    for lines in ("13-19", "25-31"):
        await ask(runtime, "read", f"a.txt:{lines}")
    assert not (await ask(runtime, "write", "a.txt", content="x")).is_error


async def test_the_notice_becomes_no_content(runtime: Runtime, file: Path, notebook: Path) -> None:
    before = content(file), content(notebook)
    for path in ("a.txt", "n.ipynb"):
        notice = (await ask(runtime, "read", path)).text.splitlines()[-1]
        assert notice.startswith("[Showing lines 1-10 of ")
        for tool, params in (
            ("write", {"path": path, "content": f"# %% [code]\n{notice}\n"}),
            ("write", {"path": "other.txt", "content": f"text\r\n{notice}\r\n"}),
            ("edit", {"path": path, "old_text": "1", "new_text": f"1\n{notice}\n"}),
        ):
            refused = await runtime.tool(tool, params, context=CallContext(owner="me"))
            assert "is a notice of `read`" in refused.text
        assert not (await ask(runtime, "write", f"{path}.txt", owner="another", content=notice)).is_error
        assert not (await ask(runtime, "edit", f"{path}.txt", old_text="limit", new_text="border")).is_error
    assert (content(file), content(notebook)) == before


async def test_what_cannot_be_shown_as_it_is_is_not_replaced(runtime: Runtime, tmp_path: Path) -> None:
    for name, data, why in (
        ("long.txt", b"short\n" + b"x" * 5000 + b"\n", "Line 2 cannot be shown as it is: it has more than 4,000"),
        ("latin.txt", b"one\nna\xefve\n", "Line 2 cannot be shown as it is"),
        ("data.bin", b"\0\1\2", "is not text (binary data, 3 B), and `write` would replace it"),
    ):
        put(tmp_path / name, data)
        await ask(runtime, "read", name)
        refused = await ask(runtime, "write", name, content="one\n")
        assert why in refused.text
        assert content(tmp_path / name) == data
    assert not (await ask(runtime, "edit", "latin.txt", old_text="one", new_text="two")).is_error
    assert "Line 2" in (await ask(runtime, "write", "latin.txt", content="")).text


async def test_a_caller_that_takes_less_text_is_shown_less_and_knows_no_more(runtime: Runtime, tmp_path: Path) -> None:
    lines = [f'"{number:02}" {"x" * 500}\n' for number in range(10)]
    put(tmp_path / "wide.txt", "".join(lines).encode())
    read = await ask(runtime, "read", "wide.txt", max_text=5000)
    assert read.text.count("xx ") == 0
    assert len(json.dumps(read.text)) <= 5000
    assert "Showing lines 1-5 of 10" in read.text
    assert "Read wide.txt:6-10 first" in (await ask(runtime, "write", "wide.txt", content="")).text


def content(path: Path) -> bytes:
    return path.read_bytes()


def put(path: Path, data: bytes) -> None:
    path.write_bytes(data)


async def test_what_one_agent_has_read_another_of_the_same_client_has_not(runtime: Runtime, file: Path) -> None:
    for lines in ("1-10", "11-20", "21-30"):
        await ask(runtime, "read", f"a.txt:{lines}", agent="parent")
    refused = await ask(runtime, "write", "a.txt", agent="child", content="less\n")
    assert "has lines that you have not seen" in refused.text
    assert content(file) == TEXT.encode()
    assert not (await ask(runtime, "write", "a.txt", agent="parent", content="less\n")).is_error
