"""The clients that we know: where each keeps its MCP servers, in which format, and what an entry looks like there.

From each client's documentation, and tried with the programs that can be had (Claude Code, Codex, Gemini CLI).
"""

import os
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Final, Literal

import msgspec

NAME: Final = "pisces"
"""What our server is called in every client."""
WORKSPACE: Final = "${workspaceFolder}"
"""What Cursor puts the folder of the project in for."""

_LONGEST_CALL: Final = 660
"""Seconds that a client is asked to wait for a tool: a cell may run for 600, and its result has to come after that."""
_START: Final = 60

Scope = Literal["user", "project"]
Syntax = Literal["json", "toml"]


class Surroundings(msgspec.Struct, frozen=True):
    """What decides where a client looks for its configuration."""

    home: Path
    variables: Mapping[str, str]
    platform: str

    @classmethod
    def here(cls) -> "Surroundings":
        """Those of this process."""
        return cls(Path.home(), os.environ, sys.platform)

    def folder(self, variable: str, *default: str) -> Path:
        """The folder that a variable names, or else one below the home."""
        given = self.variables.get(variable, "")
        return Path(given) if given else self.home.joinpath(*default)

    def application_data(self) -> Path:
        """Where programs made with Electron keep theirs."""
        if self.platform == "darwin":
            return self.home / "Library" / "Application Support"
        return self.folder("XDG_CONFIG_HOME", ".config")


class Client(msgspec.Struct, frozen=True, kw_only=True):
    """One client."""

    name: str
    title: str
    user_file: Callable[[Surroundings], Path]
    project_file: str | None = None
    """Below the folder of a project; None if the client has only one configuration."""
    holder: str = "mcpServers"
    """What its servers are listed under."""
    syntax: Syntax = "json"
    before: dict[str, Any] = {}
    """What an entry has before `command`."""
    after: dict[str, Any] = {}
    """What an entry has after `args`."""
    has_no_project: bool = False
    """Whether it starts servers without a folder to work in: ours then gets the home."""
    project_variable: str | None = None
    """What it replaces by the folder of a project, where it does not say in which folder it starts servers."""
    strays: bool = False
    """Whether it starts the servers of a project in another folder at times: ours then gets the folder by name."""
    then: str = ""
    """What a person has to do for it to notice."""

    def file(self, scope: Scope, surroundings: Surroundings, project: Path) -> Path:
        """Its configuration. The client has to have one of that scope."""
        if scope == "user":
            return self.user_file(surroundings)
        assert self.project_file is not None
        return project / self.project_file

    @property
    def scopes(self) -> tuple[Scope, ...]:
        """Which configurations it has."""
        return ("user",) if self.project_file is None else ("user", "project")

    @property
    def keys(self) -> tuple[str, str]:
        """Where our entry is in its configuration."""
        return self.holder, NAME

    def entry(self, command: str, arguments: list[str]) -> dict[str, Any]:
        """What our entry looks like."""
        return {**self.before, "command": command, "args": arguments, **self.after}


def _zed(surroundings: Surroundings) -> Path:
    if surroundings.platform == "darwin":
        return surroundings.home / ".config" / "zed" / "settings.json"
    return surroundings.folder("XDG_CONFIG_HOME", ".config") / "zed" / "settings.json"


def _claude_code(surroundings: Surroundings) -> Path:
    return surroundings.folder("CLAUDE_CONFIG_DIR") / ".claude.json"


_ALL: Final = (
    Client(
        name="claude-code",
        title="Claude Code",
        user_file=_claude_code,
        project_file=".mcp.json",
        before={"type": "stdio"},
        # It waits for the server before its first turn, and keeps no tool back until somebody searches for it.
        after={"alwaysLoad": True},
        then="Start Claude Code anew; `/mcp` lists its servers. It asks before it uses those of a project.",
    ),
    Client(
        name="claude-desktop",
        title="Claude Desktop",
        user_file=lambda at: at.application_data() / "Claude" / "claude_desktop_config.json",
        has_no_project=True,
        then="Quit Claude Desktop and start it again.",
    ),
    Client(
        name="codex",
        title="Codex",
        user_file=lambda at: at.folder("CODEX_HOME", ".codex") / "config.toml",
        project_file=".codex/config.toml",
        holder="mcp_servers",
        syntax="toml",
        after={"startup_timeout_sec": _START, "tool_timeout_sec": _LONGEST_CALL},
        then="Start Codex anew; `/mcp` lists its servers. It reads a project's file in folders that it trusts.",
    ),
    Client(
        name="cursor",
        title="Cursor",
        user_file=lambda at: at.home / ".cursor" / "mcp.json",
        project_file=".cursor/mcp.json",
        before={"type": "stdio"},
        project_variable=WORKSPACE,
        then="Start Cursor anew, and see that it is switched on in its settings, under MCP.",
    ),
    Client(
        name="vscode",
        title="VS Code",
        user_file=lambda at: at.application_data() / "Code" / "User" / "mcp.json",
        project_file=".vscode/mcp.json",
        holder="servers",
        before={"type": "stdio"},
        then="Run `MCP: List Servers` in VS Code to start it.",
    ),
    Client(
        name="gemini",
        title="Gemini CLI",
        user_file=lambda at: at.folder("GEMINI_CLI_HOME") / ".gemini" / "settings.json",
        project_file=".gemini/settings.json",
        after={"timeout": _LONGEST_CALL * 1000},
        then="Start Gemini CLI anew; `/mcp` lists its servers. It starts them in folders that it trusts.",
    ),
    Client(
        name="windsurf",
        title="Windsurf",
        user_file=lambda at: at.home / ".codeium" / "windsurf" / "mcp_config.json",
        then="Refresh the list of MCP servers in Windsurf, or start it anew.",
    ),
    Client(
        name="zed",
        title="Zed",
        user_file=_zed,
        project_file=".zed/settings.json",
        holder="context_servers",
        strays=True,
        # In seconds, and no more than this is heeded.
        after={"timeout": 600},
        then="Zed notices by itself; the settings of its agent panel list the servers.",
    ),
)
CLIENTS: Final[Mapping[str, Client]] = {client.name: client for client in _ALL}
"""By the names that the command line takes."""
