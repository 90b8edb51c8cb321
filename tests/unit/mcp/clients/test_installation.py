"""Each client gets our entry in its own place and shape, and gives it back."""

import json
import sys
import tomllib
from pathlib import Path
from typing import Any

import click
import pytest

from pisces.cli.mcp_install import install
from pisces.errors import InvalidCall
from pisces.mcp.clients.catalog import CLIENTS, Scope, Surroundings
from pisces.mcp.clients.installation import Installation, status_of
from pisces.mcp.clients.jsonc import parse
from pisces.mcp.clients.launch import launch_command

LAUNCH = [sys.executable, "-I", "-m", "pisces", "mcp"]
COMMAND: dict[str, Any] = {"command": LAUNCH[0], "args": LAUNCH[1:]}
STDIO = {"type": "stdio", **COMMAND}

ENTRIES: dict[str, Any] = {
    "claude-code": {**STDIO, "alwaysLoad": True},
    "claude-desktop": {**COMMAND, "args": [*LAUNCH[1:], "--cwd", "HOME"]},
    "codex": {**COMMAND, "startup_timeout_sec": 60, "tool_timeout_sec": 660},
    "cursor": STDIO,
    "vscode": STDIO,
    "gemini": {**COMMAND, "timeout": 660_000},
    "windsurf": COMMAND,
    "zed": {**COMMAND, "timeout": 600},
}
HOLDERS = {"codex": "mcp_servers", "vscode": "servers", "zed": "context_servers"}
LINUX = {
    "claude-code": ".claude.json",
    "claude-desktop": ".config/Claude/claude_desktop_config.json",
    "codex": ".codex/config.toml",
    "cursor": ".cursor/mcp.json",
    "vscode": ".config/Code/User/mcp.json",
    "gemini": ".gemini/settings.json",
    "windsurf": ".codeium/windsurf/mcp_config.json",
    "zed": ".config/zed/settings.json",
}
MAC = LINUX | {
    "claude-desktop": "Library/Application Support/Claude/claude_desktop_config.json",
    "vscode": "Library/Application Support/Code/User/mcp.json",
}
PROJECT = {
    "claude-code": ".mcp.json",
    "codex": ".codex/config.toml",
    "cursor": ".cursor/mcp.json",
    "vscode": ".vscode/mcp.json",
    "gemini": ".gemini/settings.json",
    "zed": ".zed/settings.json",
}
EVERY = pytest.mark.parametrize("name", list(CLIENTS))


def surroundings(tmp_path: Path, platform: str = "linux", **variables: str) -> Surroundings:
    return Surroundings(tmp_path / "home", variables, platform)


def made(name: str, tmp_path: Path, scope: Scope = "user") -> Installation:
    return Installation.of(CLIENTS[name], scope, surroundings(tmp_path), tmp_path / "project")


def entry_of(found: Installation, tmp_path: Path, **options: Any) -> dict[str, Any]:
    options = {"tools": (), "cwd": None, "home": tmp_path / "home"} | options
    return found.entry(LAUNCH, **options)


def values(path: Path) -> Any:
    text = path.read_text(encoding="utf-8")
    if path.suffix == ".toml":
        return tomllib.loads(text)
    node = parse(text)
    return {} if node is None else node.value


@EVERY
def test_a_client_without_configuration_gets_one_that_its_program_can_read(name: str, tmp_path: Path) -> None:
    found = made(name, tmp_path)
    found.install(entry_of(found, tmp_path)).apply(private=True)
    wanted = json.loads(json.dumps(ENTRIES[name]).replace("HOME", str(tmp_path / "home")))
    assert found.path == tmp_path / "home" / LINUX[name]
    assert values(found.path) == {HOLDERS.get(name, "mcpServers"): {"pisces": wanted}}
    if found.path.suffix == ".json":
        json.loads(found.path.read_text(encoding="utf-8"))


@EVERY
def test_a_client_with_servers_keeps_them_and_gets_its_bytes_back(name: str, tmp_path: Path) -> None:
    found = made(name, tmp_path)
    holder = HOLDERS.get(name, "mcpServers")
    text = f'// note\n{{\n\t"a": [1,],\n\t"{holder}": {{\n\t\t"x": {{"command": "y"}},\n\t}},\n}}\n'
    if found.path.suffix == ".toml":
        text = f'# note\nmodel = "m"\n\n[{holder}.x]\ncommand = "y" # why\n'
    found.path.parent.mkdir(parents=True)
    found.path.write_text(text, encoding="utf-8")
    found.install(entry_of(found, tmp_path)).apply(private=True)
    assert set(values(found.path)[holder]) == {"x", "pisces"}
    assert found.install(entry_of(found, tmp_path)).is_none
    found.uninstall().apply(private=True)
    assert found.path.read_text(encoding="utf-8") == text
    assert found.uninstall().is_none


