"""`pisces notebook run`: what is shown, what is in the file afterwards, and what it exits with."""

import json
import signal
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.fakes.hosts import end_host
from tests.fakes.notebooks import cells_in, code, is_as_jupyter_writes_it, markdown, outputs_in, text_in, written
from tests.frontends.command import PATIENCE, Command


@pytest.fixture
def notebook(tmp_path: Path) -> Path:
    """Text, then three cells of code that build upon each other, and an empty one."""
    cells = (markdown("# Title"), code("x = 40"), code("print('x is', x)"), code("x + 2"), code(""))
    return written(tmp_path / "a.ipynb", *cells)


@pytest.fixture
def with_host(pisces: Command) -> Iterator[Command]:
    """A command whose background host ends with the test."""
    yield pisces
    end_host(pisces)


def test_all_cells_are_run_shown_and_written(pisces: Command, notebook: Path) -> None:
    done = pisces("notebook", "run", "a.ipynb", cwd=notebook.parent)
    assert done.stdout == "[1/3] cell 1\n[2/3] cell 2\nx is 40\n[3/3] cell 3\n42\n"
    assert done.stderr.splitlines() == ["Skipped: cell 4 (empty).", "Ran 3 cells; the outputs are in a.ipynb."]
    assert done.returncode == 0
    assert [cell.get("execution_count") for cell in cells_in(notebook)] == [None, 1, 2, 3, None]
    assert text_in(notebook, 2) == "x is 40\n"
    assert outputs_in(notebook, 3)[0]["data"] == {"text/plain": ["42"]}
    assert is_as_jupyter_writes_it(notebook)


@pytest.mark.parametrize("options", [["--json"], ["--session", "s"]], ids=["json", "session"])
def test_a_source_with_half_a_pair_of_surrogates_is_run(with_host: Command, tmp_path: Path, options: list[str]) -> None:
    path = tmp_path / "a.ipynb"
    path.write_text(json.dumps({"cells": [code("x = '\ud800'; 42")], "nbformat": 4, "metadata": {}}), encoding="utf-8")
    done = with_host("notebook", "run", str(path), *options)
    assert (done.returncode, outputs_in(path, 0)[0]["data"]) == (0, {"text/plain": ["42"]})


@pytest.mark.skipif(sys.platform == "darwin", reason="names of files are always UTF-8 there")
def test_a_file_whose_name_is_no_utf_8_is_told_by_an_escape(pisces: Command, tmp_path: Path) -> None:
    written(tmp_path / "caf\udce9.ipynb", code("42"))
    done = pisces("notebook", "run", "caf\udce9.ipynb", "--json", cwd=tmp_path)
    assert json.loads(done.stdout)["details"]["notebook_path"] == "caf\udce9.ipynb"


@pytest.mark.parametrize(
    ("arguments", "shown", "ran"),
    [(["1-2"], "[1/2] cell 1\n[2/2] cell 2\nx is 40\n", [1, 2]), (["--until", "c2"], None, [1, 2]), (["1"], "", [1])],
    ids=["range", "until", "one"],
)
def test_some_cells_can_be_run(
    pisces: Command, notebook: Path, arguments: list[str], shown: str | None, ran: list[int]
) -> None:
    done = pisces("notebook", "run", str(notebook), *arguments)
    assert done.returncode == 0
    assert done.stdout == ("[1/2] cell 1\n[2/2] cell 2\nx is 40\n" if shown is None else shown)
    assert [index for index, cell in enumerate(cells_in(notebook)) if cell.get("execution_count")] == ran


@pytest.mark.parametrize(("options", "ran"), [([], [1, None]), (["--keep-going"], [1, 2])], ids=["stop", "keep-going"])
def test_a_cell_that_fails_is_the_last_unless_told_otherwise(
    pisces: Command, tmp_path: Path, options: list[str], ran: list[int | None]
) -> None:
    path = written(tmp_path / "a.ipynb", code("1/0"), code("2"))
    done = pisces("notebook", "run", str(path), *options)
    assert done.returncode == 1
    assert "ZeroDivisionError" in done.stdout
    assert "Cell 0 failed (exit code 1)." in done.stderr
    assert [cell["execution_count"] for cell in cells_in(path)] == ran
    assert outputs_in(path, 0)[0]["ename"] == "ZeroDivisionError"


def test_a_notebook_without_code_says_so(pisces: Command, tmp_path: Path) -> None:
    path = written(tmp_path / "a.ipynb", markdown("x"), code(" "))
    done = pisces("notebook", "run", str(path))
    assert (done.stdout, done.returncode) == ("", 0)
    assert done.stderr == "There is no code to run.\nSkipped: cell 1 (empty).\n"


def test_a_cell_of_text_cannot_be_run(pisces: Command, notebook: Path) -> None:
    done = pisces("notebook", "run", str(notebook), "0")
    assert (done.stdout, done.returncode) == ("", 1)
    assert "Cell 0 is a markdown cell" in done.stderr


