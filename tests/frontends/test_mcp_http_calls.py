"""Calls over HTTP: whose sessions are whose, how long they stay, and what a client that leaves takes with it."""

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import anyio
import httpx2
import pytest
from anyio.abc import SocketStream
from mcp_types import CallToolResult

from pisces.runtime import Runtime
from tests.fakes.drive import PATIENCE, eventually
from tests.fakes.mcp_clients import LEGACY, MODERN, python, text_of
from tests.fakes.mcp_http import Site, client_of, modern_cell, serving
from tests.fakes.runtimes import pool_of, runtime_on

ERAS = (LEGACY, MODERN)
KEPT = "what the state has"


@pytest.fixture
def runtime(plain_python: str, tmp_path: Path) -> Runtime:
    return runtime_on(plain_python, tmp_path)


@pytest.fixture
async def site(runtime: Runtime) -> AsyncIterator[Site]:
    async with serving(runtime) as found:
        yield found


def waits(mark: Path) -> str:
    """A cell that says by a file that it has begun, and goes on for longer than any test."""
    return f"kept = {KEPT!r}\nopen({str(mark)!r}, 'w').close()\nimport time\ntime.sleep(600)"


@pytest.mark.parametrize("mode", ERAS)
async def test_the_state_stays_from_call_to_call(site: Site, mode: str) -> None:
    async with client_of(site, mode=mode) as client:
        await python(client, "x = 41")
        result = await python(client, "x + 1")
    assert not result.is_error
    assert "42" in text_of(result)


async def test_clients_that_shake_hands_have_a_default_session_each(site: Site) -> None:
    async with client_of(site, mode=LEGACY) as one, client_of(site, mode=LEGACY) as other:
        await python(one, "x = 'of the one'")
        assert "NameError" in text_of(await python(other, "x"))
        assert "of the one" in text_of(await python(one, "x"))
        await python(other, "x = 'shared'", session="theirs")
        assert "shared" in text_of(await python(one, "x", session="theirs"))


async def test_clients_without_a_connection_are_told_apart_by_their_names(site: Site) -> None:
    async with client_of(site, mode=MODERN, program="one") as one, client_of(site, mode=MODERN, program="two") as two:
        await python(one, "x = 'of the one'")
        assert "NameError" in text_of(await python(two, "x"))
    async with client_of(site, mode=MODERN, program="one") as again:
        assert "of the one" in text_of(await python(again, "x"))


@pytest.mark.parametrize("mode", ERAS)
async def test_a_client_that_says_which_one_it_is_finds_its_session_again(site: Site, mode: str) -> None:
    async with client_of(site, mode=mode, pisces_client="mine") as client:
        await python(client, "x = 41")
    async with client_of(site, mode=mode, pisces_client="mine") as client:
        assert "41" in text_of(await python(client, "x"))
    async with client_of(site, mode=mode, pisces_client="../other") as client:
        assert "Wrong value of the header Pisces-Client" in text_of(await python(client, "x"))


async def test_one_request_by_hand_is_enough(site: Site) -> None:
    async with httpx2.AsyncClient(timeout=PATIENCE) as http:
        for code, answer in (("x = 41", ""), ("x + 1", "42")):
            headers = site.modern_headers("tools/call", "python")
            response = await http.post(site.url, headers=headers, content=modern_cell(code))
            assert response.status_code == 200
            assert "mcp-session-id" not in response.headers
            result = CallToolResult.model_validate(response.json()["result"])
            assert not result.is_error
            assert answer in text_of(result)


async def test_a_client_that_says_it_is_done_ends_its_sessions(site: Site, runtime: Runtime) -> None:
    async with client_of(site, mode=LEGACY) as client:
        await python(client, "x = 41")
        await python(client, "y = 42", session="other")
        assert len(pool_of(runtime).sessions) == 2
    await eventually(lambda: pool_of(runtime).sessions == [])


async def test_a_job_goes_on_after_its_client_has_said_that_it_is_done(
    site: Site, runtime: Runtime, tmp_path: Path
) -> None:
    go, gone = tmp_path / "go", tmp_path / "gone"
    code = f"import os, time\nwhile not os.path.exists({str(go)!r}): time.sleep(0.01)\nopen({str(gone)!r}, 'w').close()"
    async with client_of(site, mode=LEGACY) as client:
        await python(client, code, background=True)
    assert len(pool_of(runtime).sessions) == 1
    go.touch()
    await eventually(gone.exists)
    await eventually(lambda: pool_of(runtime).sessions == [])


