import os
from pathlib import Path

import pytest

from pisces.environment.candidates import Candidate, candidates, explicit_candidate
from pisces.settings import Paths


def make_python(folder: Path, name: str = "bin/python") -> str:
    file = folder / name
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text("#!/bin/sh\n", encoding="utf-8")
    file.chmod(0o755)
    return str(file)


@pytest.fixture
def cwd(tmp_path: Path) -> Path:
    folder = tmp_path / "cwd"
    folder.mkdir()
    return folder


@pytest.fixture
def paths(tmp_path: Path) -> Paths:
    return Paths(tmp_path / "pisces")


def found(cwd: Path, paths: Paths, environ: dict[str, str]) -> list[tuple[str, str]]:
    return [(each.source, each.path) for each in candidates(str(cwd), environ, paths) if not each.problem]


def problems(cwd: Path, paths: Paths, environ: dict[str, str]) -> dict[str, str]:
    return {each.path: each.problem for each in candidates(str(cwd), environ, paths) if each.problem}


def test_the_places_are_tried_in_order(tmp_path: Path, cwd: Path, paths: Paths) -> None:
    environ = {
        "PATH": str(tmp_path / "p"),
        "CONDA_PREFIX": str(tmp_path / "conda"),
        "VIRTUAL_ENV": str(tmp_path / "active"),
    }
    assert found(cwd, paths, environ | {"PATH": ""}) == []
    expected = [
        ("VIRTUAL_ENV", make_python(tmp_path / "active")),
        (".venv", make_python(cwd / ".venv")),
        ("venv", make_python(cwd / "venv")),
        ("CONDA_PREFIX", make_python(tmp_path / "conda")),
        ("managed", make_python(paths.managed_venv)),
        ("PATH", make_python(tmp_path / "p", "python")),
        ("PATH", make_python(tmp_path / "p", "python3")),
    ]
    assert found(cwd, paths, environ) == expected


def test_what_is_not_there_is_not_mentioned_but_what_is_named_or_missing_on_path_is(
    tmp_path: Path, cwd: Path, paths: Paths
) -> None:
    gone = str(tmp_path / "gone")
    assert problems(cwd, paths, {"PATH": "", "VIRTUAL_ENV": gone, "CONDA_PREFIX": ""}) == {
        gone: "no such folder",
        "python": "not found on PATH",
        "python3": "not found on PATH",
    }


def test_a_broken_link_says_where_it_leads(cwd: Path, paths: Paths) -> None:
    (cwd / ".venv" / "bin").mkdir(parents=True)
    (cwd / ".venv" / "bin" / "python").symlink_to("/no/such/python")
    (cwd / "venv").symlink_to("/no/such/venv")
    told = problems(cwd, paths, {"PATH": ""})
    assert told[str(cwd / ".venv" / "bin" / "python")] == "is a broken link to /no/such/python"
    assert told[str(cwd / "venv")] == "is a broken link to /no/such/venv"


def test_a_venv_without_a_python_and_a_python_that_is_none_are_explained(cwd: Path, paths: Paths) -> None:
    (cwd / ".venv").mkdir()
    python = Path(make_python(cwd / "venv"))
    python.chmod(0o644)
    told = problems(cwd, paths, {"PATH": ""})
    assert told[str(cwd / ".venv")] == "has no bin/python"
    assert told[str(python)] == "is not executable"


def test_a_managed_environment_that_is_half_made_is_not_used(cwd: Path, paths: Paths) -> None:
    make_python(paths.managed_venv)
    paths.managed_venv_unfinished.touch()
    assert found(cwd, paths, {"PATH": ""}) == []
    assert "`pisces setup python`" in problems(cwd, paths, {"PATH": ""})[str(paths.managed_venv)]


def test_relative_entries_of_path_are_passed_over(
    tmp_path: Path, cwd: Path, paths: Paths, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(cwd)
    make_python(cwd, "python")
    make_python(cwd, "bin/python")
    right = make_python(tmp_path / "right", "python")
    assert found(cwd, paths, {"PATH": f":.:bin:{tmp_path / 'right'}"}) == [("PATH", right)]


def test_one_folder_under_two_names_is_tried_once(tmp_path: Path, cwd: Path, paths: Paths) -> None:
    first = make_python(tmp_path / "usr" / "bin", "python3")
    (tmp_path / "bin").symlink_to(tmp_path / "usr" / "bin")
    environ = {"PATH": os.pathsep.join([str(tmp_path / "usr" / "bin"), str(tmp_path / "bin")])}
    assert found(cwd, paths, environ) == [("PATH", first)]


def test_every_python_on_path_gets_its_chance(tmp_path: Path, cwd: Path, paths: Paths) -> None:
    both = [make_python(tmp_path / name, "python") for name in ("a", "b")]
    environ = {"PATH": os.pathsep.join([str(tmp_path / "a"), str(tmp_path / "b")])}
    assert found(cwd, paths, environ) == [("PATH", path) for path in both]


def test_the_named_interpreter_may_be_a_path_a_folder_or_a_command(tmp_path: Path, cwd: Path) -> None:
    source = "python.interpreter"
    environ = {"PATH": str(tmp_path / "p"), "HOME": str(tmp_path)}
    python = make_python(cwd / "env")
    command = make_python(tmp_path / "p", "pypy3")
    at_home = make_python(tmp_path / "mine")
    assert explicit_candidate(python, "/", environ) == Candidate(source, python)
    assert explicit_candidate("env/bin/python", str(cwd), environ) == Candidate(source, python)
    assert explicit_candidate(str(cwd / "env"), "/", environ) == Candidate(source, python)
    assert explicit_candidate("~/mine/bin/python", "/", environ) == Candidate(source, at_home)
    assert explicit_candidate("pypy3", "/", environ) == Candidate(source, command)
    assert explicit_candidate("nopy", "/", environ).problem == "not found on PATH"
    assert explicit_candidate("/no/python", "/", environ).problem == "no such file"
    assert explicit_candidate("/dev/null", "/", environ).problem == "is not a file"
