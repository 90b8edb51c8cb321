"""`./pisces` on a fresh machine: it sets itself up once, in one place, and is out of the way after that."""

import os
import re
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from scripts import make_environment
from tests.environments import CALLER
from tests.source_tree import ROOT

PROGRAM = """
import json, os, sys
names = ("VIRTUAL_ENV", "PYTHONHOME", "PYTHONPATH", "PISCES_PYTHON")
print(json.dumps([sys.argv[1:], sys.prefix, os.getcwd(), [n for n in names if n in os.environ]]))
"""
TOOLS = ("sh", "cmp", "readlink")
PATIENCE = 100.0


def launch(
    tree: Path, *arguments: str, cwd: Path | None = None, **variables: str
) -> "subprocess.CompletedProcess[str]":
    """Run the launcher of a copy of the tree with an empty home."""
    return subprocess.run(
        [str(tree / "pisces"), *arguments],
        cwd=cwd or tree,
        env=fresh_environment(tree, **variables),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        encoding="utf-8",
        timeout=PATIENCE,
        check=False,
    )


def fresh_environment(tree: Path, **variables: str) -> dict[str, str]:
    """What a new user has: a PATH, an empty home, and here the caller's pip configuration and cache besides."""
    home = tree.parent / "home"
    home.mkdir(exist_ok=True)
    kept = {name: value for name, value in CALLER.items() if name.startswith("PIP_")}
    kept.setdefault("PIP_CACHE_DIR", pip_cache())
    configuration = Path(CALLER.get("HOME", "/")) / ".config" / "pip" / "pip.conf"
    if configuration.is_file():
        kept.setdefault("PIP_CONFIG_FILE", str(configuration))
    return {"PATH": CALLER["PATH"], "HOME": str(home), "PISCES_PYTHON": sys.executable, **kept, **variables}


def pip_cache() -> str:
    done = subprocess.run(
        [sys.executable, "-m", "pip", "cache", "dir"],
        env=CALLER | {"PYTHONWARNDEFAULTENCODING": ""},
        stdout=subprocess.PIPE,
        text=True,
        encoding="utf-8",
        check=True,
    )
    return done.stdout.strip()


def copy_launcher(folder: Path) -> Path:
    """A tree with the real launcher and set-up, no packages to install, and a program that tells what it sees."""
    tree = folder / "a tree"
    for name in ("find-python.sh", "make_environment.py"):
        (tree / "scripts").mkdir(parents=True, exist_ok=True)
        shutil.copy2(ROOT / "scripts" / name, tree / "scripts" / name)
    shutil.copy2(ROOT / "pisces", tree / "pisces")
    (tree / "requirements").mkdir()
    (tree / "requirements" / "runtime.txt").write_text("", encoding="utf-8")
    (tree / "src" / "pisces").mkdir(parents=True)
    (tree / "src" / "pisces" / "__main__.py").write_text(PROGRAM, encoding="utf-8")
    return tree


def tool_path(folder: Path, **scripts: str) -> str:
    """A PATH with the system's tools, without any Python, and with the given scripts."""
    bin_folder = folder / "bin"
    bin_folder.mkdir()
    for tool in TOOLS:
        found = shutil.which(tool)
        assert found is not None
        (bin_folder / tool).symlink_to(found)
    for name, text in scripts.items():
        script(bin_folder / name, text)
    return str(bin_folder)