def test_code_works_in_the_folder_of_the_notebook_unless_another_is_given(pisces: Command, tmp_path: Path) -> None:
    path = written(tmp_path / "inner" / "a.ipynb", code("import os; print(os.getcwd())"))
    other = tmp_path / "other"
    other.mkdir()
    assert pisces("notebook", "run", "inner/a.ipynb", cwd=tmp_path).stdout == f"{path.parent.resolve()}\n"
    done = pisces("notebook", "run", "inner/a.ipynb", "--cwd", "other", cwd=tmp_path)
    assert (done.stdout, done.returncode) == (f"{other.resolve()}\n", 0)
    assert text_in(path, 0) == f"{other.resolve()}\n"


def test_the_result_can_be_had_whole_or_as_json(pisces: Command, notebook: Path) -> None:
    whole = pisces("notebook", "run", str(notebook), "--no-stream")
    assert "x is 40\n" in whole.stdout
    assert f"Ran 3 cells; the outputs are in {notebook}." in whole.stdout
    result = json.loads(pisces("notebook", "run", str(notebook), "--json").stdout)
    assert (result["is_error"], result["details"]["ran"], result["details"]["written"]) == (False, [1, 2, 3], True)


def test_outputs_that_have_no_place_any_more_are_a_failure(pisces: Command, tmp_path: Path) -> None:
    path = written(tmp_path / "a.ipynb", code("print(1)\nimport shutil; shutil.copy('b.ipynb', 'a.ipynb');"))
    written(tmp_path / "b.ipynb", code("another cell"))
    done = pisces("notebook", "run", str(path))
    assert (done.stdout, done.returncode) == ("1\n", 1)
    assert f"Not written to {path}: the outputs of cell 0" in done.stderr
    assert path.read_bytes() == (tmp_path / "b.ipynb").read_bytes()


def test_a_timeout_exits_with_124_and_what_was_said_is_in_the_file(pisces: Command, tmp_path: Path) -> None:
    path = written(tmp_path / "a.ipynb", code("print('begun', flush=True); import time; time.sleep(60)"), code("2"))
    done = pisces("notebook", "run", str(path), "--timeout", "4")
    assert done.returncode == 124
    assert "Command timed out after 4 seconds" in done.stderr
    assert text_in(path, 0) == "begun\n"
    assert cells_in(path)[1]["execution_count"] is None


def test_control_c_interrupts_the_cell_and_what_it_said_is_in_the_file(pisces: Command, tmp_path: Path) -> None:
    path = written(tmp_path / "a.ipynb", code("print('begun', flush=True)\nimport time\ntime.sleep(600)"))
    process = pisces.start("notebook", "run", str(path))
    try:
        assert process.stdout is not None
        assert process.stdout.readline() == b"begun\n"
        process.send_signal(signal.SIGINT)
        _, errors = process.communicate(timeout=PATIENCE)
    finally:
        process.kill()
        process.communicate()
    assert process.returncode == 130
    assert b"Command was interrupted" in errors
    assert text_in(path, 0) == "begun\n"
    assert outputs_in(path, 0)[-1]["ename"] == "KeyboardInterrupt"


def test_a_session_goes_on_where_the_notebook_left_off(with_host: Command, notebook: Path) -> None:
    pisces = with_host
    first = pisces("notebook", "run", "a.ipynb", "1-2", "--session", "s", cwd=notebook.parent)
    assert first.stdout == "[1/2] cell 1\n[2/2] cell 2\nx is 40\n"
    assert first.stderr == f"This is a new session 's'.\nRan 2 cells; the outputs are in {notebook}.\n"
    assert pisces("run", "--session", "s", "-c", "x += 1; x").stdout == "41\n"
    then = pisces("notebook", "run", "a.ipynb", "3", "--session", "s", cwd=notebook.parent)
    assert (then.stdout, then.returncode) == ("43\n", 0)
    assert outputs_in(notebook, 3)[0]["data"] == {"text/plain": ["43"]}
    fresh = pisces("notebook", "run", "a.ipynb", "3", "--session", "s", "--restart", cwd=notebook.parent)
    assert fresh.returncode == 1
    assert "NameError" in fresh.stdout
    assert outputs_in(notebook, 3)[0]["ename"] == "NameError"
    assert "Ran in session 's-clean', with a fresh kernel; session 's' is as it was." in fresh.stderr
    assert pisces("run", "--session", "s", "-c", "x").stdout == "41\n"
    elsewhere = notebook.parent / "elsewhere"
    elsewhere.mkdir()
    there = pisces("run", "--session", "s-clean", "-c", "1", cwd=elsewhere)
    assert "The session was made in" in there.stderr, "it is found from another folder as any other session is"
    assert pisces("session", "list").stdout.count("s-clean") == 1


def test_a_session_runs_notebooks_whatever_it_was_made_for(with_host: Command, notebook: Path) -> None:
    kept_from_agents = {"PI_SET__notebook__enabled": "false"}
    assert with_host("run", "--session", "s", "-c", "x = 1", variables=kept_from_agents).returncode == 0
    done = with_host("notebook", "run", str(notebook), "3", "--session", "s", variables=kept_from_agents)
    assert (done.stdout, done.returncode) == ("3\n", 0)
