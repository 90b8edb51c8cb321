"""The tools of the host, called from a cell: `tool.read(path="a.py")`. The host carries them out and answers."""

from __future__ import annotations

import json
import os
import time

from . import running
from .company import Member
from .host_connections import MOST, Exchange, connections_to
from .status import cut, emit, show
from .workers import Workers

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_URL = "PI_TOOL_BRIDGE_URL"
_TOKEN = "PI_TOOL_BRIDGE_TOKEN"
_SESSION = "PI_TOOL_BRIDGE_SESSION"
_WHY_NOT = "PI_TOOL_BRIDGE_ERROR"
_NO_WAY = (
    "this kernel knows no way to the tools of its host. One that runs on another machine needs an address at which "
    "the host can be reached from there: the setting bridge.url"
)
_OK, _REFUSED = 200, 403
_LONGEST = 500


class ToolError(RuntimeError):
    """A tool of the host could not do what was asked; the text begins with its name."""

    __module__ = "builtins"  # Its full name in a traceback would say nothing to the reader.

    details: Any = None
    """What the tool has to tell besides; None where that is nothing."""

    def __reduce__(self) -> tuple[Any, ...]:
        return _tool_error, (str(self), self.details)


class ToolsUnreachable(RuntimeError):
    """There is no way from here to the tools of the host."""

    __module__ = "builtins"  # As above.

    def __reduce__(self) -> tuple[Any, ...]:
        return _unreachable, (str(self),)


def _tool_error(text: str, details: Any) -> ToolError:
    """Make the error anew where it was sent to."""
    error = ToolError(text)
    error.details = details
    return error


def _unreachable(text: str) -> ToolsUnreachable:
    return ToolsUnreachable(text)


class HostText(str):  # noqa: SLOT000 - it has details besides
    """What a tool said, with its `details`."""

    details: Any = None


class HostTool:
    """One tool, by its name. Nobody looks for it before it is called."""

    def __init__(self, name: str) -> None:
        if not isinstance(name, str):
            raise TypeError(f"a tool is known by its name, not by {name!r}")
        self._name = name

    def __call__(self, *args: Any, **arguments: Any) -> Any:
        """Call it and wait for its value. Raises `ToolError` when it fails, `ToolsUnreachable` where there is none."""
        return _Call(self._name, args, arguments).run()

    async def aio(self, *args: Any, **arguments: Any) -> Any:
        """The same, to be awaited: `await asyncio.gather(tool.read.aio(path="a"), tool.read.aio(path="b"))`."""
        import asyncio

        call = _Call(self._name, args, arguments)
        try:
            return await asyncio.wrap_future(_workers.of_this_process().submit(call.run))
        except asyncio.CancelledError:
            call.give_up()
            raise

    def __repr__(self) -> str:
        return f"tool[{self._name!r}]"


class _Workers:
    """The threads that wait for calls of coroutines; a forked process has its own."""

    def __init__(self) -> None:
        self._workers: Workers | None = None

    def of_this_process(self) -> Workers:
        self._workers = self._workers or Workers(MOST)
        return self._workers

    def forget(self) -> None:
        self._workers = None


_workers = _Workers()
os.register_at_fork(after_in_child=_workers.forget)


class _Call:
    """One call, told in one status event."""

    def __init__(self, name: str, positional: tuple[Any, ...], arguments: dict[str, Any]) -> None:
        self._name = name
        self._positional = positional
        self._arguments = arguments
        self._exchange: Exchange | None = None
        self._given_up = False

    def run(self) -> Any:
        began = time.monotonic()
        error = ""
        try:
            return self._value()
        except BaseException as failure:
            error = cut(f"{type(failure).__name__}: {failure}".rstrip(": "), _LONGEST)
            raise
        finally:
            ms = round((time.monotonic() - began) * 1000, 1)
            emit("tool", name=self._name, ok=not error, ms=ms, **({"error": error} if error else {}))

    def give_up(self) -> None:
        """Nobody waits for it any more: the host is told to stop."""
        self._given_up = True
        if self._exchange is not None:
            self._exchange.give_up()

    def _value(self) -> Any:
        if self._positional:
            raise TypeError(f"{self._name}: tools take arguments by name only, such as tool.read(path=…)")
        body = {"session": _variable(_SESSION, self._name), "name": self._name, "args": self._arguments}
        run = running.current()
        if run:
            body["run"] = run
        self._exchange = Exchange("POST", "/v1/tool", _variable(_TOKEN, self._name), _encoded(self._name, body))
        if self._given_up:
            self._exchange.give_up()
        with Member(self.give_up):
            status, answer = _answer(self._exchange, self._name)
        for image in answer.get("images") or ():
            show({image["mime_type"]: image["data"]})
        if answer.get("ok"):
            return _as_value(answer)
        if status == _REFUSED:
            raise ToolsUnreachable(f"{self._name}: the host refused the call: {answer.get('error')}")
        raise _tool_error(f"{self._name}: {answer.get('error')}", answer.get("details"))


def names() -> list[str]:
    """The tools that there are; none where they cannot be reached."""
    try:
        exchange = Exchange("GET", "/v1/tools", _variable(_TOKEN, "tools"))
        _, answer = _answer(exchange, "tools")
    except ToolsUnreachable:
        return []
    return sorted(answer.get("tools") or ())


def _variable(name: str, tool: str) -> str:
    value = os.environ.get(name, "")
    if not value:
        raise ToolsUnreachable(f"{tool}: {os.environ.get(_WHY_NOT) or _NO_WAY}")
    return value


def _encoded(tool: str, body: dict[str, Any]) -> bytes:
    try:
        return json.dumps(body, default=_plain, allow_nan=False).encode("ascii")
    except (TypeError, ValueError, RecursionError) as error:
        raise TypeError(f"{tool}: the arguments cannot be sent as JSON: {error}") from None


def _plain(value: Any) -> Any:
    if isinstance(value, os.PathLike):
        return os.fspath(value)
    raise TypeError(f"{value!r} is of type {type(value).__name__}")


def _answer(exchange: Exchange, tool: str) -> tuple[int, dict[str, Any]]:
    """The status and what was answered. Raises `ToolsUnreachable`."""
    from http.client import HTTPException

    url = _variable(_URL, tool)
    try:
        status, body = connections_to(url).exchange(exchange)
    except ConnectionRefusedError as error:
        raise ToolsUnreachable(f"{tool}: no host answers at {url}: {error.strerror}") from None
    except (OSError, ValueError, HTTPException) as error:
        why = str(error) or type(error).__name__
        raise ToolsUnreachable(
            f"{tool}: the connection to the host at {url} failed: {why}. Whether the tool was called is not known"
        ) from None
    try:
        answer = json.loads(body)
    except ValueError:
        answer = None
    if not isinstance(answer, dict):
        raise ToolsUnreachable(f"{tool}: what answers at {url} is no host of this kernel (status {status})")
    return status, answer


def _as_value(answer: dict[str, Any]) -> Any:
    value = answer.get("value")
    if not isinstance(value, str) or "details" not in answer:
        return value
    text = HostText(value)
    text.details = answer["details"]
    return text
