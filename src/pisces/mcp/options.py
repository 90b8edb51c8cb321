"""What a server is started with."""

import os
from collections.abc import Iterable
from typing import Final, Literal

import msgspec

from pisces.errors import InvalidCall
from pisces.runtime import Runtime
from pisces.tools.base import NEED_NO_KERNEL, Tool
from pisces.tools.registry import BUILT_IN, DEFAULT_TOOLS, FURTHER_TOOLS

Structured = Literal["auto", "always", "never"]
"""Who gets results as data beside the text: `auto` leaves out the clients that then show their model nothing else."""

_MOST_BYTES: Final = 32 * 1024
"""The text of a result: known clients take 25,000 tokens, and dense text has one in one and a half bytes."""


class ServerOptions(msgspec.Struct, frozen=True, kw_only=True):
    """Which tools, and what results look like."""

    tools: tuple[str, ...] = DEFAULT_TOOLS
    structured: Structured = "auto"


def chosen_tools(names: Iterable[str]) -> tuple[str, ...]:
    """The tools by name, in our order; `+name` adds to the usual ones, `all` is every one. Raises `InvalidCall`."""
    given = [name.strip() for part in names for name in part.split(",") if name.strip()]
    if not given:
        return DEFAULT_TOOLS
    known = (*DEFAULT_TOOLS, *FURTHER_TOOLS)
    wanted = set(DEFAULT_TOOLS) if all(name.startswith("+") for name in given) else set()
    for name in (each.removeprefix("+") for each in given):
        if name != "all" and name not in BUILT_IN:
            raise InvalidCall(f"There is no tool {name!r}. Tools: {', '.join(known)}, or `all`")
        wanted |= set(known) if name == "all" else {name}
    return tuple(name for name in known if name in wanted)


def make_runtime(cwd: str | os.PathLike[str] | None = None) -> Runtime:
    """A runtime whose results are small enough for MCP clients. Raises `InvalidCall` and `SettingsError`."""
    output = Runtime(cwd=cwd).settings.output
    most = min(output.max_bytes, _MOST_BYTES)
    return Runtime(cwd=cwd, settings={"output.maxBytes": most, "output.headBytes": min(output.head_bytes, most // 2)})


def offered_tools(runtime: Runtime, options: ServerOptions) -> dict[str, Tool]:
    """The tools that were asked for, as far as the settings allow them. Raises `InvalidCall` when that leaves none.

    Where the settings forbid Python, those that need no kernel take the place of the usual ones. The runtime has been
    entered.
    """
    wanted = options.tools
    if runtime.settings.python.tool_mode == "bash-only" and set(DEFAULT_TOOLS) <= set(wanted):
        wanted = NEED_NO_KERNEL
    there = {name: tool for name in wanted if (tool := runtime.tools.get(name)) is not None}
    if not there:
        raise InvalidCall(
            f"The settings allow none of the tools {', '.join(options.tools)}",
            hint="`pisces settings` shows `python.toolMode`; `--tools` chooses others.",
        )
    return there
