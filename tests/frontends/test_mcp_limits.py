"""A real server, read with the official client: what it sends is within what clients take."""

import json
from pathlib import Path
from typing import Any

import anyio
import jsonschema  # type: ignore[import-untyped]  # it has no types
import pytest
from mcp.client import Client
from mcp_types import CallToolResult, ImageContent

from tests.fakes.drive import PATIENCE
from tests.fakes.mcp_clients import LEGACY, MODERN, call, pisces_mcp, python, text_of

pytestmark = pytest.mark.anyio

EVERY_TOOL = ("python", "notebook", "session", "bash", "read", "write", "edit", "eval")
TEN_MEGABYTES_OF_PICTURE = """
import base64, os, struct, zlib
def chunk(kind, data):
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
width, height = 2000, 1700
rows = b"".join(b"\\0" + os.urandom(width * 3) for _ in range(height))
header = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
raw = b"\\x89PNG\\r\\n\\x1a\\n" + chunk(b"IHDR", header) + chunk(b"IDAT", zlib.compress(rows, 0)) + chunk(b"IEND", b"")
class Picture:
    def _repr_png_(self):
        return raw
print(len(raw))
Picture()
"""


def size_of(result: CallToolResult) -> int:
    """The bytes of a result on the wire, but for the message around it."""
    return len(result.model_dump_json(by_alias=True, exclude_none=True).encode("utf-8"))


async def read_again(client: Client, number: str) -> CallToolResult:
    return await call(client, "session", action="output", id=number)


@pytest.mark.parametrize("mode", [LEGACY, MODERN])
async def test_the_list_of_tools_is_small_and_says_what_each_does(plain_python: str, mode: str) -> None:
    async with pisces_mcp(plain_python, mode=mode) as client:
        tools = (await client.list_tools()).tools
    assert [tool.name for tool in tools] == ["python", "notebook", "session"]
    plain = [tool.model_dump(by_alias=True, mode="json", exclude_none=True) for tool in tools]
    assert all(tool["annotations"] and tool["outputSchema"] and tool["description"] for tool in plain)
    assert len(json.dumps(plain, separators=(",", ":"), ensure_ascii=False).encode("utf-8")) < 8000


async def test_a_hundred_megabytes_of_output_are_kept_and_the_end_is_read(plain_python: str) -> None:
    async with pisces_mcp(plain_python) as client:
        result = await python(client, "line = 'x' * 99\nfor _ in range(1_048_576): print(line)", timeout=120)
        assert not result.is_error
        assert size_of(result) < 100_000
        assert len(text_of(result).encode("utf-8")) < 36_000
        assert result.structured_content is not None
        number = result.structured_content["artifact"]
        end = await call(client, "session", action="output", id=number, lines="1048576")
        assert text_of(end) == "x" * 99


async def test_a_picture_of_ten_megabytes_is_shown_and_kept_as_it_came(plain_python: str) -> None:
    async with pisces_mcp(plain_python) as client:
        result = await python(client, TEN_MEGABYTES_OF_PICTURE, timeout=60)
        assert text_of(result).startswith("1020"), text_of(result)
        assert size_of(result) < 1_000_000
        (shown,) = (block for block in result.content if isinstance(block, ImageContent))
        assert len(shown.data) <= 700_000
        assert "Made smaller: picture 1 of 1" in text_of(result)
        number = text_of(result).partition("picture 1 is artifact ")[2].partition(" ")[0]
        again = await read_again(client, number)
        assert text_of(again).startswith(f"Artifact {number}: image/png, 9.7 MiB")
        assert size_of(again) < 1_000_000


async def test_a_hundred_displays_of_json_stay_within_the_limits_and_are_kept(plain_python: str) -> None:
    code = """
class Value:
    def __init__(self, number): self.number = number
    def _repr_mimebundle_(self, include=None, exclude=None):
        return {"application/json": {"number": self.number, "list": list(range(3000))}, "text/plain": "value"}
for number in range(100): display(Value(number))
"""
    async with pisces_mcp(plain_python) as client:
        result = await python(client, code)
        assert len(text_of(result).encode("utf-8")) < 40_000
        assert "Left out: " in text_of(result)
        number = text_of(result).rpartition("id ")[2].partition(" ")[0]
        found = await call(client, "session", action="output", id=number, search='"number": 99')
        assert text_of(found).endswith('"number": 99,')


async def test_halves_of_characters_and_escapes_reach_the_client(plain_python: str) -> None:
    async with pisces_mcp(plain_python) as client:
        result = await python(client, r"{'\udc80': '\x01'}, '\ud83d'")
        assert not result.is_error
        after = await python(client, "'still here'")
        assert text_of(after) == "'still here'"


async def test_every_result_fits_the_schema_that_was_listed(plain_python: str, tmp_path: Path) -> None:
    notebook: Any = str(tmp_path / "n.ipynb")
    calls: list[tuple[str, dict[str, Any]]] = [
        ("python", {"code": "x = 1\nx"}),
        ("python", {"code": "1/0"}),
        ("python", {"cells": [{"code": "y = 2", "title": "two"}, {"code": "raise SystemExit(3)"}]}),
        ("python", {"code": "z = 1", "background": True}),
        ("python", {"nonsense": 1}),
        ("session", {"action": "wait", "job": "job-1"}),
        ("session", {"action": "list"}),
        ("session", {"action": "jobs"}),
        ("session", {"action": "variables"}),
        ("session", {"action": "checkpoint", "name": "here"}),
        ("session", {"action": "restore", "name": "here"}),
        ("session", {"action": "undo"}),
        ("session", {"action": "branch", "to": "other"}),
        ("session", {"action": "interrupt"}),
        ("session", {"action": "export", "path": str(tmp_path / "exported.ipynb")}),
        ("session", {"action": "output", "id": "999"}),
        ("session", {"action": "close", "session": "other"}),
        ("notebook", {"action": "insert", "notebook_path": notebook, "cell_index": 0, "content": "1 + 1"}),
        ("write", {"path": notebook, "content": "# %% [code] cell:0\n1 + 1\n"}),
        ("notebook", {"action": "read", "notebook_path": notebook, "outputs": "full"}),
        ("notebook", {"action": "run_all", "notebook_path": notebook}),
        ("notebook", {"action": "edit", "notebook_path": notebook, "cell_index": 0, "content": "2"}),
        ("bash", {"command": "echo one; exit 3"}),
        ("write", {"path": str(tmp_path / "f.txt"), "content": "one\n"}),
        ("read", {"path": str(tmp_path / "f.txt")}),
        ("read", {"path": str(tmp_path / "missing.txt")}),
        ("edit", {"path": str(tmp_path / "f.txt"), "old_text": "one", "new_text": "two"}),
        ("eval", {"cells": [{"language": "py", "code": "3"}]}),
    ]
    async with pisces_mcp(plain_python, "--tools", "all", cwd=tmp_path) as client:
        schemas = {tool.name: tool.output_schema for tool in (await client.list_tools()).tools}
        assert tuple(schemas) == EVERY_TOOL
        outcomes = set()
        for tool, params in calls:
            with anyio.fail_after(PATIENCE):
                result = await client.call_tool(tool, params)
            data = result.structured_content
            assert data is not None, (tool, params)
            jsonschema.validate(data, schemas[tool])
            assert data["text"] == text_of(result)
            assert result.is_error == (data["outcome"] != "ok"), (tool, params, data)
            if params.get("code") == "1/0":
                assert data["error"]["traceback"][-1] == "ZeroDivisionError: division by zero"
            outcomes.add(data["outcome"])
    assert outcomes == {"ok", "error", "refused"}
