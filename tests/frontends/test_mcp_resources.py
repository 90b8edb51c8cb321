"""Resources of a real server, read with the official client."""

import base64
import json
import os
import re
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import anyio
import nbformat
import pytest
from mcp.client import Client
from mcp.shared.exceptions import MCPError
from mcp_types import BlobResourceContents, TextResourceContents

from pisces.output.artifacts import ArtifactStore
from pisces.settings.paths import Paths
from tests.fakes.drive import PATIENCE
from tests.fakes.mcp_clients import LEGACY, MODERN, call, pisces_mcp, python, text_of

pytestmark = pytest.mark.anyio


@pytest.fixture
async def client(plain_python: str, tmp_path: Path) -> AsyncIterator[Client]:
    async with pisces_mcp(plain_python, cwd=tmp_path) as client:
        yield client


def stored() -> ArtifactStore:
    """The artifacts of the user of this test."""
    return ArtifactStore(Paths.locate(os.environ).artifacts)


async def contents(client: Client, uri: str) -> TextResourceContents | BlobResourceContents:
    with anyio.fail_after(PATIENCE):
        (found,) = (await client.read_resource(uri)).contents
    return found


async def read(client: Client, uri: str) -> str:
    found = await contents(client, uri)
    assert isinstance(found, TextResourceContents)
    return found.text


async def read_to_the_end(client: Client, uri: str) -> str:
    """All pages, put together."""
    whole = b""
    while True:
        page = (await read(client, uri)).encode("utf-8")
        assert len(page) < 34_000
        found = re.search(rb"\[\xe2\x80\xa6bytes (\d+) to (\d+); go on with ([^\s;]+?)(;[^\n]*)?\xe2\x80\xa6\]$", page)
        if found is None:
            return (whole + page).decode("utf-8")
        assert int(found[1]) == len(whole)
        whole += page[: int(found[2]) - int(found[1])]
        uri = found[3].decode("ascii")


def notebook_of(text: str) -> Any:
    """A notebook, after it has been found to be one."""
    notebook = nbformat.reads(text, as_version=4)  # type: ignore[no-untyped-call]  # nbformat has no types
    nbformat.validate(notebook)
    return notebook


async def refusal(client: Client, uri: str) -> MCPError:
    with pytest.raises(MCPError) as refused:
        await contents(client, uri)
    return refused.value


async def test_a_whole_output_is_read_in_pages_and_in_parts(client: Client) -> None:
    result = await python(client, "for i in range(1, 20001): print('line', i)")
    found = re.search(r"with action \"output\" and id (\d+)", text_of(result))
    assert found is not None
    uri = f"artifact://{found[1]}"
    assert await read_to_the_end(client, uri) == "".join(f"line {i}\n" for i in range(1, 20_001))
    assert await read(client, f"{uri}:100-101") == await read(client, f"{uri}?lines=100-101") == "line 100\nline 101\n"
    assert (await read(client, f"{uri}?search=%209999%24")) == "9999:line 9999"
    by_tool = await call(client, "session", action="output", id=found[1], lines="100-101")
    assert text_of(by_tool) == "line 100\nline 101"


async def test_one_line_of_many_megabytes_is_read_in_pages(client: Client) -> None:
    number = stored().add_bytes("default", "python", b"x" * 20_000_000 + b"\nend\n", extension="log")
    first = await read(client, f"artifact://{number}")
    assert first.startswith("x" * 32_768)
    assert f"go on with artifact://{number}?from=32768" in first
    assert await read(client, f"artifact://{number}?from=20000000") == "\nend\n"


async def test_a_picture_is_read_as_it_is_unless_it_is_too_large(client: Client) -> None:
    small, large = b"\x89PNG" + b"x" * 1000, b"\x89PNG" + b"x" * 1_000_000
    number = stored().add_bytes("default", "python", small, extension="png")
    found = await contents(client, f"artifact://{number}")
    assert isinstance(found, BlobResourceContents)
    assert found.mime_type == "image/png"
    assert base64.b64decode(found.blob) == small
    number = stored().add_bytes("default", "python", large, extension="png")
    error = await refusal(client, f"artifact://{number}")
    assert str(stored().path(number)) in error.message


