"""The tools as each API for agents wants them described."""

from collections.abc import Callable, Iterable, Mapping
from importlib import import_module
from typing import Any, Final, Literal, Protocol

import msgspec

from pisces.errors import InvalidCall
from pisces.model.results import ToolResult
from pisces.settings.schema import Settings
from pisces.tools.base import CallContext, Tool
from pisces.tools.helper_docs import prelude_line
from pisces.tools.hints import hints, meta
from pisces.tools.prompt import prompt
from pisces.tools.registry import BUILT_IN, DEFAULT_TOOLS, FURTHER_TOOLS, why_missing
from pisces.tools.schema import json_schema

Kind = Literal["anthropic", "openai", "openai-chat", "mcp"]
"""Anthropic's Messages, OpenAI's Responses, OpenAI's Chat Completions, and `tools/list` of MCP."""

_PARAMS: Final[Mapping[str, tuple[str, str]]] = {
    "python": ("python_params", "PythonParams"),
    "notebook": ("notebook_params", "NotebookParams"),
    "session": ("session_params", "SessionParams"),
    "bash": ("bash_params", "BashParams"),
    "read": ("files_params", "ReadParams"),
    "write": ("files_params", "WriteParams"),
    "edit": ("files_params", "EditParams"),
    "eval": ("eval_params", "EvalParams"),
}
assert _PARAMS.keys() == BUILT_IN


class ToolRuntime(Protocol):
    """What is needed of a runtime, which is above us."""

    @property
    def tools(self) -> Mapping[str, Tool]: ...

    @property
    def settings(self) -> Settings: ...

    async def tool(self, name: str, params: Mapping[str, Any], *, context: CallContext | None = None) -> ToolResult: ...


class _Described(msgspec.Struct, frozen=True):
    name: str
    description: str
    schema: Mapping[str, Any]


def schemas(
    kind: Kind, tools: Iterable[str] | None = None, *, runtime: ToolRuntime | None = None
) -> list[dict[str, Any]]:
    """The tools, ready to be given to an API: `anthropic`, `openai` (Responses), `openai-chat` or `mcp`.

    Without `tools` they are `python`, `notebook` and `session`. With a runtime that has been entered, they are as they
    are there: also the functions that were registered, without what the settings leave out, and with the helpers of the
    project's modules. Raises `InvalidCall` for a kind or a tool that there is not.

    They are not for the strict mode of OpenAI, in which no parameter can be left out: Responses, where that mode is
    the usual one, are told so.
    """
    wrap = _WRAPPERS.get(kind)
    if wrap is None:
        raise InvalidCall(f"There is no kind of schema {kind!r}. Kinds: {', '.join(_WRAPPERS)}")
    if runtime is None:
        there = {name: _as_it_comes(name) for name in chosen(tools, (*DEFAULT_TOOLS, *FURTHER_TOOLS))}
    else:
        there = {name: _as_it_is(runtime.tools[name]) for name in offered(runtime, tools)}
    return [wrap(tool) for tool in there.values()]


def offered(runtime: ToolRuntime, tools: Iterable[str] | None) -> tuple[str, ...]:
    """The names of the tools that a runtime has of those asked for. Raises `InvalidCall` for one that it has not."""
    there = runtime.tools
    if BUILT_IN.isdisjoint(there):
        raise InvalidCall("The runtime has not been entered: use `async with Runtime() as rt`")
    if tools is not None:
        return chosen(tools, tuple(there), runtime.settings)
    usual = tuple(name for name in DEFAULT_TOOLS if name in there) or ("bash",)
    return (*usual, *(name for name in there if name not in BUILT_IN))


def chosen(tools: Iterable[str] | None, there: tuple[str, ...], settings: Settings | None = None) -> tuple[str, ...]:
    """Each name once, in the order given; the usual ones if none are. Raises `InvalidCall` for one that is not there.

    `settings` are those that may have left it out.
    """
    names = DEFAULT_TOOLS if tools is None else tuple(dict.fromkeys([tools] if isinstance(tools, str) else tools))
    for name in names:
        if name not in there:
            why = "" if settings is None else why_missing(name, settings)
            because = f" here: {why}" if why else ""
            raise InvalidCall(f"There is no tool {name!r}{because}. Tools: {', '.join(there)}")
    return names


def _as_it_is(tool: Tool) -> _Described:
    return _Described(tool.name, tool.description, tool.schema)


def _as_it_comes(name: str) -> _Described:
    """A tool as it is where no settings and no modules change it: nothing is looked up on this machine."""
    module, params = _PARAMS[name]
    description = prompt(name)
    if name == "python":
        description = f"{description}\n- {prelude_line()}"
    return _Described(name, description, json_schema(getattr(import_module(f"pisces.tools.{module}"), params)))


def _anthropic(tool: _Described) -> dict[str, Any]:
    return {"name": tool.name, "description": tool.description, "input_schema": dict(tool.schema)}


def _openai(tool: _Described) -> dict[str, Any]:
    return {"type": "function", **_function(tool), "strict": False}


def _openai_chat(tool: _Described) -> dict[str, Any]:
    return {"type": "function", "function": _function(tool)}


def _function(tool: _Described) -> dict[str, Any]:
    return {"name": tool.name, "description": tool.description, "parameters": dict(tool.schema)}


def _mcp(tool: _Described) -> dict[str, Any]:
    described = {"name": tool.name, "description": tool.description, "inputSchema": dict(tool.schema)}
    further = {"_meta": found} if (found := meta(tool.name)) else {}
    return {**described, "annotations": hints(tool.name), **further}


_WRAPPERS: Final[Mapping[str, Callable[[_Described], dict[str, Any]]]] = {
    "anthropic": _anthropic,
    "openai": _openai,
    "openai-chat": _openai_chat,
    "mcp": _mcp,
}
