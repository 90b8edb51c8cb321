"""A function as a tool: its parameters from its annotations, its description from its docstring."""

import asyncio
import inspect
import logging
import re
from collections.abc import Awaitable, Callable, Mapping
from functools import partial
from typing import Any, Final, Union, get_type_hints

import anyio
import msgspec

from pisces.errors import InvalidCall
from pisces.model.results import FunctionValue, TextBlock, ToolResult
from pisces.sessions.beside import beside
from pisces.tools.base import CallContext, error_result
from pisces.tools.schema import parse_params

Function = Callable[..., Any]

_MOST_THREADS: Final = 64
"""Of one tool. They are its own: while it waits for something, files are still read and written."""
_NAME: Final = re.compile(r"[A-Za-z0-9_-]{1,64}")
_SHOWN_DEFAULTS: Final = (str, int, float, bool)
_NAMED: Final = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)

_log = logging.getLogger(__name__)


class FunctionTool:
    """Fulfils `Tool`. What the function raises is a result that says so; the log has the traceback."""

    def __init__(self, function: Function, *, name: str = "", description: str = "") -> None:
        """Raises `InvalidCall` for a function that cannot be called with parameters by name, and of JSON types."""
        self.name = name or getattr(function, "__name__", "")
        if not _NAME.fullmatch(self.name):
            raise InvalidCall(
                f"{self.name!r} cannot be the name of a tool: up to 64 letters, digits, `_` and `-` can",
                hint="Give it one: `register(name=…)`.",
            )
        self.description = description or inspect.getdoc(function) or ""
        self._function = function
        self._threads: anyio.CapacityLimiter | None = None
        self._kind = _params_of(function, self.name)
        self._schema = _schema_of(self._kind, function, self.name)

    @property
    def schema(self) -> Mapping[str, Any]:
        """The JSON schema of its parameters."""
        return self._schema

    async def call(self, params: Mapping[str, Any], context: CallContext) -> ToolResult:
        """Call the function; one that is not async, in a thread. Raises `InvalidCall` for wrong parameters."""
        parsed = parse_params(params, self._kind)
        given = {name: value for name in self._kind.__struct_fields__ if (value := getattr(parsed, name)) is not _UNSET}
        try:
            returned = await _unless_aborted(context.abort, partial(self._run, given))
        except _Stopped:
            return error_result(f"{self.name} was stopped before it had finished")
        except _Raised as raised:
            error = raised.error
            _log.error("the tool %r failed", self.name, exc_info=error)
            return error_result(f"{type(error).__name__}: {_said(error)}".rstrip(": "))
        return self._result(returned)

    async def _run(self, given: Mapping[str, Any]) -> Any:
        """What it returns. Raises `_Raised`: neither `argparse` nor a task of its own that was cancelled may end us."""
        try:
            return await self._returned(given)
        except (Exception, SystemExit) as error:  # noqa: BLE001 - the function is not ours, and may raise anything
            raise _Raised(error) from None
        except asyncio.CancelledError as error:
            task = asyncio.current_task()
            if task is not None and task.cancelling():
                raise
            raise _Raised(error) from None

    async def _returned(self, given: Mapping[str, Any]) -> Any:
        if inspect.iscoroutinefunction(self._function):
            return await self._function(**given)
        self._threads = self._threads or anyio.CapacityLimiter(_MOST_THREADS)
        function = partial(self._function, **given)
        returned = await anyio.to_thread.run_sync(function, abandon_on_cancel=True, limiter=self._threads)
        return await returned if inspect.isawaitable(returned) else returned

    def _result(self, returned: Any) -> ToolResult:
        if isinstance(returned, ToolResult):
            return returned
        try:
            value = msgspec.json.decode(msgspec.json.encode(returned))
            text = value if isinstance(value, str) else msgspec.json.encode(value).decode("utf-8")
        except (TypeError, ValueError, RecursionError) as error:
            return error_result(f"{self.name} returned what cannot be sent as JSON: {error}")
        return ToolResult(content=[TextBlock(text)], details=FunctionValue(value))


class _Stopped(Exception):
    """The call was to stop."""


class _Raised(Exception):
    """The function raised this."""

    def __init__(self, error: BaseException) -> None:
        super().__init__()
        self.error = error


_UNSET: Final = msgspec.UNSET


def _said(error: BaseException) -> str:
    try:
        return str(error)
    except Exception:  # noqa: BLE001 - neither is the class of what it raises
        return ""


async def _unless_aborted(abort: anyio.Event | None, work: Callable[[], Awaitable[Any]]) -> Any:
    """Do the work. Raises `_Stopped` when the event is set meanwhile; a thread that cannot be stopped is let go."""
    if abort is None:
        return await work()
    scope = anyio.CancelScope()

    async def watch() -> None:
        await abort.wait()
        scope.cancel()

    async def guarded() -> Any:
        with scope:
            return await work()
        raise _Stopped

    return await beside(watch, guarded)


def _params_of(function: Function, name: str) -> type[msgspec.Struct]:
    """A struct of the parameters. Those that have a default are left out of a call that does not give them."""
    try:
        parameters = inspect.signature(function).parameters
        hints = get_type_hints(function, include_extras=True) if parameters else {}
    except (NameError, TypeError, ValueError) as error:
        raise InvalidCall(f"The parameters of the tool {name!r} cannot be told: {error}") from None
    fields: list[tuple[str, Any] | tuple[str, Any, Any]] = []
    for parameter in parameters.values():
        if parameter.kind not in _NAMED:
            raise InvalidCall(f"The tool {name!r} cannot have the parameter `{parameter}`: it is called by name")
        kind = hints.get(parameter.name, Any)
        if parameter.default is inspect.Parameter.empty:
            fields.append((parameter.name, kind))
        else:
            # Not `|`: the annotation may be a text, or anything else that is no type.
            fields.append((parameter.name, Union[kind, msgspec.UnsetType], msgspec.UNSET))  # noqa: UP007 - see above
    try:
        return msgspec.defstruct("_Parameters", fields, frozen=True, kw_only=True, forbid_unknown_fields=True)
    except (NameError, TypeError, ValueError) as error:
        raise InvalidCall(f"The parameters of the tool {name!r} cannot be told: {error}") from None


def _schema_of(kind: type[msgspec.Struct], function: Function, name: str) -> Mapping[str, Any]:
    """In one piece. The types of a program may be any, also ones that refer to themselves: they stay apart."""
    try:
        _, definitions = msgspec.json.schema_components([kind], ref_template="#/$defs/{name}")
    except TypeError as error:
        raise InvalidCall(f"The parameters of the tool {name!r} cannot be had as JSON: {error}") from None
    schema: dict[str, Any] = definitions.pop(kind.__name__)
    schema.pop("title", None)
    if definitions:
        schema["$defs"] = definitions
    for parameter in inspect.signature(function).parameters.values():
        if isinstance(parameter.default, _SHOWN_DEFAULTS):
            schema["properties"][parameter.name]["default"] = parameter.default
    return schema
