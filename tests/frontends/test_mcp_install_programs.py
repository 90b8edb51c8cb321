"""The clients themselves read what we write into their configuration, and reach the server."""

import json
import subprocess
from collections.abc import Mapping
from pathlib import Path

import pytest

from tests.frontends.command import PATIENCE, Command
from tests.node_environment import program, surroundings

pytestmark = pytest.mark.heavy

TRUSTED = {"GEMINI_CLI_TRUST_WORKSPACE": "true"}


def run(name: str, *arguments: str, cwd: Path, variables: Mapping[str, str] | None = None) -> str:
    done = subprocess.run(
        [*program(name), *arguments],
        cwd=cwd,
        env=surroundings(variables),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        encoding="utf-8",
        timeout=PATIENCE,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout + done.stderr


def install(pisces: Command, client: str, *options: str, variables: Mapping[str, str] | None = None) -> None:
    done = pisces("mcp", "install", client, "--yes", "--no-test", *options, variables=variables)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("moved", [False, True], ids=["home", "moved"])
def test_claude_code_connects(moved: bool, pisces: Command, tmp_path: Path) -> None:
    variables = {"CLAUDE_CONFIG_DIR": str(tmp_path / "claude")} if moved else {}
    install(pisces, "claude-code", "--tools", "+bash", variables=variables)
    assert "-m pisces mcp --tools +bash - ✔ Connected" in run(
        "claude", "mcp", "list", cwd=tmp_path, variables=variables
    )
    told = run("claude", "mcp", "get", "pisces", cwd=tmp_path, variables=variables)
    assert "Scope: User config" in told
    assert "Connected" in told


def test_claude_code_finds_the_servers_of_a_project(pisces: Command, tmp_path: Path) -> None:
    install(pisces, "claude-code", "--project", "--cwd", str(tmp_path))
    assert "-m pisces mcp - ⏸ Pending approval" in run("claude", "mcp", "list", cwd=tmp_path)


def test_what_claude_code_writes_itself_stays_and_ours_goes(pisces: Command, own_home: Path, tmp_path: Path) -> None:
    run("claude", "mcp", "add", "--scope", "user", "other", "--", "/bin/true", cwd=tmp_path)
    before = (own_home / ".claude.json").read_bytes()
    install(pisces, "claude-code")
    assert pisces("mcp", "uninstall", "claude-code", "--yes").returncode == 0
    assert (own_home / ".claude.json").read_bytes() == before
    install(pisces, "claude-code")
    run("claude", "mcp", "remove", "--scope", "user", "pisces", cwd=tmp_path)
    assert pisces("mcp", "uninstall", "claude-code").stdout.startswith("Claude Code: not there")


@pytest.mark.parametrize("moved", [False, True], ids=["home", "moved"])
def test_codex_lists_it_with_its_times(moved: bool, pisces: Command, tmp_path: Path) -> None:
    variables = {"CODEX_HOME": str(tmp_path / "codex")} if moved else {}
    install(pisces, "codex", variables=variables)
    listed = run("codex", "mcp", "list", cwd=tmp_path, variables=variables)
    line = next(line for line in listed.splitlines() if line.startswith("pisces "))
    assert "-I -m pisces mcp" in line
    assert "enabled" in line
    told = run("codex", "mcp", "get", "pisces", cwd=tmp_path, variables=variables)
    assert "startup_timeout_sec: 60" in told
    assert "tool_timeout_sec: 660" in told


def test_codex_finds_the_servers_of_a_project_that_it_trusts(pisces: Command, own_home: Path, tmp_path: Path) -> None:
    (own_home / ".codex").mkdir()
    trust = f'[projects.{json.dumps(str(tmp_path))}]\ntrust_level = "trusted"\n'
    (own_home / ".codex" / "config.toml").write_text(trust, encoding="utf-8")
    install(pisces, "codex", "--project", "--cwd", str(tmp_path))
    assert "-I -m pisces mcp" in run("codex", "mcp", "list", cwd=tmp_path)


@pytest.mark.parametrize("scope", ["user", "project", "moved"])
def test_gemini_connects_in_a_folder_that_it_trusts(scope: str, pisces: Command, tmp_path: Path) -> None:
    variables = {"GEMINI_CLI_HOME": str(tmp_path / "gemini")} if scope == "moved" else {}
    options = ("--project", "--cwd", str(tmp_path)) if scope == "project" else ()
    install(pisces, "gemini", *options, variables=variables)
    listed = run("gemini", "mcp", "list", cwd=tmp_path, variables={**TRUSTED, **variables})
    assert "-I -m pisces mcp (stdio) - Connected" in listed