async def test_a_session_is_read_as_a_notebook_and_as_its_variables(client: Client) -> None:
    await python(client, "x = [1, 2, 3]\nprint('hello')", session="a b/é")
    uri = "session://a%20b%2F%C3%A9"
    notebook = notebook_of(await read(client, f"{uri}/notebook.ipynb"))
    assert [cell.source for cell in notebook.cells] == ["x = [1, 2, 3]\nprint('hello')"]
    variables = json.loads(await read(client, f"{uri}/variables"))
    assert variables == {
        "session": "a b/é",
        "as_of_last_cell": False,
        "complete": True,
        "variables": [{"name": "x", "type": "list", "size": "3"}],
    }
    await call(client, "session", action="close", session="a b/é")
    past = notebook_of(await read(client, f"{uri}/notebook.ipynb"))
    assert len(past.cells) == 1


async def test_a_notebook_that_is_too_long_is_read_in_pages(client: Client) -> None:
    await python(client, "print('y' * 100_000)")
    found = await contents(client, "session://default/notebook.ipynb")
    assert isinstance(found, TextResourceContents)
    assert found.mime_type == "text/plain", "some of a notebook is none"
    assert "the session tool writes it to a file with action export" in found.text
    whole = await read_to_the_end(client, "session://default/notebook.ipynb")
    assert notebook_of(whole).cells[0].outputs[0].text == "y" * 100_000 + "\n"


async def test_variables_of_a_busy_session_are_those_of_before_the_cell(client: Client, tmp_path: Path) -> None:
    await python(client, "before = 1")
    job = await python(client, "import time\nafter = 1\ntime.sleep(600)", background=True, timeout=600)
    assert not job.is_error
    variables = json.loads(await read(client, "session://default/variables"))
    assert variables["as_of_last_cell"] is True
    assert [each["name"] for each in variables["variables"]] == ["before"]
    await call(client, "session", action="cancel", job="job-1")


async def test_variables_of_a_session_whose_kernel_has_died_start_none(client: Client) -> None:
    pid = text_of(await python(client, "import os\nkept = 1\nos.getpid()"))
    os.kill(int(pid), 9)
    variables = json.loads(await read(client, "session://default/variables"))
    assert variables["as_of_last_cell"] is True
    told = text_of(await python(client, "1"))
    assert told.startswith("[State: "), "the next call is the one that sees to it and says so"


async def test_what_is_not_there_is_told_with_what_is(client: Client) -> None:
    await python(client, "1")
    number = stored().add_bytes("default", "python", b"one\n", extension="log")
    assert (await refusal(client, "artifact://999")).message == f"Artifact 999 not found. Available: {number}"
    assert (await refusal(client, "session://other/variables")).message.startswith(
        "There is no session 'other'. Sessions: default"
    )
    assert (await refusal(client, "session://other/notebook.ipynb")).message.startswith("There is no session 'other'")
    assert (await refusal(client, "artifact://..%2F..%2Fsettings.toml")).message.startswith(
        "artifact:// ID must be numeric, got: ../../settings.toml"
    )
    assert len((await refusal(client, f"session://{'x' * 100_000}/variables")).message) < 3000


@pytest.mark.parametrize(("mode", "code"), [(LEGACY, -32002), (MODERN, -32602)])
async def test_each_era_has_its_code_for_what_is_not_there(plain_python: str, mode: str, code: int) -> None:
    async with pisces_mcp(plain_python, mode=mode) as client:
        error = await refusal(client, "artifact://999")
        assert (error.code, error.data) == (code, {"uri": "artifact://999"})
        templates = (await client.list_resource_templates()).resource_templates
        assert [template.uri_template for template in templates] == [
            "artifact://{id}{?lines,search,from}",
            "session://{id}/notebook.ipynb{?kernel,from}",
            "session://{id}/variables{?kernel,from}",
        ]


async def test_resources_are_listed_in_pages_the_newest_artifacts_first(client: Client) -> None:
    await python(client, "1")
    await python(client, "1", session="second one")
    numbers = [stored().add_bytes("default", "python", b"text\n", extension="log") for _ in range(120)]
    listed, cursor = [], None
    for _ in range(10):
        page = await client.list_resources(cursor=cursor)
        listed += page.resources
        cursor = page.next_cursor
        if cursor is None:
            break
    assert [resource.uri for resource in listed] == [
        "session://default/notebook.ipynb",
        "session://default/variables",
        "session://second%20one/notebook.ipynb",
        "session://second%20one/variables",
        *(f"artifact://{number}" for number in reversed(numbers)),
    ]
    assert listed[-1].size == 5
    assert listed[-1].mime_type == "text/plain"
    for resource in (listed[0], listed[3], listed[-1]):
        assert await read(client, resource.uri)
    with pytest.raises(MCPError, match="Not a cursor of this list"):
        await client.list_resources(cursor="elsewhere")