@pytest.mark.parametrize("mode", ERAS)
async def test_a_session_whose_client_calls_no_more_is_ended_and_the_next_call_says_so(
    mode: str, plain_python: str, tmp_path: Path
) -> None:
    runtime = runtime_on(plain_python, tmp_path, idle_timeout=0.2)
    async with serving(runtime) as site, client_of(site, mode=mode) as client:
        await python(client, "x = 41")
        pool = pool_of(runtime)
        with anyio.fail_after(PATIENCE):
            while pool.sessions:
                await pool.evict_idle()
                await anyio.sleep(0.02)
        text = text_of(await python(client, "1 + 1"))
        assert "idle for 0.2 seconds" in text
        assert "NameError" in text_of(await python(client, "x"))


@asynccontextmanager
async def hung_up_on(site: Site, body: bytes, headers: dict[str, str]) -> AsyncIterator[SocketStream]:
    """A request on a connection of its own, which is cut without a word when the block ends."""
    lines = [f"{name}: {value}" for name, value in {**headers, "content-length": str(len(body))}.items()]
    head = "\r\n".join(["POST /mcp HTTP/1.1", f"host: 127.0.0.1:{site.port}", *lines, "", ""])
    async with await anyio.connect_tcp("127.0.0.1", site.port) as stream:
        await stream.send(head.encode() + body)
        yield stream


async def shaken(site: Site) -> dict[str, str]:
    """The headers of requests of a client that has shaken hands."""
    async with httpx2.AsyncClient(timeout=PATIENCE) as http:
        params: dict[str, Any] = {"protocolVersion": "2025-11-25", "capabilities": {}}
        params["clientInfo"] = {"name": "by-hand", "version": "1"}
        body = {"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": params}
        response = await http.post(site.url, headers=site.headers(), content=json.dumps(body))
        headers = site.headers(mcp_session_id=response.headers["mcp-session-id"], mcp_protocol_version="2025-11-25")
        done = {"jsonrpc": "2.0", "method": "notifications/initialized"}
        assert (await http.post(site.url, headers=headers, content=json.dumps(done))).status_code == 202
    return headers


@pytest.mark.parametrize("mode", ERAS)
async def test_a_client_that_hangs_up_stops_its_cell_and_the_state_stays(
    site: Site, runtime: Runtime, mode: str, tmp_path: Path
) -> None:
    mark = tmp_path / "begun"
    if mode == MODERN:
        headers = site.modern_headers("tools/call", "python")
    else:
        headers = await shaken(site)
    async with hung_up_on(site, modern_cell(waits(mark)), headers):
        await eventually(mark.exists, within=PATIENCE)
        (session,) = pool_of(runtime).sessions
        assert session.busy
    await eventually(lambda: not session.busy)
    async with httpx2.AsyncClient(timeout=PATIENCE) as http:
        response = await http.post(site.url, headers=headers, content=modern_cell("kept"))
    assert KEPT in response.text
    assert pool_of(runtime).sessions == [session]


@pytest.mark.parametrize("mode", ERAS)
async def test_a_call_that_is_cancelled_stops_its_cell_and_the_state_stays(
    site: Site, runtime: Runtime, mode: str, tmp_path: Path
) -> None:
    mark = tmp_path / "begun"
    async with client_of(site, mode=mode) as client:
        async with anyio.create_task_group() as group:
            group.start_soon(python, client, waits(mark))
            await eventually(mark.exists, within=PATIENCE)
            group.cancel_scope.cancel()
        (session,) = pool_of(runtime).sessions
        await eventually(lambda: not session.busy)
        assert KEPT in text_of(await python(client, "kept"))


async def test_what_was_put_in_the_background_goes_on_when_its_client_hangs_up(
    site: Site, runtime: Runtime, tmp_path: Path
) -> None:
    mark, go, gone = (tmp_path / name for name in ("begun", "go", "gone"))
    code = f"""import os, time
open({str(mark)!r}, 'w').close()
while not os.path.exists({str(go)!r}): time.sleep(0.01)
open({str(gone)!r}, 'w').close()"""
    headers = site.modern_headers("tools/call", "python")
    async with hung_up_on(site, modern_cell(code, background=True), headers):
        await eventually(mark.exists, within=PATIENCE)
    go.touch()
    await eventually(gone.exists)
