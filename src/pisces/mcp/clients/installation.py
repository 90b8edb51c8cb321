"""Pisces in one client's configuration: what to write there, what is there, and whether that still works."""

import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final, Literal

import msgspec

from pisces.errors import FileError, InvalidCall, PiscesError
from pisces.mcp.clients.catalog import Client, Scope, Surroundings
from pisces.mcp.clients.configuration import Change, drop_entry, entry_in, set_entry
from pisces.mcp.clients.launch import command_of, launch_command, launch_of, server_arguments

State = Literal["not installed", "configured", "command is gone", "differs", "unreadable"]
_DISABLED: Final = {"disabled": True, "enabled": False}


class Installation(msgspec.Struct, frozen=True):
    """One client, one of its configurations, and where that is."""

    client: Client
    scope: Scope
    path: Path
    project: Path
    """The folder that a configuration of the scope `project` is for; else the folder at hand."""

    @classmethod
    def of(cls, client: Client, scope: Scope, surroundings: Surroundings, project: Path) -> "Installation":
        """Raises `InvalidCall` if the client has no configuration for projects."""
        if scope not in client.scopes:
            raise InvalidCall(
                f"{client.title} has no configuration for a single project.",
                hint=f"Run `pisces mcp install {client.name}` without --project.",
            )
        return cls(client, scope, client.file(scope, surroundings, project), project)

    def entry(self, launch: Sequence[str], *, tools: Sequence[str], cwd: str | None, home: Path) -> dict[str, Any]:
        """What to write: the launch command, and options for the server."""
        if cwd is None and self.client.has_no_project:
            cwd = str(home)
        if cwd is None and self.scope == "project":
            cwd = str(self.project) if self.client.strays else self.client.project_variable
        return self.client.entry(launch[0], [*launch[1:], *server_arguments(tools=tools, cwd=cwd)])

    def install(self, entry: Mapping[str, Any]) -> Change:
        """The change that puts this entry in. Raises `FileError`."""
        return set_entry(self.path, self.client.syntax, self.client.keys, entry)

    def uninstall(self) -> Change:
        """The change that takes our entry out. Raises `FileError`."""
        return drop_entry(self.path, self.client.syntax, self.client.keys)

    def present(self) -> Any:
        """Our entry as it is in the file; None if there is none. Raises `FileError`."""
        return entry_in(self.path, self.client.syntax, self.client.keys)

    def command(self, entry: Any) -> list[str] | None:
        """The command that the client would start for an entry: its variable for the project is filled in."""
        command = command_of(entry)
        variable = self.client.project_variable
        if command is None or variable is None:
            return command
        return [part.replace(variable, str(self.project)) for part in command]


class Status(msgspec.Struct, frozen=True):
    """How Pisces stands in one configuration."""

    client: str
    scope: Scope
    path: str
    state: State
    command: list[str] | None = None
    note: str = ""
    """What is to be known of it, and what to do."""


def status_of(installation: Installation, launch: Sequence[str] | None) -> Status:
    """How it stands; `launch` is how this installation is started, None if it cannot be."""
    name, scope, path = installation.client.name, installation.scope, str(installation.path)
    again = f"pisces mcp install {name}{' --project' if scope == 'project' else ''}"
    try:
        entry = installation.present()
    except FileError as error:
        return Status(name, scope, path, "unreadable", note=error.explain())
    if entry is None:
        return Status(name, scope, path, "not installed")
    command = installation.command(entry)
    if command is None:
        return Status(name, scope, path, "differs", note=f"It starts no program. `{again}` writes it anew.")
    if shutil.which(command[0]) is None:
        return Status(name, scope, path, "command is gone", command, f"`{again}` writes it anew.")
    if launch_of(entry) != launch:
        note = f"It starts another Pisces than this one, or something else. `{again}` has it start this one."
        return Status(name, scope, path, "differs", command, note)
    is_off = any(entry.get(key) is value for key, value in _DISABLED.items())
    return Status(name, scope, path, "configured", command, "It is switched off in the client." if is_off else "")


def launch_if_any() -> list[str] | None:
    """How this installation is started, None if a client could not start it."""
    try:
        return launch_command()
    except PiscesError:
        return None
