"""The programs from npm: an environment is taken for what it is, and nothing is fetched but what is locked."""

import os
import stat
from pathlib import Path

import pytest

from scripts import make_node_environment as made
from scripts.make_environment import SetUpFailed

NPM = """#!/bin/sh
printf '%s\\n' "$@" >"$(dirname "$0")/asked"
exit "$(cat "$(dirname "$0")/code")"
"""
"""Stands in for npm, which would fetch a gigabyte: it writes down what it is asked for."""


@pytest.fixture
def npm(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of the stand-in, which is the first on the path."""
    folder = tmp_path / "bin"
    folder.mkdir()
    (folder / "npm").write_text(NPM, encoding="utf-8")
    (folder / "npm").chmod(stat.S_IRWXU)
    (folder / "code").write_text("0", encoding="utf-8")
    monkeypatch.setenv("PATH", f"{folder}{os.pathsep}{os.environ['PATH']}")
    return folder


def test_what_is_locked_is_installed_and_no_script_of_a_package_is_run(npm: Path, tmp_path: Path) -> None:
    target = made.make_node_environment(tmp_path / "node")
    asked = (npm / "asked").read_text(encoding="utf-8").split()
    assert asked[0] == "ci"
    assert "--ignore-scripts" in asked
    assert (target / "package-lock.json").read_bytes() == made.LOCK.read_bytes()
    assert made.is_complete(target)


def test_a_complete_environment_is_left_as_it_is(npm: Path, tmp_path: Path) -> None:
    made.make_node_environment(tmp_path / "node")
    (npm / "asked").unlink()
    made.make_node_environment(tmp_path / "node")
    assert not (npm / "asked").exists()


def test_one_of_other_versions_is_made_anew(npm: Path, tmp_path: Path) -> None:
    target = made.make_node_environment(tmp_path / "node")
    (target / made.STAMP).write_text("{}", encoding="utf-8")
    (target / "old").touch()
    made.make_node_environment(target)
    assert not (target / "old").exists()
    assert made.is_complete(target)


def test_what_is_left_of_an_attempt_that_failed_is_not_taken_for_an_environment(npm: Path, tmp_path: Path) -> None:
    (npm / "code").write_text("1", encoding="utf-8")
    with pytest.raises(SetUpFailed, match="could not be installed"):
        made.make_node_environment(tmp_path / "node")
    assert not made.is_complete(tmp_path / "node")


def test_without_npm_it_is_said_what_is_missing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(SetUpFailed, match="There is no npm"):
        made.make_node_environment(tmp_path / "node")