def script(path: Path, text: str) -> Path:
    path.write_text(f"#!/bin/sh\n{text}\n", encoding="utf-8")
    path.chmod(0o755)
    return path


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A tree whose launcher has run once. Tests may run it, and leave it as it is."""
    tree = copy_launcher(tmp_path_factory.mktemp("launcher"))
    first = launch(tree)
    assert first.returncode == 0, first.stderr
    assert "this is done once" in first.stderr
    assert first.stdout.startswith("[[]"), "progress belongs to stderr"
    return tree


@pytest.mark.heavy
@pytest.mark.registry
def test_a_fresh_copy_installs_itself_and_answers(tmp_path: Path) -> None:
    tree = tmp_path / "pisces"
    ignored = shutil.ignore_patterns(".git", ".venv*", ".envs", "__pycache__", ".*_cache", ".hypothesis", "results")
    shutil.copytree(ROOT, tree, ignore=ignored)

    first = launch(tree, "--version")
    second = launch(tree, "--version")

    assert (first.returncode, second.returncode) == (0, 0), first.stderr
    assert re.search(r"\d+\.\d+\.\d+", first.stdout)
    assert (second.stdout, second.stderr) == (first.stdout, "")


def test_later_starts_are_silent_and_pass_arguments_on_as_they_are(made: Path) -> None:
    done = launch(made, "run", "-c", "print('a  b')", "", "*", "--", "-x")
    assert done.stderr == ""
    assert done.stdout.startswith('[["run", "-c", "print(\'a  b\')", "", "*", "--", "-x"], ')


def test_it_works_from_any_folder_and_through_links(made: Path, tmp_path: Path) -> None:
    (tmp_path / "first").symlink_to(os.path.relpath(made / "pisces", tmp_path))
    (tmp_path / "second").symlink_to("first")
    done = subprocess.run(
        ["./second"],
        cwd=tmp_path,
        env=fresh_environment(made, CDPATH=str(made.parent)),
        capture_output=True,
        text=True,
        encoding="utf-8",
        timeout=PATIENCE,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert f'"{made / ".venv"}", "{tmp_path}"' in done.stdout


def test_it_can_be_given_to_a_shell_by_its_bare_name(made: Path) -> None:
    done = subprocess.run(
        ["sh", "pisces"], cwd=made, env=fresh_environment(made), capture_output=True, timeout=PATIENCE, check=False
    )
    assert (done.returncode, done.stderr) == (0, b"")


def test_a_module_in_the_users_folder_does_not_stand_in_for_ours(made: Path, tmp_path: Path) -> None:
    (tmp_path / "json.py").write_text("raise SystemExit('the wrong json')", encoding="utf-8")
    (tmp_path / "pisces.py").write_text("raise SystemExit('the wrong pisces')", encoding="utf-8")
    assert launch(made, cwd=tmp_path).returncode == 0


def test_the_callers_environment_reaches_the_program_unchanged(made: Path) -> None:
    assert launch(made).stdout.rstrip().endswith('["PISCES_PYTHON"]]')
    with_virtual = launch(made, VIRTUAL_ENV="/somewhere")
    assert with_virtual.stdout.rstrip().endswith('["VIRTUAL_ENV", "PISCES_PYTHON"]]')


@pytest.mark.heavy
def test_a_tree_that_was_moved_still_works_without_a_set_up(tmp_path: Path) -> None:
    tree = copy_launcher(tmp_path)
    assert launch(tree).returncode == 0
    moved = tree.rename(tmp_path / "moved")
    done = launch(moved)
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.heavy
def test_two_at_once_make_one_environment_and_both_answer(tmp_path: Path) -> None:
    tree = copy_launcher(tmp_path)
    both = [
        subprocess.Popen(
            [str(tree / "pisces"), name],
            env=fresh_environment(tree),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            encoding="utf-8",
        )
        for name in ("one", "two")
    ]
    outputs = [process.communicate(timeout=PATIENCE) for process in both]

    assert [process.returncode for process in both] == [0, 0]
    assert [output[:9] for output, _ in outputs] == ['[["one"],', '[["two"],']
    assert sum("this is done once" in errors for _, errors in outputs) == 1


@pytest.mark.heavy
def test_a_set_up_that_was_killed_is_done_anew(tmp_path: Path) -> None:
    tree = copy_launcher(tmp_path)
    first = subprocess.Popen(
        [str(tree / "pisces")],
        env=fresh_environment(tree),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    give_up = time.monotonic() + PATIENCE
    while not (tree / ".venv" / "bin" / "python").exists():
        assert time.monotonic() < give_up
        assert first.poll() is None
        time.sleep(0.01)
    os.killpg(first.pid, signal.SIGKILL)
    first.wait(timeout=PATIENCE)

    again = launch(tree)

    assert again.returncode == 0, again.stderr
    assert "this is done once" in again.stderr


@pytest.mark.heavy
def test_other_versions_in_the_lock_make_the_environment_anew(tmp_path: Path) -> None:
    tree = copy_launcher(tmp_path)
    assert launch(tree).returncode == 0
    (tree / "requirements" / "runtime.txt").write_text("# another choice of versions\n", encoding="utf-8")
    second = launch(tree)
    assert second.returncode == 0
    assert "this is done once" in second.stderr
    assert launch(tree).stderr == ""


def test_a_python_that_is_too_old_is_named_with_its_version(tmp_path: Path) -> None:
    tree = copy_launcher(tmp_path)
    path = tool_path(tmp_path, python3='[ "$1" = --version ] && echo Python 3.8.10 && exit 0\nexit 1')
    done = launch(tree, PATH=path, PISCES_PYTHON="")
    assert (done.returncode, done.stdout) == (1, "")
    assert "Python 3.11 or later is needed" in done.stderr
    assert f"{path}/python3 (Python 3.8.10)" in done.stderr
    assert "PISCES_PYTHON=" in done.stderr
    assert not (tree / ".venv").exists()


def test_no_python_at_all_is_said_with_what_to_install(tmp_path: Path) -> None:
    done = launch(copy_launcher(tmp_path), PATH=tool_path(tmp_path), PISCES_PYTHON="")
    assert done.returncode == 1
    assert "there is no python3 on PATH" in done.stderr
    assert "apt install python3 python3-venv" in done.stderr


@pytest.mark.heavy
def test_a_newer_python_is_found_behind_an_old_one(tmp_path: Path) -> None:
    path = tool_path(tmp_path, python3="exit 1", **{"python3.12": f'exec "{sys.executable}" "$@"'})
    done = launch(copy_launcher(tmp_path), PATH=path, PISCES_PYTHON="")
    assert done.returncode == 0, done.stderr


def test_a_chosen_python_that_does_not_work_is_not_replaced_by_another(tmp_path: Path) -> None:
    done = launch(copy_launcher(tmp_path), PISCES_PYTHON="/no/such/python")
    assert done.returncode == 1
    assert "PISCES_PYTHON is '/no/such/python'" in done.stderr


def test_a_python_without_venv_is_told_the_package_that_brings_it(tmp_path: Path) -> None:
    # Debian's python3 without python3-venv: everything works except the import of ensurepip.
    without = (
        "import runpy, sys; sys.modules['ensurepip'] = None; del sys.argv[0]; "
        "runpy.run_path(sys.argv[0], run_name='__main__')"
    )
    python = script(
        tmp_path / "python3",
        f'[ "$1" = -c ] && exec "{sys.executable}" "$@"\nexec "{sys.executable}" -c "{without}" "$@"',
    )
    done = launch(copy_launcher(tmp_path), PISCES_PYTHON=str(python))
    assert (done.returncode, done.stdout) == (1, "")
    assert f"apt install python3.{sys.version_info[1]}-venv" in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.heavy
def test_a_failed_installation_is_not_taken_for_an_environment(tmp_path: Path) -> None:
    tree = copy_launcher(tmp_path)
    missing = tmp_path / "missing.whl"
    (tree / "requirements" / "runtime.txt").write_text(f"{missing} --hash=sha256:{'0' * 64}\n", encoding="utf-8")
    for _ in range(2):
        done = launch(tree)
        assert (done.returncode, done.stdout) == (1, "")
        assert "The packages could not be installed" in done.stderr
        assert "missing.whl" in done.stderr


def test_a_tree_of_another_user_is_told_as_such(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def refuse(path: Path) -> None:  # A test that runs as root is refused nothing by the system itself.
        raise PermissionError(13, "Permission denied", str(path))

    monkeypatch.setattr(make_environment, "locked", refuse)
    monkeypatch.setattr(sys, "argv", ["make_environment.py", str(tmp_path / ".venv")])
    assert make_environment.main() == 1
    said = capsys.readouterr().err
    assert f"{tmp_path / '.venv.lock'} cannot be written (Permission denied). Start pisces once as the owner" in said
