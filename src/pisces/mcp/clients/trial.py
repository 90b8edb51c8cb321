"""Starting the server as a client would, and running one cell through it."""

import shutil
import tempfile
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final, TextIO

import anyio
import msgspec

from pisces.errors import PiscesError

PATIENCE: Final = 60.0
"""Seconds in which the first result has to be there: clients wait no longer for a server to start."""
_CODE: Final = "import platform; print('pisces runs', platform.python_version())"
_SESSION: Final = "install-check"
"""Not the one in which the client works."""
_MARK: Final = "pisces runs "
_SAID: Final = 2000


class Trial(msgspec.Struct, frozen=True):
    """What came of it."""

    python: str | None
    """The version of the Python in which cells run; None if the server has no tool that runs any."""
    seconds: float
    """From the start of the server to the first result."""
    tools: tuple[str, ...]


async def try_out(command: Sequence[str], *, env: Mapping[str, str], cwd: Path, patience: float = PATIENCE) -> Trial:
    """Start a server with little more than its own variables, call its `python` tool, and end it.

    Raises `PiscesError` that says what failed, with what the server said last.
    """
    if shutil.which(command[0]) is None:
        raise PiscesError(
            f"{command[0]} cannot be started: it is not there, or it is no program.",
            hint="Run `pisces mcp install` again, with the Pisces that is to be used.",
        )
    with tempfile.TemporaryFile("w+", encoding="utf-8", errors="replace") as said:
        try:
            with anyio.fail_after(patience):
                return await _run(command, env, cwd, said)
        except TimeoutError:
            raise _failed(f"no result within {patience:g} seconds", said) from None
        except PiscesError as error:
            raise _failed(str(error), said) from error
        except Exception as error:
            raise _failed(_cause(error), said) from error


async def _run(command: Sequence[str], env: Mapping[str, str], cwd: Path, said: TextIO) -> Trial:
    # The SDK takes a second to load, which is no part of what is measured.
    from mcp.client import Client
    from mcp.client.stdio import StdioServerParameters, stdio_client
    from mcp_types import Implementation, TextContent

    server = StdioServerParameters(command=command[0], args=list(command[1:]), env=dict(env), cwd=cwd)
    known = Implementation(name="pisces-install", version="1")
    begun = time.monotonic()
    async with Client(stdio_client(server, errlog=said), client_info=known, cache=None) as client:
        tools = tuple(tool.name for tool in (await client.list_tools()).tools)
        if "python" not in tools:
            return Trial(None, time.monotonic() - begun, tools)
        result = await client.call_tool("python", {"cells": [{"code": _CODE}], "session": _SESSION})
        seconds = time.monotonic() - begun
        text = "\n".join(each.text for each in result.content if isinstance(each, TextContent))
    return Trial(_version(text, failed=bool(result.is_error)), seconds, tools)


def _version(text: str, *, failed: bool) -> str:
    line = next((each for each in text.splitlines() if each.startswith(_MARK)), None)
    if failed or line is None:
        raise PiscesError(f"the cell failed: {text.strip() or 'no output'}")
    return line.removeprefix(_MARK).strip()


def _failed(why: str, said: TextIO) -> PiscesError:
    said.seek(0)
    last = said.read().strip()[-_SAID:]
    words = f"\nThe server said:\n{last}" if last else ""
    return PiscesError(
        f"The server was started as the client would, and did not work: {why}{words}",
        hint="`pisces doctor` checks what it needs; `pisces mcp uninstall` takes the entry out again.",
    )


def _cause(error: BaseException) -> str:
    """The first of the errors that a group holds, in words."""
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return str(error) or type(error).__name__
