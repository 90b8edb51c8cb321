"""The official clients from npm: the SDK of both major versions, and the inspector on the command line."""

import json
import subprocess
from typing import Any, Final, NamedTuple

import anyio
import pytest

from tests.fakes.mcp_clients import mcp_command, mcp_environment
from tests.fakes.mcp_http import Site, server_process
from tests.fakes.mcp_plans import HANDSHAKE, MODERN, TOOLS, check, over_http, over_pipes, plan_for, seen_by, text_of
from tests.node_environment import node_environment, program, script, surroundings

pytestmark = pytest.mark.heavy


class Client(NamedTuple):
    """A script of tests/node, how it begins, and the revision of the protocol that has to come of it."""

    script: str
    mode: str
    protocol: str


CLIENTS: Final = {
    "1.x": Client("sdk_1x_client.mjs", "legacy", HANDSHAKE),
    "2.x-handshake": Client("sdk_2x_client.mjs", "legacy", HANDSHAKE),
    "2.x": Client("sdk_2x_client.mjs", "auto", MODERN),
}


def use(client: Client, server: dict[str, Any]) -> None:
    """Have it go through the list, and see that it saw all."""
    seen = seen_by(script(client.script), plan_for(server, client.mode), cwd=node_environment(), env=surroundings())
    check(seen, client.protocol)


@pytest.mark.parametrize("name", list(CLIENTS))
def test_the_sdk_from_npm_gets_all_it_should_over_pipes(name: str, plain_python: str) -> None:
    use(CLIENTS[name], over_pipes(plain_python))


@pytest.mark.parametrize("name", list(CLIENTS))
async def test_the_sdk_from_npm_gets_all_it_should_over_http(name: str, plain_python: str) -> None:
    async with server_process(plain_python) as running:
        await anyio.to_thread.run_sync(use, CLIENTS[name], over_http(running.site))


def inspect(server: list[str], *arguments: str, env: dict[str, str] | None = None) -> Any:
    """What the inspector shows."""
    done = subprocess.run(
        [*program("mcp-inspector"), "--cli", *server, *arguments],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        encoding="utf-8",
        env=surroundings(env),
        timeout=60,
        check=False,
    )
    assert done.returncode == 0, done.stderr + done.stdout
    return json.loads(done.stdout)


def at(site: Site) -> list[str]:
    """A server over HTTP, as the inspector is told of it."""
    return [site.url, "--transport", "http", "--header", f"Authorization: Bearer {site.token}"]


def test_the_inspector_finds_no_fault_with_the_tools(plain_python: str) -> None:
    shown = inspect(mcp_command(), "--method", "tools/list", "--strict", env=mcp_environment(plain_python))
    assert [tool["name"] for tool in shown["tools"]] == TOOLS


def test_the_inspector_runs_a_cell(plain_python: str) -> None:
    call = ["--method", "tools/call", "--tool-name", "python", "--tool-arg", "code=6 * 7"]
    assert text_of(inspect(mcp_command(), *call, env=mcp_environment(plain_python))) == "42"


async def test_the_inspector_runs_a_cell_over_http(plain_python: str) -> None:
    call = ["--method", "tools/call", "--tool-name", "python", "--tool-arg", "code=6 * 7"]
    async with server_process(plain_python) as running:
        shown = await anyio.to_thread.run_sync(lambda: inspect(at(running.site), *call))
    assert text_of(shown) == "42"
