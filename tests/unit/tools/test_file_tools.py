"""The tools `read`, `write` and `edit`: what they take, what they say, and what they leave on disk."""

import os
import re
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import anyio
import pytest

from pisces.errors import InvalidCall
from pisces.files.whole_file import locked
from pisces.model.files import EditDetails, LineSpan, ReadDetails, WriteDetails
from pisces.model.results import ToolResult
from pisces.runtime import Runtime
from pisces.tools.base import CallContext
from tests.fakes.drive import PATIENCE
from tests.fakes.runtimes import scripted_runtime


@pytest.fixture
async def runtime(tmp_path: Path) -> AsyncIterator[Runtime]:
    async with scripted_runtime({}, tmp_path) as entered:
        yield entered


async def ask(runtime: Runtime, tool: str, path: str, *, owner: str = "me", **params: Any) -> ToolResult:
    with anyio.fail_after(PATIENCE):
        return await runtime.tool(tool, {"path": path, **params}, context=CallContext(owner=owner))


def names(folder: Path) -> list[str]:
    return sorted(entry.name for entry in folder.iterdir())


@pytest.mark.parametrize(
    ("tool", "params", "message"),
    [
        ("read", {}, "missing required field `path`"),
        ("read", {"path": ""}, "Wrong value for `path`"),
        ("read", {"path": "a", "lines": "1"}, "Unknown parameter `lines`"),
        ("write", {"path": "a"}, "missing required field `content`"),
        ("write", {"path": "a", "content": 1}, "Wrong value for `content`"),
        ("write", {"path": "a", "content": "x\ud800"}, "character 1 is half of a surrogate pair"),
        ("write", {"path": "a:1-2", "content": "x"}, "give `a`, not `a:1-2`"),
        ("write", {"path": "artifact://1", "content": "x"}, "artifacts are kept as they were made"),
        ("edit", {"path": "artifact://1", "old_text": "x", "new_text": "y"}, "artifacts are kept as they were made"),
        ("edit", {"path": "a", "old_text": "x"}, "missing required field `new_text`"),
        ("edit", {"path": "a", "old_text": "", "new_text": "x"}, "`old_text` is empty"),
        ("edit", {"path": "a", "old_text": "x", "new_text": "x"}, "there is nothing to change"),
        ("edit", {"path": "a", "old_text": "x", "new_text": "\udc00"}, "Wrong value for `new_text`"),
        ("edit", {"path": "a:3", "old_text": "x", "new_text": "y"}, "without a selection of lines"),
    ],
)
async def test_wrong_parameters_are_refused(
    runtime: Runtime, tmp_path: Path, tool: str, params: dict[str, Any], message: str
) -> None:
    before = names(tmp_path)
    with pytest.raises(InvalidCall, match=re.escape(message)):
        await runtime.tools[tool].call(params, CallContext())
    assert names(tmp_path) == before


async def test_each_tool_says_what_it_is_for_and_what_it_takes(runtime: Runtime) -> None:
    taken = {name: sorted(runtime.tools[name].schema["properties"]) for name in ("read", "write", "edit")}
    assert taken == {"read": ["path"], "write": ["content", "path"], "edit": ["all", "new_text", "old_text", "path"]}
    for name in taken:
        assert len(runtime.tools[name].description.splitlines()) in range(1, 7)


async def test_a_file_that_was_written_can_be_read_and_edited(runtime: Runtime, tmp_path: Path) -> None:
    wrote = await ask(runtime, "write", "src/a.py", content="x = 1\ny = 2\n")
    assert wrote.text == "Wrote 2 lines (12 B) to src/a.py, a new file."
    path = str(tmp_path / "src" / "a.py")
    assert wrote.details == WriteDetails(path=path, kind="text", created=True, lines=2, bytes=12)
    read = await ask(runtime, "read", "src/a.py")
    assert read.text == "     1\tx = 1\n     2\ty = 2"
    assert read.details == ReadDetails(
        path=path, kind="text", bytes=12, lines=2, shown=[LineSpan(1, 2)], encoding="utf-8"
    )
    edited = await ask(runtime, "edit", "src/a.py", old_text="y = 2", new_text="y = 3")
    assert edited.text == "Replaced 1 occurrence in src/a.py (line 2).\n     1\tx = 1\n     2\ty = 3"
    assert edited.details == EditDetails(path=path, kind="text", replacements=1, changed=[LineSpan(2, 2)], bytes=12)
    again = await ask(runtime, "write", "src/a.py", content="")
    assert again.text == "Wrote 0 lines (0 B) to src/a.py, in place of what was there."
    assert (tmp_path / "src" / "a.py").read_bytes() == b""