@pytest.mark.parametrize("name", list(PROJECT))
def test_a_project_gets_a_configuration_of_its_own(name: str, tmp_path: Path) -> None:
    found = made(name, tmp_path, "project")
    assert found.path == tmp_path / "project" / PROJECT[name]
    entry = entry_of(found, tmp_path)
    # Cursor does not say where it starts servers, and puts the folder in for this. Zed starts them in / at times.
    project = str(tmp_path / "project")
    folders = {"cursor": ["--cwd", "${workspaceFolder}"], "zed": ["--cwd", project]}
    assert entry["args"] == [*LAUNCH[1:], *folders.get(name, [])]
    assert found.command(entry) == [*LAUNCH, *(["--cwd", project] if name in folders else [])]


def test_the_command_line_which_does_not_load_the_clients_knows_each_of_them() -> None:
    choice = install.params[0].type
    assert isinstance(choice, click.Choice)
    assert list(choice.choices) == list(CLIENTS)


@pytest.mark.parametrize("name", sorted(CLIENTS.keys() - PROJECT))
def test_a_client_without_projects_says_so(name: str, tmp_path: Path) -> None:
    with pytest.raises(InvalidCall, match="no configuration for a single project"):
        made(name, tmp_path, "project")


@EVERY
def test_the_place_is_that_of_the_platform(name: str, tmp_path: Path) -> None:
    home = tmp_path / "home"
    assert CLIENTS[name].user_file(surroundings(tmp_path, "darwin")) == home / MAC[name]
    # An empty variable is none.
    assert CLIENTS[name].user_file(surroundings(tmp_path, XDG_CONFIG_HOME="", CODEX_HOME="")) == home / LINUX[name]


@pytest.mark.parametrize(
    ("name", "variable", "place"),
    [
        ("claude-code", "CLAUDE_CONFIG_DIR", ".claude.json"),
        ("claude-desktop", "XDG_CONFIG_HOME", "Claude/claude_desktop_config.json"),
        ("codex", "CODEX_HOME", "config.toml"),
        ("vscode", "XDG_CONFIG_HOME", "Code/User/mcp.json"),
        ("gemini", "GEMINI_CLI_HOME", ".gemini/settings.json"),
        ("zed", "XDG_CONFIG_HOME", "zed/settings.json"),
    ],
)
def test_a_variable_that_moves_it_is_heeded(name: str, variable: str, place: str, tmp_path: Path) -> None:
    moved = surroundings(tmp_path, **{variable: "/moved"})
    assert CLIENTS[name].user_file(moved) == Path("/moved") / place


def test_tools_and_a_folder_are_passed_on(tmp_path: Path) -> None:
    found = made("claude-code", tmp_path)
    entry = entry_of(found, tmp_path, tools=("+bash, +read", "+edit"), cwd="/data")
    assert entry["args"] == [*LAUNCH[1:], "--tools", "+bash,+read,+edit", "--cwd", "/data"]


def test_what_is_started_is_this_interpreter_without_the_clients_folder() -> None:
    assert launch_command() == LAUNCH


@pytest.mark.parametrize(
    ("entry", "state"),
    [
        (None, "not installed"),
        (COMMAND, "configured"),
        ({**COMMAND, "args": [*LAUNCH[1:], "--tools", "+bash"]}, "configured"),
        ({**COMMAND, "args": ["-m", "pisces", "mcp"]}, "differs"),
        ({"command": "/no/such/python", "args": LAUNCH[1:]}, "command is gone"),
        ({"url": "http://127.0.0.1/mcp"}, "differs"),
    ],
    ids=["none", "ours", "with tools", "another", "gone", "remote"],
)
def test_the_state_is_told(entry: Any, state: str, tmp_path: Path) -> None:
    found = made("windsurf", tmp_path)
    if entry is not None:
        found.install(entry).apply(private=True)
    status = status_of(found, LAUNCH)
    assert (status.state, status.path) == (state, str(found.path))
    assert ("pisces mcp install windsurf" in status.note) == (state in {"differs", "command is gone"})


def test_an_entry_that_is_switched_off_and_a_file_that_is_broken_are_told(tmp_path: Path) -> None:
    found = made("windsurf", tmp_path)
    found.install({**COMMAND, "disabled": True}).apply(private=True)
    assert status_of(found, LAUNCH).note == "It is switched off in the client."
    found.path.write_text("{", encoding="utf-8")
    status = status_of(found, LAUNCH)
    assert status.state == "unreadable"
    assert "line 1, column 2" in status.note
