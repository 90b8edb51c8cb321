"""The tools there are: a new one is a file beside this one and a line here."""

from collections.abc import Iterable, Mapping
from typing import Final

from pisces.errors import InvalidCall
from pisces.settings.schema import Settings, ToolMode
from pisces.tools.base import Services, Tool
from pisces.tools.bash import BashTool
from pisces.tools.edit import EditTool
from pisces.tools.eval import EvalTool
from pisces.tools.notebook import NotebookTool
from pisces.tools.python import PythonTool
from pisces.tools.read import ReadTool
from pisces.tools.session import SessionTool
from pisces.tools.write import WriteTool

BUILT_IN: Final = frozenset({"python", "eval", "bash", "session", "notebook", "read", "write", "edit"})
"""The names that are taken, also by tools which the settings do not allow."""

DEFAULT_TOOLS: Final = ("python", "notebook", "session")
"""What agents get that have tools of their own for files and for the shell."""
FURTHER_TOOLS: Final = ("bash", "read", "write", "edit", "eval")
assert {*DEFAULT_TOOLS, *FURTHER_TOOLS} == BUILT_IN

ALL_TOOLS: Final[Mapping[str, object]] = {"python.toolMode": "both", "notebook.enabled": True}
"""Settings for commands: what a setting keeps from agents, people have all the same."""

_RUN_PYTHON: Final = ("python", "eval", "session", "notebook")
_LEFT_OUT: Final[Mapping[ToolMode, tuple[str, ...]]] = {"both": (), "ipy-only": ("bash",), "bash-only": _RUN_PYTHON}


def make_tools(services: Services, *, mode: ToolMode | None = None) -> dict[str, Tool]:
    """Every tool that the settings allow, by name, and those of the program that embeds us.

    `mode` takes the place of the one that is set.
    """
    kinds = (PythonTool, BashTool, EvalTool, SessionTool, NotebookTool, ReadTool, WriteTool, EditTool)
    tools: list[Tool] = [kind(services) for kind in kinds]
    settings = services.settings
    left_out = _LEFT_OUT[mode or settings.python.tool_mode]
    allowed = [tool for tool in tools if tool.name not in left_out and not _is_switched_off(tool.name, settings)]
    return {**{tool.name: tool for tool in allowed}, **services.functions}


def why_missing(name: str, settings: Settings) -> str:
    """Which setting keeps a tool away, as a clause; empty if it is not one of ours, or is there."""
    mode = settings.python.tool_mode
    if name in _LEFT_OUT[mode]:
        return f"`python.toolMode` is `{mode}`"
    return "`notebook.enabled` is false" if _is_switched_off(name, settings) else ""


def no_such_tool(name: str, tools: Iterable[str], settings: Settings) -> InvalidCall:
    """The error for a tool that a caller with these tools does not have."""
    why = why_missing(name, settings)
    because = f" here: {why}" if why else ""
    return InvalidCall(f"There is no tool {name!r}{because}. Tools: {', '.join(tools)}")


def _is_switched_off(name: str, settings: Settings) -> bool:
    return name == NotebookTool.name and not settings.notebook.enabled
