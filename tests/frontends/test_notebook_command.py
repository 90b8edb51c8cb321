"""`pisces notebook`: what changes in the file, what is printed, and what it exits with. No kernel is started."""

import json
import os
from pathlib import Path

import pytest

from tests.fakes.notebooks import cells_in, code, is_as_jupyter_writes_it, markdown, ran, sources_in, state_of, written
from tests.frontends.command import Command


@pytest.fixture
def notebook(tmp_path: Path) -> Path:
    """Three cells: `intro`, which is markdown, `12345678` and `last`, which are code; `last` has been run."""
    cells = (markdown("# Title", "intro"), code("x = 1", "12345678"), ran(code("print(x)", "last"), "1\n", 4))
    return written(tmp_path / "a.ipynb", *cells)


@pytest.mark.parametrize("cell", ["1", "12345678"], ids=["number", "id-of-digits"])
def test_a_cell_is_edited_by_its_number_or_its_id(pisces: Command, notebook: Path, cell: str) -> None:
    before = notebook.read_bytes()
    done = pisces("notebook", "edit", str(notebook), cell, "-c", "x = 2")
    assert (done.stdout, done.returncode) == ("Replaced cell 1 (code). Notebook now has 3 cells.\n", 0)
    assert notebook.read_bytes() == before.replace(b'"x = 1"', b'"x = 2"')


def test_an_edit_says_that_outputs_are_stale_and_clears_them_when_asked(pisces: Command, notebook: Path) -> None:
    done = pisces("notebook", "edit", str(notebook), "last", "-c", "print(2)")
    assert "Its outputs are stale" in done.stdout
    assert cells_in(notebook)[2]["outputs"]
    pisces("notebook", "edit", str(notebook), "last", "-c", "print(3)", "--clear-outputs")
    assert cells_in(notebook)[2]["outputs"] == []


def test_the_type_of_a_cell_can_be_changed(pisces: Command, notebook: Path) -> None:
    assert pisces("notebook", "edit", str(notebook), "1", "-c", "text", "--type", "markdown").returncode == 0
    assert is_as_jupyter_writes_it(notebook)
    assert cells_in(notebook)[1]["cell_type"] == "markdown"


@pytest.mark.parametrize("arguments", [["-"], [], ["--file", "-"]], ids=["dash", "nothing", "file-dash"])
def test_standard_input_is_taken_without_its_last_newline(
    pisces: Command, notebook: Path, arguments: list[str]
) -> None:
    done = pisces("notebook", "edit", str(notebook), "1", *arguments, stdin="y = 'ü'\n\n".encode())
    assert done.returncode == 0
    assert sources_in(notebook)[1] == "y = 'ü'\n"


def test_a_file_is_taken(pisces: Command, notebook: Path, tmp_path: Path) -> None:
    (tmp_path / "step.py").write_bytes("\ufeffz = 3\n".encode())
    assert pisces("notebook", "edit", str(notebook), "1", "--file", str(tmp_path / "step.py")).returncode == 0
    assert sources_in(notebook)[1] == "z = 3"


def test_cells_are_inserted_where_they_are_wanted(pisces: Command, notebook: Path) -> None:
    done = pisces("notebook", "insert", str(notebook), "-c", "at the end")
    assert done.stdout == "Inserted code cell at position 3. Notebook now has 4 cells.\n"
    pisces("notebook", "insert", str(notebook), "--at", "0", "--type", "raw", "-c", "first")
    pisces("notebook", "insert", str(notebook), "-", "--after", "intro", "--type", "markdown", stdin=b"after intro\n")
    assert sources_in(notebook) == ["first", "# Title", "after intro", "x = 1", "print(x)", "at the end"]
    assert is_as_jupyter_writes_it(notebook)


def test_cells_are_deleted_and_moved(pisces: Command, notebook: Path) -> None:
    assert pisces("notebook", "move", str(notebook), "last", "0").returncode == 0
    assert sources_in(notebook) == ["print(x)", "# Title", "x = 1"]
    done = pisces("notebook", "delete", str(notebook), "intro")
    assert done.stdout == "Deleted cell 1 (markdown). Notebook now has 2 cells.\n"
    assert sources_in(notebook) == ["print(x)", "x = 1"]


@pytest.mark.parametrize(("cells", "cleared"), [([], [0, 1, 2]), (["1-2"], [1, 2]), (["1-"], [1, 2]), (["c0"], [0])])
def test_outputs_are_cleared_of_all_cells_or_of_some(
    pisces: Command, tmp_path: Path, cells: list[str], cleared: list[int]
) -> None:
    path = written(tmp_path / "a.ipynb", *(ran(code(f"print({n})"), f"{n}\n") for n in range(3)))
    assert pisces("notebook", "clear", str(path), *cells).returncode == 0
    empty = [index for index, cell in enumerate(cells_in(path)) if not cell["outputs"]]
    assert empty == cleared
    assert all(cells_in(path)[index]["execution_count"] is None for index in cleared)


