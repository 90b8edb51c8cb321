"""The other commands that run cells, or wait for them, at a terminal."""

import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.frontends.command import Command

BRIEF = re.compile(r"\d+ ms|\d+\.\d s")


@pytest.fixture
def session(pisces: Command) -> Iterator[str]:
    """The name of a session, whose host ends with the test."""
    yield "s"
    pisces("host", "stop", "--force")


def times(lines: list[str]) -> list[str]:
    return [BRIEF.sub("TIME", line) for line in lines]


def test_a_command_of_the_shell_that_fails_is_signed_with_its_exit_code(pisces: Command) -> None:
    with pisces.at_terminal("bash", "-c", "echo said; exit 3") as terminal:
        assert terminal.wait() == 3
    assert times(terminal.lines)[:2] == ["said", "✗ echo said; exit 3 · failed, exit code 3 · TIME"]


@pytest.mark.parametrize("where", [[], ["--session", "s"]], ids=["here", "session"])
def test_cells_of_a_notebook_are_called_by_their_number_and_first_line(
    pisces: Command, session: str, tmp_path: Path, where: list[str]
) -> None:
    path = tmp_path / "two.ipynb"
    cells = [
        {"cell_type": "markdown", "metadata": {}, "id": "a", "source": "# Title"},
        {
            "cell_type": "code",
            "metadata": {},
            "id": "b",
            "source": "x = 6\nx * 7",
            "outputs": [],
            "execution_count": None,
        },
        {"cell_type": "code", "metadata": {}, "id": "c", "source": "x", "outputs": [], "execution_count": None},
    ]
    whole = {"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 5}
    path.write_text(json.dumps(whole), encoding="utf-8")
    with pisces.at_terminal("notebook", "run", *where, str(path), columns=200) as terminal:
        assert terminal.wait() == 0
    assert times(terminal.lines)[:6] == [
        "[1/2] cell 1: x = 6", "42", "✓ [1/2] cell 1: x = 6 · TIME",
        "[2/2] cell 2: x", "6", "✓ [2/2] cell 2: x · TIME",
    ]  # fmt: skip


def test_a_cell_that_failed_among_others_is_signed_in_a_session_too(pisces: Command, session: str) -> None:
    cells = ["-c", "1/0", "-c", "import time; time.sleep(0.01)", "-c", "3"]
    with pisces.at_terminal("run", "--session", session, "--keep-going", *cells) as terminal:
        assert terminal.wait() == 1
    closings = [line for line in times(terminal.lines) if line[:3] in ("✓ [", "✗ [")]
    assert closings == [
        "✗ [1/3] 1/0 · failed · TIME",
        "✓ [2/3] import time; time.sleep(0.01) · TIME",
        "✓ [3/3] 3 · TIME",
    ]


def test_a_job_is_waited_for_with_a_status_and_shown_in_a_block(pisces: Command, session: str, tmp_path: Path) -> None:
    flag = tmp_path / "go"
    code = f"import os, time\nwhile not os.path.exists({str(flag)!r}): time.sleep(0.02)\nprint('done')"
    with pisces.at_terminal("run", "--session", session, "--background", "-c", code) as terminal:
        assert terminal.wait() == 0
    assert "job-1 is running in the background" in terminal.words
    assert "✗" not in terminal.words
    with pisces.at_terminal("session", "wait", "job-1") as terminal:
        terminal.until("wait job-1 ·")
        flag.touch()
        assert terminal.wait() == 0
    assert terminal.lines[0] == "job-1 of session s"
    assert any(line.endswith(" done") for line in terminal.lines)
    assert not any("wait job-1 ·" in line for line in terminal.lines)
    with pisces.at_terminal("session", "wait", "job-1", "--plain") as terminal:
        assert terminal.wait() == 0
    assert "\x1b" not in terminal.text
    assert terminal.lines[0].startswith("[job-1: ok")


def test_variables_and_sessions_stand_in_columns(pisces: Command, session: str) -> None:
    assert pisces("run", "--session", session, "-c", "number = 1; text = 'abc'").returncode == 0
    with pisces.at_terminal("session", "variables", session) as terminal:
        assert terminal.wait() == 0
    assert terminal.lines == ["name    type  size", "number  int", "text    str   3"]
    with pisces.at_terminal("session", "list", columns=200) as terminal:
        assert terminal.wait() == 0
    assert terminal.lines[0].split() == ["session", "state", "cells", "checkpoints", "memory", "folder"]
    assert terminal.lines[1].startswith("s        idle for")
    with pisces.at_terminal("session", "list", columns=40) as terminal:
        assert terminal.wait() == 0
    assert terminal.lines[0].startswith("s: idle for")
    assert pisces("session", "variables", session).stdout == "number: int\ntext: str 3\n"
