"""`pisces mcp install`, `uninstall` and `status`: the change is shown, wanted, made and tried."""

import json
import os
import pty
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from pisces.errors import PiscesError
from pisces.mcp.clients.trial import try_out
from tests.frontends.command import PATIENCE, Command
from tests.source_tree import ROOT

LAUNCH = [sys.executable, "-I", "-m", "pisces", "mcp"]


@pytest.fixture
def zed(own_home: Path) -> Path:
    """Zed's settings, with a comment."""
    path = own_home / ".config" / "zed" / "settings.json"
    path.parent.mkdir(parents=True)
    path.write_text('// mine\n{\n  "theme": "One",\n  "context_servers": {},\n}\n', encoding="utf-8")
    return path


def test_it_is_shown_written_and_tried_and_a_second_time_nothing_changes(
    pisces: Command, zed: Path, tmp_path: Path
) -> None:
    before = zed.read_bytes()
    done = pisces("mcp", "install", "zed", "--yes", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith(f"Zed: {zed}\n--- {zed}\n+++ {zed}\n")
    assert f'+      "command": {json.dumps(sys.executable)},\n' in done.stdout
    assert f"Written. As it was, it is in {zed}.pisces-backup\n" in done.stdout
    assert "works: python 3." in done.stdout
    assert "first result in " in done.stdout
    assert Path(f"{zed}.pisces-backup").read_bytes() == before
    written = zed.read_bytes()
    again = pisces("mcp", "install", "zed", "--no-test")
    assert (again.stdout, again.returncode) == (f"Zed: already there, in {zed}\n", 0)
    assert zed.read_bytes() == written
    gone = pisces("mcp", "uninstall", "zed", "--yes")
    assert gone.returncode == 0, gone.stderr
    assert zed.read_bytes() == before
    assert pisces("mcp", "uninstall", "zed").stdout == f"Zed: not there, in {zed}\n"


def test_nothing_is_written_when_nobody_can_be_asked_and_with_dry_run(pisces: Command, zed: Path) -> None:
    before = zed.read_bytes()
    unasked = pisces("mcp", "install", "zed")
    assert unasked.returncode == 1
    assert "Run it again with --yes" in unasked.stderr
    shown = pisces("mcp", "install", "zed", "--dry-run")
    assert shown.returncode == 0
    assert shown.stdout.endswith("Nothing was written.\n")
    assert "+++" in unasked.stdout
    assert zed.read_bytes() == before
    assert os.listdir(zed.parent) == ["settings.json"]


@pytest.mark.parametrize(("answer", "code"), [(b"n\n", 1), (b"y\n", 0), (b"\x04", 130)], ids=["no", "yes", "gone"])
def test_a_person_is_asked(answer: bytes, code: int, pisces: Command, zed: Path) -> None:
    before = zed.read_bytes()
    ours, theirs = pty.openpty()
    try:
        os.write(ours, answer)
        process = pisces.start("mcp", "install", "zed", "--no-test", stdin=theirs)
        said, errors = process.communicate(timeout=PATIENCE)
    finally:
        os.close(ours)
        os.close(theirs)
    assert process.returncode == code, errors
    assert b"Write this?" in said
    assert (zed.read_bytes() == before) == (code != 0)
    assert errors.endswith(b"Nothing was written.\n") == (code != 0)


def test_a_project_gets_its_own_file_and_the_options_are_passed_on(
    pisces: Command, own_home: Path, tmp_path: Path
) -> None:
    options = ("--project", "--cwd", str(tmp_path), "--tools", "+bash", "--yes", "--no-test")
    done = pisces("mcp", "install", "claude-code", *options)
    assert done.returncode == 0, done.stderr
    written = json.loads((tmp_path / ".mcp.json").read_text(encoding="utf-8"))
    entry = {"type": "stdio", "command": LAUNCH[0], "args": [*LAUNCH[1:], "--tools", "+bash"], "alwaysLoad": True}
    assert written == {"mcpServers": {"pisces": entry}}
    assert not (own_home / ".claude.json").exists()


def test_what_does_not_work_is_told_with_what_the_server_said(pisces: Command, own_home: Path) -> None:
    path = own_home / ".cursor" / "mcp.json"
    path.parent.mkdir()
    broken = {"type": "stdio", "command": LAUNCH[0], "args": LAUNCH[1:], "env": {"PI_SET__no__such": "1"}}
    path.write_text(json.dumps({"mcpServers": {"pisces": broken}}), encoding="utf-8")
    done = pisces("mcp", "install", "cursor")
    assert done.returncode == 1
    assert "already there" in done.stdout
    assert "did not work" in done.stderr
    assert "no.such" in done.stderr
    assert "pisces doctor" in done.stderr
    assert "Traceback" not in done.stderr


async def test_a_server_that_never_answers_is_given_up_and_ended(tmp_path: Path) -> None:
    command = [sys.executable, "-c", "import sys; print('hm', file=sys.stderr, flush=True); sys.stdin.read()"]
    with pytest.raises(PiscesError, match=r"no result within 5 seconds\nThe server said:\nhm"):
        await try_out(command, env={}, cwd=tmp_path, patience=5)


@pytest.mark.parametrize("text", ['{"mcpServers": {', "[]"], ids=["broken", "list"])
def test_a_configuration_that_cannot_be_edited_is_left_as_it_is(text: str, pisces: Command, own_home: Path) -> None:
    path = own_home / ".claude.json"
    path.write_text(text, encoding="utf-8")
    done = pisces("mcp", "install", "claude-code", "--yes")
    assert done.returncode == 1
    assert f"{path} cannot be edited: line 1, column" in done.stderr
    assert path.read_text(encoding="utf-8") == text
    assert not Path(f"{path}.pisces-backup").exists()


def test_the_state_of_every_client_is_listed(pisces: Command, zed: Path, tmp_path: Path) -> None:
    pisces("mcp", "install", "zed", "--yes", "--no-test")
    done = pisces("mcp", "status", "--json", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    found: list[dict[str, Any]] = json.loads(done.stdout)
    states = {(each["client"], each["scope"]): each["state"] for each in found}
    assert len(states) == 14
    assert states.pop(("zed", "user")) == "configured"
    assert set(states.values()) == {"not installed"}
    lines = pisces("mcp", "status", "zed", cwd=tmp_path).stdout.splitlines()
    assert lines[0].split() == ["zed", "user", "configured", str(zed)]
    assert lines[1].strip() == " ".join(LAUNCH)
    assert lines[2].split() == ["zed", "project", "not", "installed", str(tmp_path / ".zed" / "settings.json")]


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("install", "emacs"), "'emacs' is not one of"),
        (("install", "windsurf", "--project"), "Windsurf has no configuration for a single project."),
        (("install", "zed", "--tools", "hammer"), "There is no tool 'hammer'"),
        (("install", "zed", "--cwd", "/no/such"), "There is no folder /no/such."),
        (("--tools", "+bash", "install", "zed"), "--tools before `install` has no effect"),
    ],
    ids=["client", "scope", "tool", "folder", "place"],
)
def test_wrong_use_is_refused(arguments: tuple[str, ...], says: str, pisces: Command, own_home: Path) -> None:
    done = pisces("mcp", *arguments)
    assert done.returncode == 2, done.stdout
    assert says in done.stderr
    assert [name for name in os.listdir(own_home) if name != ".pisces"] == []


