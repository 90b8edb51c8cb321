"""The servers taking turns: from launch to the first result, and `1+1` again and again."""

from collections.abc import Mapping
from contextlib import AsyncExitStack

import anyio
import msgspec

from bench.mcp.client import Connection, connected, first_result
from bench.mcp.servers import PEERS, McpServer, why_not

STARTS = 5
TURN = 10
TURNS = 20
PAUSE = 0.05
FEWER = 10
"""So many times fewer calls of a server that takes longer than `_LONG` for one: it would take minutes."""
_LONG = 0.1
_WARM_UP = 30


class Figures(msgspec.Struct):
    """Seconds, of one server."""

    starts: list[float] = []
    at_once: list[float] = []
    paused: list[float] = []
    lost: int = 0
    """Answers without the value."""


def compare(all_servers: Mapping[str, McpServer]) -> tuple[dict[str, Figures], dict[str, str]]:
    """By name; and of those that cannot be run here, why."""
    problems: dict[str, str] = {}
    for name, server in all_servers.items():
        problem = why_not(server) or _try(server)
        if problem is not None:
            if name not in PEERS:
                raise RuntimeError(f"{name}: {problem}")
            problems[name] = problem
    able = {name: server for name, server in all_servers.items() if name not in problems}
    figures = {name: Figures() for name in able}
    for _ in range(STARTS):
        for name, server in able.items():
            taken, lost = first_result(server)
            figures[name].starts.append(taken)
            figures[name].lost += lost
    anyio.run(_round_trips, able, figures)
    return figures, problems


def _try(server: McpServer) -> str | None:
    """A start that is not counted: it fills the caches of the file system and of the interpreters' probes."""
    try:
        first_result(server)
    except RuntimeError as error:
        return f"it does not work here: {error}"
    return None


async def _round_trips(able: Mapping[str, McpServer], figures: Mapping[str, Figures]) -> None:
    async with AsyncExitStack() as stack:
        connections = {}
        for name, server in able.items():
            environ = stack.enter_context(server.with_what_it_needs())
            connections[name] = await stack.enter_async_context(connected(server, environ))
        counts = {name: await _count(connection) for name, connection in connections.items()}
        for _ in range(TURNS):
            for name, connection in connections.items():
                figures[name].at_once += await _turn(connection, counts[name], 0)
            for name, connection in connections.items():
                figures[name].paused += await _turn(connection, counts[name], PAUSE)
        for name, connection in connections.items():
            figures[name].lost += connection.lost


async def _count(connection: Connection) -> int:
    """How many calls make a turn, after the first calls, which are not counted."""
    if await connection.evaluate() > _LONG and await connection.evaluate() > _LONG:
        return TURN // FEWER
    await _turn(connection, _WARM_UP, 0)
    return TURN


async def _turn(connection: Connection, count: int, pause: float) -> list[float]:
    seconds = []
    for _ in range(count):
        await anyio.sleep(pause)
        seconds.append(await connection.evaluate())
    return seconds