@pytest.mark.parametrize(
    ("arguments", "exit_code", "words"),
    [
        (["edit", "{}", "7", "-c", "x"], 1, "Cell index 7 out of range (0-2) in {}"),
        (["edit", "{}", "nope", "-c", "x"], 1, "No cell has the id 'nope' in {}"),
        (["edit", "{}.missing", "0", "-c", "x"], 1, "Notebook not found: {}.missing"),
        (["edit", "{}", "0", "-c", "x", "--file", "y"], 2, "given twice"),
        (["edit", "{}", "0", "x"], 2, "What is 'x'?"),
        (["edit", "{}", "0"], 2, "There is no source"),
        (["edit", "{}", "0", "--file", "no-such-file"], 2, "Cannot read no-such-file: No such file or directory."),
        (["insert", "{}", "--at", "1", "--after", "0", "-c", "x"], 2, "Give one of --at and --after."),
        (["insert", "{}", "--at", "9", "-c", "x"], 1, "Cell index 9 out of range for insert (0-3) in {}"),
        (["move", "{}", "0", "9"], 1, "Cell index 9 out of range (0-2) in {}"),
        (["move", "{}", "0", "x"], 2, "'x'"),
        (["clear", "{}", "2-1"], 1, "The last cell, 1, comes before the first, 2: {}"),
        (["show", "{}", "0-9"], 1, "Cell index 9 out of range (0-2) in {}"),
        (["run", "{}", "0", "--until", "1"], 2, "Give one of CELLS and --until."),
        (["run", "{}", "nope"], 1, "No cell has the id 'nope' in {}"),
    ],
    ids=lambda value: "-".join(value).replace("{}", "path") if isinstance(value, list) else None,
)
def test_what_cannot_be_done_is_told_and_changes_nothing(
    pisces: Command, notebook: Path, arguments: list[str], exit_code: int, words: str
) -> None:
    before = notebook.read_bytes()
    done = pisces("notebook", *(argument.replace("{}", str(notebook)) for argument in arguments))
    assert done.returncode == exit_code
    assert words.replace("{}", str(notebook)) in done.stderr
    assert (done.stdout, notebook.read_bytes()) == ("", before)


def test_a_source_that_is_no_text_is_told_and_changes_nothing(pisces: Command, notebook: Path) -> None:
    before = notebook.read_bytes()
    done = pisces("notebook", "edit", str(notebook), "0", "-c", os.fsdecode(b"x = '\xff'"))
    assert (done.returncode, notebook.read_bytes()) == (2, before)
    assert "What -c gives is not UTF-8, from character 5 on." in done.stderr


def test_settings_that_keep_the_tool_from_agents_do_not_keep_the_command_from_people(
    pisces: Command, notebook: Path
) -> None:
    variables = {"PI_SET__notebook__enabled": "false"}
    assert pisces("notebook", "edit", str(notebook), "1", "-c", "x", variables=variables).returncode == 0


def test_cells_with_the_same_id_are_named_by_number(pisces: Command, tmp_path: Path) -> None:
    path = written(tmp_path / "a.ipynb", code("a", "same"), code("b", "same"))
    done = pisces("notebook", "delete", str(path), "same")
    assert done.returncode == 1
    assert "2 cells have the id 'same'" in done.stderr
    assert pisces("notebook", "delete", str(path), "1").returncode == 0
    assert sources_in(path) == ["a"]


OLD = {
    "metadata": {"name": "old"},
    "nbformat": 3,
    "nbformat_minor": 0,
    "worksheets": [
        {
            "cells": [
                {"cell_type": "heading", "level": 2, "metadata": {}, "source": ["Title"]},
                {"cell_type": "code", "input": ["1 + 1"], "language": "python", "metadata": {}, "outputs": []},
            ],
            "metadata": {},
        }
    ],
}


@pytest.fixture
def old(tmp_path: Path) -> Path:
    """A notebook of nbformat 3."""
    path = tmp_path / "old.ipynb"
    path.write_text(json.dumps(OLD), encoding="utf-8")
    return path


