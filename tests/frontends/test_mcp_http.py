"""`pisces mcp --http` as a process: what it says, who gets to see the token, and how it ends."""

import json
import os
import re
import signal
import socket
from collections.abc import Callable
from pathlib import Path

import anyio
import httpx2
import psutil
import pytest
from mcp.client import Client

from tests.fakes.drive import PATIENCE, eventually
from tests.fakes.mcp_clients import LEGACY, MODERN, python, text_of
from tests.fakes.mcp_http import ServerProcess, Site, client_of, modern_cell, server_process
from tests.fakes.mcp_wire import gone
from tests.frontends.command import Command

GIVEN = "a-token-that-the-user-gives"


def family(pid: int) -> list[psutil.Process]:
    """A process and all below it."""
    process = psutil.Process(pid)
    return [process, *process.children(recursive=True)]


def files_below(folder: Path) -> list[Path]:
    return [path for path in folder.rglob("*") if path.is_file()]


async def use_fully(server: ServerProcess, site: Site) -> list[str]:
    """Have it do what could show a token: calls, refusals, a failure. The environments of its kernels are returned."""
    async with client_of(site, mode=LEGACY) as client:
        seen = text_of(await python(client, "import os, sys\nprint(dict(os.environ), sys.argv)"))
        await python(client, "1 / 0")
        async with httpx2.AsyncClient(timeout=PATIENCE) as http:
            for url, headers in [
                (site.url, {"authorization": f"Bearer {site.token}x"}),
                (f"{site.url}?token={site.token}", {}),
                (f"{site.url}/{site.token}", site.headers()),
                (site.url, site.headers(content_type="text/plain")),
            ]:
                assert (await http.post(url, headers=headers, content=b"{}")).status_code in {401, 404, 415}
        there = family(server.process.pid)
        shown = [fact(process.cmdline) for process in there]
        below = [fact(process.environ) for process in there[1:]]
    return [seen, *shown, *below]


def fact(ask: Callable[[], object]) -> str:
    """What a process tells of itself; nothing if it has ended since."""
    try:
        return str(ask())
    except psutil.NoSuchProcess:
        return ""


@pytest.mark.parametrize("debug", ["", "1"], ids=["usual", "debug"])
async def test_a_made_token_is_shown_once_and_is_nowhere_else(debug: str, plain_python: str, own_home: Path) -> None:
    async with server_process(plain_python, variables={"PI_DEBUG": debug} if debug else {}) as server:
        site = server.site
        assert re.fullmatch(r"[\w-]{43}", site.token)
        assert site.token not in site.url
        for shown in await use_fully(server, site):
            assert site.token not in shown
        server.process.send_signal(signal.SIGTERM)
        assert await server.ends() == 143
        assert server.said().count(site.token) == 1
        assert debug or len(server.said().splitlines()) == 2
    kept = files_below(own_home)
    assert kept  # Journals and artifacts are there, and have nothing of it.
    assert not [path for path in kept if site.token.encode() in path.read_bytes()]


async def test_a_given_token_is_shown_to_nobody(plain_python: str, tmp_path: Path) -> None:
    async with server_process(plain_python, variables={"PISCES_MCP_TOKEN": GIVEN}) as server:
        assert server.said().splitlines()[1] == (
            "Every request needs the header Authorization: Bearer, with the token of PISCES_MCP_TOKEN"
        )
        for shown in await use_fully(server, Site(server.site.url, GIVEN)):
            assert GIVEN not in shown
            assert "PISCES_MCP_TOKEN" not in shown
        assert GIVEN not in server.said()


async def test_the_token_of_a_file_counts(plain_python: str, tmp_path: Path) -> None:
    file = tmp_path / "token"
    file.write_text(f"{GIVEN}\n", encoding="utf-8")
    async with server_process(plain_python, "--token-file", str(file)) as server:
        assert GIVEN not in server.said()
        site = Site(server.site.url, GIVEN)
        async with httpx2.AsyncClient(timeout=PATIENCE) as http:
            headers = site.modern_headers("tools/call", "python")
            response = await http.post(site.url, headers=headers, content=modern_cell("40 + 2"))
            assert response.json()["result"]["structuredContent"]["text"].startswith("42")