async def test_what_is_written_is_the_content_and_nothing_else(runtime: Runtime, tmp_path: Path) -> None:
    await ask(runtime, "write", "a", content="\ufeffone\r\ntwo\nthree\r")
    assert (tmp_path / "a").read_bytes() == "\ufeffone\r\ntwo\nthree\r".encode()


async def test_paths_can_begin_at_home_at_the_root_or_at_the_working_folder(runtime: Runtime, tmp_path: Path) -> None:
    (tmp_path / "home" / "h.txt").write_bytes(b"home\n")
    for path in ("~/h.txt", "home/h.txt", str(tmp_path / "home" / "h.txt"), "home/../home/h.txt"):
        assert (await ask(runtime, "read", path)).text == "     1\thome"
    nobody = await ask(runtime, "read", "~no_such_user_here/x")
    assert (nobody.is_error, "cannot be the path of a file" in nobody.text) == (True, True)


async def test_a_name_with_a_colon_is_that_file(runtime: Runtime, tmp_path: Path) -> None:
    (tmp_path / "a:1").write_bytes(b"colon\n")
    (tmp_path / "a").write_bytes(b"one\ntwo\n")
    assert (await ask(runtime, "read", "a:1")).text == "     1\tcolon"
    assert (await ask(runtime, "read", "a:2")).text == "     2\ttwo\n\n[Showing line 2 of 2]"


async def test_the_settings_bound_what_is_shown(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"x\n" * 100)
    async with scripted_runtime({}, tmp_path, output={"max_lines": 10}) as runtime:
        read = await ask(runtime, "read", "a")
        assert read.text.endswith("[Showing lines 1-10 of 100 (10 lines limit). Go on with: read a:11-]")
        assert isinstance(read.details, ReadDetails)
        assert read.details.truncated


@pytest.mark.parametrize(
    ("tool", "params"),
    [("read", {}), ("edit", {"old_text": "a", "new_text": "b"})],
)
async def test_what_is_not_there_is_an_error(runtime: Runtime, tool: str, params: dict[str, str]) -> None:
    missing = await ask(runtime, tool, "no.txt", **params)
    assert (missing.is_error, missing.text.startswith("Error: File not found: ")) == (True, True)


async def test_a_folder_is_an_error_for_all_three(runtime: Runtime, tmp_path: Path) -> None:
    (tmp_path / "sub").mkdir()
    for tool, params in (("read", {}), ("write", {"content": ""}), ("edit", {"old_text": "a", "new_text": "b"})):
        refused = await ask(runtime, tool, "sub", **params)
        assert (refused.is_error, "is a folder, not a file" in refused.text) == (True, True)


async def test_a_write_over_what_was_read_and_has_changed_is_refused(runtime: Runtime, tmp_path: Path) -> None:
    file = tmp_path / "a.txt"
    file.write_bytes(b"one\n")
    await ask(runtime, "read", "a.txt")
    file.write_bytes(b"by others\n")
    refused = await ask(runtime, "write", "a.txt", content="mine\n")
    expected = "Error: a.txt has changed on disk since you read it; nothing was written.\nRead it again."
    assert (refused.is_error, refused.text, file.read_bytes()) == (True, expected, b"by others\n")
    await ask(runtime, "read", "a.txt")
    assert not (await ask(runtime, "write", "a.txt", content="mine\n")).is_error
    assert not (await ask(runtime, "write", "a.txt", content="mine again\n")).is_error
    assert file.read_bytes() == b"mine again\n"


async def test_another_owner_s_write_counts_as_a_change_and_one_s_own_edit_does_not(
    runtime: Runtime, tmp_path: Path
) -> None:
    (tmp_path / "a.txt").write_bytes(b"one\n")
    for owner in ("me", "you"):
        await ask(runtime, "read", "a.txt", owner=owner)
    await ask(runtime, "edit", "a.txt", old_text="one", new_text="two")
    assert not (await ask(runtime, "write", "a.txt", content="three\n")).is_error
    refused = await ask(runtime, "write", "a.txt", content="four\n", owner="you")
    assert "has changed on disk since you read it" in refused.text
    refused = await ask(runtime, "write", "a.txt", content="five\n", owner="who never read it")
    assert "Read a.txt:1 first" in refused.text


