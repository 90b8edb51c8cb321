"""The official Python clients, of this major version and of the one before it, each in an environment of its own.

They go through one list (`tests.fakes.mcp_plans`), over pipes and over HTTP, in both eras of the protocol.
"""

import sys
from pathlib import Path
from typing import Any, Final, NamedTuple

import anyio
import pytest

from tests.environments import interpreter_of
from tests.fakes.mcp_http import server_process
from tests.fakes.mcp_plans import HANDSHAKE, MODERN, check, over_http, over_pipes, plan_for, seen_by

FAKES: Final = Path(__file__).resolve().parents[1] / "fakes"


class Client(NamedTuple):
    """A program, how it begins, and the revision of the protocol that has to come of it."""

    script: str
    mode: str
    protocol: str

    def command(self) -> list[str]:
        """How to start it."""
        before = self.script == "mcp_1x_client.py"
        python = interpreter_of("mcp-before") if before else sys.executable
        return [python, str(FAKES / self.script)]


CLIENTS: Final = {
    "1.x": Client("mcp_1x_client.py", "legacy", HANDSHAKE),
    "2.x-handshake": Client("mcp_2x_client.py", "legacy", HANDSHAKE),
    "2.x": Client("mcp_2x_client.py", "auto", MODERN),
}


@pytest.mark.parametrize("name", list(CLIENTS))
def test_an_official_client_gets_all_it_should_over_pipes(name: str, plain_python: str) -> None:
    client = CLIENTS[name]
    check(seen_by(client.command(), plan_for(over_pipes(plain_python), client.mode)), client.protocol)


async def test_a_client_of_the_version_before_gets_all_it_should_over_http(plain_python: str) -> None:
    client = CLIENTS["1.x"]
    async with server_process(plain_python) as running:
        plan = plan_for(over_http(running.site), client.mode)
        check(await anyio.to_thread.run_sync(seen_by, client.command(), plan), client.protocol)


@pytest.mark.heavy
async def test_the_official_clients_get_all_they_should_over_http_from_one_server_at_once(plain_python: str) -> None:
    seen: dict[str, dict[str, Any]] = {}

    async def use(name: str) -> None:
        client = CLIENTS[name]
        plan = plan_for(over_http(running.site), client.mode)
        seen[name] = await anyio.to_thread.run_sync(seen_by, client.command(), plan)

    async with server_process(plain_python) as running, anyio.create_task_group() as group:
        for name in CLIENTS:
            group.start_soon(use, name)
    for name, client in CLIENTS.items():
        check(seen[name], client.protocol)