@pytest.mark.parametrize(("number", "code"), [(signal.SIGTERM, 143), (signal.SIGINT, 130)])
async def test_a_signal_ends_it_though_calls_and_streams_are_open(
    number: signal.Signals, code: int, plain_python: str, tmp_path: Path
) -> None:
    mark, other = tmp_path / "begun", tmp_path / "begun-too"
    waits = f"open({str(mark)!r}, 'w').close()\nimport time\ntime.sleep(600)"
    results: list[str] = []
    async with server_process(plain_python) as server:
        processes = family(server.process.pid)
        headers = server.site.modern_headers("tools/call", "python")

        async def call_on_its_own() -> None:
            async with httpx2.AsyncClient(timeout=PATIENCE) as http:
                body = modern_cell(waits)
                results.append((await http.post(server.site.url, headers=headers, content=body)).text)

        async def call_of_a_connection(client: Client) -> None:
            results.append(text_of(await python(client, waits.replace(str(mark), str(other)))))

        # The client that shook hands has a stream open for what the server may have to say.
        async with client_of(server.site, mode=LEGACY, stays=True) as client, anyio.create_task_group() as group:
            await python(client, "1")
            group.start_soon(call_on_its_own)
            group.start_soon(call_of_a_connection, client)
            await eventually(lambda: mark.exists() and other.exists(), within=PATIENCE)
            processes += family(server.process.pid)
            server.process.send_signal(number)
            assert await server.ends(within=PATIENCE) == code
        assert len(server.said().splitlines()) == 2  # Nothing went wrong that had to be said.
    assert len(results) == 2
    assert all("interrupted" in result for result in results)
    await eventually(lambda: gone([process.pid for process in processes]), within=PATIENCE)
    with socket.socket() as again:
        again.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        again.bind(("127.0.0.1", server.site.port))


async def test_a_stateless_client_and_one_that_shakes_hands_are_served_at_the_same_time(plain_python: str) -> None:
    async with (
        server_process(plain_python, "--tools", "python") as server,
        client_of(server.site, mode=LEGACY) as before,
        client_of(server.site, mode=MODERN) as now,
    ):
        assert [tool.name for tool in (await now.list_tools()).tools] == ["python"]
        assert [tool.name for tool in (await before.list_tools()).tools] == ["python"]
        assert "42" in text_of(await python(now, "40 + 2"))
        assert "43" in text_of(await python(before, "40 + 3"))


async def test_beyond_this_machine_it_warns_and_wants_its_names_told(plain_python: str) -> None:
    async with server_process(plain_python, "--host", "0.0.0.0", "--allow-host", "box.example") as server:
        assert "Whoever has the token can run code here" in server.said()
        url = f"http://127.0.0.1:{server.site.port}/mcp"
        async with httpx2.AsyncClient(timeout=PATIENCE) as http:
            for name, status in [("box.example", 400), ("other.example", 403), (f"127.0.0.1:{server.site.port}", 400)]:
                body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "tools/list"})
                response = await http.post(url, headers=server.site.headers(host=name), content=body)
                assert response.status_code == status


def test_a_port_that_is_taken_is_said_before_anything_starts(pisces: Command) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        done = pisces("mcp", "--http", "--port", str(port))
    assert done.returncode == 2
    assert f"Nobody can listen on port {port} of 127.0.0.1" in done.stderr
    assert "`--port` names another" in done.stderr


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--port", "1"], "--port is for --http"),
        (["--token-file", "x"], "--token-file is for --http"),
        (["--allow-host", "x"], "--allow-host is for --http"),
        (["--http", "--port", "65536"], "65536"),
        (["--http", "--token", GIVEN], "No such option"),
        (["--http", "--token-file", os.devnull], "cannot be used"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_options_that_make_no_sense_are_refused(pisces: Command, arguments: list[str], said: str) -> None:
    done = pisces("mcp", *arguments)
    assert done.returncode == 2
    assert said in done.stderr
    assert GIVEN not in done.stderr