async def test_an_edit_does_not_make_known_what_others_changed_elsewhere_in_the_file(
    runtime: Runtime, tmp_path: Path
) -> None:
    file = tmp_path / "a.txt"
    file.write_bytes(b"one\n")
    await ask(runtime, "read", "a.txt")
    file.write_bytes(b"one\nby others\n")
    assert not (await ask(runtime, "edit", "a.txt", old_text="one", new_text="two")).is_error
    assert (await ask(runtime, "write", "a.txt", content="three\n")).is_error
    assert file.read_bytes() == b"two\nby others\n"


async def test_a_file_is_known_by_where_it_is_not_by_how_it_was_called(runtime: Runtime, tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_bytes(b"one\n")
    (tmp_path / "link").symlink_to("a.txt")
    await ask(runtime, "read", "link")
    (tmp_path / "a.txt").write_bytes(b"by others\n")
    assert (await ask(runtime, "write", "a.txt", content="x")).is_error
    assert (await ask(runtime, "write", "link", content="x")).is_error


async def test_a_file_that_was_read_and_is_gone_can_be_written(runtime: Runtime, tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_bytes(b"one\n")
    await ask(runtime, "read", "a.txt")
    (tmp_path / "a.txt").unlink()
    assert (await ask(runtime, "write", "a.txt", content="x\n")).text.endswith("a new file.")


async def test_folders_that_were_made_for_a_file_that_was_not_written_go_again(
    runtime: Runtime, tmp_path: Path
) -> None:
    before = names(tmp_path)
    refused = await ask(runtime, "write", f"one/two/{'x' * 300}", content="x")
    assert (refused.is_error, names(tmp_path)) == (True, before)


async def test_an_edit_without_a_match_leaves_the_very_same_file(runtime: Runtime, tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_bytes(b"one\n")
    before = os.stat(tmp_path / "a.txt")
    refused = await ask(runtime, "edit", "a.txt", old_text="two", new_text="three")
    assert (refused.is_error, refused.text.startswith("Error: The old text was not found in a.txt")) == (True, True)
    after = os.stat(tmp_path / "a.txt")
    assert (after.st_ino, after.st_mtime_ns) == (before.st_ino, before.st_mtime_ns)


async def test_every_occurrence_is_replaced_when_asked_for(runtime: Runtime, tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_bytes(b"x\n" * 30)
    refused = await ask(runtime, "edit", "a.txt", old_text="x", new_text="y")
    assert "30 times" in refused.text
    edited = await ask(runtime, "edit", "a.txt", old_text="x", new_text="y", all=True)
    assert edited.text.startswith("Replaced 30 occurrences in a.txt (lines 1, 2, 3, 4, 5, 6, 7, 8, 9, 10 …).\n")
    assert (tmp_path / "a.txt").read_bytes() == b"y\n" * 30


async def test_a_file_too_large_to_edit_is_refused_before_it_is_read(runtime: Runtime, tmp_path: Path) -> None:
    (tmp_path / "big").touch()
    os.truncate(tmp_path / "big", 65 * 1024 * 1024)
    refused = await ask(runtime, "edit", "big", old_text="x", new_text="y")
    assert "big is 65 MiB; files up to 64 MiB can be edited." in refused.text


async def test_a_call_that_waits_for_another_writer_can_be_cancelled(runtime: Runtime, tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_bytes(b"one\n")
    with locked(tmp_path / "a.txt"), anyio.move_on_after(0.2) as scope:
        await runtime.tool("write", {"path": "a.txt", "content": "one\nx"})
    assert scope.cancelled_caught
    assert (tmp_path / "a.txt").read_bytes() == b"one\n"
    assert not (await ask(runtime, "write", "a.txt", content="one\nx")).is_error


async def test_an_artifact_is_read_like_a_file(runtime: Runtime) -> None:
    text = "".join(f"line {number}\n" for number in range(1, 10_001))
    number = runtime.artifacts.add_bytes("s", "python", text.encode(), extension="log")
    part = await ask(runtime, "read", f"artifact://{number}:2-3")
    assert part.text == "line 2\nline 3"
    assert part.details == ReadDetails(path=f"artifact://{number}", kind="artifact", artifact_id=number)
    whole = await ask(runtime, "read", f"artifact://{number}")
    shown = whole.text.splitlines()
    assert shown[-1] == f"[…50 KiB shown; go on with: read artifact://{number}:{len(shown)}-…]"
    assert "Artifact 99 not found" in (await ask(runtime, "read", "artifact://99")).text
    assert "ID must be numeric" in (await ask(runtime, "read", "artifact://x")).text