def test_an_old_notebook_is_shown_and_cannot_be_changed_until_it_is_upgraded(pisces: Command, old: Path) -> None:
    shown = pisces("notebook", "show", str(old))
    assert shown.stdout == "── cell 0 · markdown ──\n## Title\n\n── cell 1 · code · [] ──\n1 + 1\n"
    assert "nbformat 3, which is too old to be changed" in shown.stderr
    assert pisces("notebook", "edit", str(old), "1", "-c", "2").returncode == 1
    done = pisces("notebook", "upgrade", str(old))
    assert (done.stdout, done.returncode) == (f"Upgraded {old} from nbformat 3.0 to 4.5.\n", 0)
    assert is_as_jupyter_writes_it(old)
    assert pisces("notebook", "edit", str(old), "1", "-c", "2").returncode == 0
    assert sources_in(old) == ["## Title", "2"]


def test_an_upgrade_can_go_elsewhere_but_not_over_another_file(pisces: Command, old: Path, tmp_path: Path) -> None:
    before, new = old.read_bytes(), tmp_path / "new.ipynb"
    assert pisces("notebook", "upgrade", str(old), "--output", str(new)).returncode == 0
    made = new.read_bytes()
    assert is_as_jupyter_writes_it(new)
    again = pisces("notebook", "upgrade", str(old), "--output", str(new))
    assert (again.returncode, again.stdout) == (1, "")
    assert "is there already" in again.stderr
    assert (old.read_bytes(), new.read_bytes()) == (before, made)


def test_an_upgrade_of_a_new_notebook_says_so_and_writes_nothing(pisces: Command, notebook: Path) -> None:
    before = state_of(notebook)
    done = pisces("notebook", "upgrade", str(notebook))
    assert done.stdout == f"{notebook} is in nbformat 4.5 already; nothing was written.\n"
    assert done.returncode == 0
    assert state_of(notebook) == before


@pytest.mark.parametrize(
    ("content", "words"),
    [(b'{"cells": [', "Invalid JSON"), (b'{"a": 1}', "no notebook"), (b'{"nbformat": 5, "cells": []}', "newer")],
    ids=["json", "other", "newer"],
)
def test_what_cannot_be_upgraded_stays_as_it_is(pisces: Command, tmp_path: Path, content: bytes, words: str) -> None:
    path = tmp_path / "a.ipynb"
    path.write_bytes(content)
    done = pisces("notebook", "upgrade", str(path))
    assert (done.returncode, path.read_bytes()) == (1, content)
    assert words in done.stderr
    assert str(path) in done.stderr


def test_differences_are_told_cell_by_cell(pisces: Command, notebook: Path, tmp_path: Path) -> None:
    other = tmp_path / "b.ipynb"
    other.write_bytes(notebook.read_bytes())
    same = pisces("notebook", "diff", str(notebook), str(other))
    assert (same.stdout, same.stderr, same.returncode) == ("", "", 0)
    pisces("notebook", "edit", str(other), "1", "-c", "x = 2")
    done = pisces("notebook", "diff", str(notebook), str(other))
    expected = f"--- {notebook}\n+++ {other}\ncell 1 (code, id 12345678): changed\n@@ -1 +1 @@\n-x = 1\n+x = 2\n"
    assert (done.stdout, done.stderr, done.returncode) == (expected, "", 1)
    told = json.loads(pisces("notebook", "diff", str(notebook), str(other), "--json").stdout)
    (change,) = told["changes"]
    assert (change["kind"], change["old_index"], change["new_index"]) == ("changed", 1, 1)
    assert change["source"] == ["@@ -1 +1 @@", "-x = 1", "+x = 2"]


@pytest.mark.parametrize("other", [[], ["missing.ipynb"]], ids=["one", "missing"])
def test_trouble_is_no_difference(pisces: Command, notebook: Path, other: list[str]) -> None:
    done = pisces("notebook", "diff", str(notebook), *other)
    assert (done.stdout, done.returncode) == ("", 2)
    assert "Error: " in done.stderr


@pytest.mark.parametrize("command", ["show", "edit", "insert", "delete", "move", "clear", "run", "upgrade", "diff"])
def test_every_command_has_help_with_an_example(pisces: Command, command: str) -> None:
    done = pisces("notebook", command, "--help")
    assert done.returncode == 0
    assert f"  pisces notebook {command} " in done.stdout


def test_a_notebook_that_is_not_there_is_made_where_that_is_asked_for(pisces: Command, tmp_path: Path) -> None:
    path = tmp_path / "new.ipynb"
    refused = pisces("notebook", "insert", str(path), "-c", "x = 1")
    assert (refused.returncode, path.exists()) == (1, False)
    for source in ("x = 1", "x + 1"):
        assert pisces("notebook", "insert", str(path), "--new", "-c", source).returncode == 0
    assert sources_in(path) == ["x = 1", "x + 1"]
    assert is_as_jupyter_writes_it(path)