@pytest.mark.parametrize("arguments", [["mcp"], ["mcp", "install", "zed", "--yes"]], ids=["serve", "install"])
def test_without_the_sdk_it_is_said_how_to_get_it(arguments: list[str], own_home: Path) -> None:
    # An environment without it would have to be made; this is what Python does with a name that it cannot import.
    code = "import sys; sys.modules['mcp_types'] = None; from pisces.cli.main import main; sys.exit(main(sys.argv[1:]))"
    done = subprocess.run(
        [sys.executable, "-c", code, *arguments],
        env={**os.environ, "PYTHONPATH": str(ROOT / "src")},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        encoding="utf-8",
        timeout=PATIENCE,
        check=False,
    )
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.startswith("Error: The MCP SDK is not in the environment of Pisces.\nInstall it: ")
    assert not (own_home / ".config").exists()


def test_a_pisces_that_no_client_could_start_is_not_installed(own_home: Path, tmp_path: Path) -> None:
    shutil.copytree(ROOT / "src" / "pisces", tmp_path / "pisces", ignore=shutil.ignore_patterns("__pycache__"))
    done = subprocess.run(
        [sys.executable, "-m", "pisces", "mcp", "install", "zed", "--yes"],
        env={**os.environ, "PYTHONPATH": str(tmp_path)},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        encoding="utf-8",
        timeout=PATIENCE,
        check=False,
    )
    assert done.returncode == 1
    assert "only through PYTHONPATH or the current folder" in done.stderr
    assert not (own_home / ".config").exists()
