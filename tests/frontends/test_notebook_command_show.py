"""`pisces notebook show`, and what a person at a terminal sees and edits."""

import fcntl
import json
import os
import pty
import re
import struct
import sys
import termios
from pathlib import Path
from typing import Any

import pytest

from tests.fakes.notebooks import cells_in, code, markdown, ran, state_of, written
from tests.frontends.command import PATIENCE, Command

PNG = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
COLOURS = re.compile(r"\x1b\[[0-9;]*m")


@pytest.fixture
def notebook(tmp_path: Path) -> Path:
    """Markdown, a long output with a colour and with what would clear the screen, and a picture."""
    long = "".join(f"\x1b[32mline\x1b[0m {n}\x1b[2J\n" for n in range(25))
    figure = {"output_type": "display_data", "metadata": {}, "data": {"image/png": PNG, "text/plain": "<Figure>"}}
    cells = (
        markdown("# Title", "intro"),
        ran(code("loop()", "long"), long, 7),
        code("plot()", "fig", outputs=[figure]),
    )
    return written(tmp_path / "a.ipynb", *cells)


def at_terminal(pisces: Command, *arguments: str, width: int = 60) -> tuple[str, int]:
    """Run the command as at a terminal: what it wrote there, and its exit code."""
    ours, theirs = pty.openpty()
    try:
        fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 40, width, width * 10, 800))
        process = pisces.start(*arguments, stdin=theirs, stdout=theirs, stderr=theirs)
    finally:
        os.close(theirs)
    try:
        written_there = b"".join(iter(lambda: _read(ours), b""))
        return written_there.decode().replace("\r\n", "\n"), process.wait(PATIENCE)
    finally:
        process.kill()
        process.wait()
        os.close(ours)


def _read(terminal: int) -> bytes:
    try:
        return os.read(terminal, 65536)
    except OSError:  # How Linux says that nobody holds the other end any more.
        return b""


@pytest.fixture(autouse=True)
def plain_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    """A terminal with colours and without pictures, whatever the tests are run in."""
    for name in ("TMUX", "STY", "ZELLIJ", "TERM_PROGRAM", "LC_TERMINAL", "KITTY_WINDOW_ID", "NO_COLOR", "COLORTERM"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("TERM", "xterm-256color")


def test_into_a_pipe_goes_text_alone(pisces: Command, notebook: Path) -> None:
    done = pisces("notebook", "show", str(notebook))
    lines = done.stdout.splitlines()
    assert lines[:4] == ["── cell 0 · markdown · id intro ──", "# Title", "", "── cell 1 · code · [7] · id long ──"]
    assert lines[4:7] == ["loop()", "    line 0", "    line 1"]
    assert lines[24:27] == ["    line 19", "    … 5 more lines", ""]
    assert lines[27:] == ["── cell 2 · code · [] · id fig ──", "plot()", "    [image/png 1x1]"]
    assert (done.stderr, done.returncode) == ("", 0)


@pytest.mark.parametrize(
    ("arguments", "cells"), [(["1"], [1]), (["fig"], [2]), (["0-1"], [0, 1]), (["1-"], [1, 2])], ids=str
)
def test_some_cells_can_be_chosen(pisces: Command, notebook: Path, arguments: list[str], cells: list[int]) -> None:
    shown = pisces("notebook", "show", str(notebook), *arguments).stdout
    assert [int(number) for number in re.findall(r"^── cell (\d+)", shown, re.MULTILINE)] == cells


def test_outputs_can_be_left_out_or_shown_in_full(pisces: Command, notebook: Path) -> None:
    without = pisces("notebook", "show", str(notebook), "1", "--no-outputs").stdout
    assert without == "── cell 1 · code · [7] · id long ──\nloop()\n"
    assert "    line 24\n" in pisces("notebook", "show", str(notebook), "1", "--full").stdout


def test_json_has_the_cells_as_they_are(pisces: Command, notebook: Path) -> None:
    shown: dict[str, Any] = json.loads(pisces("notebook", "show", str(notebook), "1-2", "--json").stdout)
    assert (shown["notebook_path"], shown["total_cells"]) == (str(notebook), 3)
    assert [cell["cell_index"] for cell in shown["cells"]] == [1, 2]
    assert [cell["outputs"] for cell in shown["cells"]] == [cell["outputs"] for cell in cells_in(notebook)[1:]]


def test_half_a_character_is_still_json(pisces: Command, tmp_path: Path) -> None:
    path = written(tmp_path / "a.ipynb", code("x"))
    path.write_bytes(path.read_bytes().replace(b'"x"', rb'"\ud800"'))
    shown = json.loads(pisces("notebook", "show", str(path), "--json").stdout)
    assert shown["cells"][0]["cell_source"] == "\ud800"
    assert pisces("notebook", "show", str(path)).returncode == 0


def test_a_notebook_without_cells_says_so(pisces: Command, tmp_path: Path) -> None:
    path = written(tmp_path / "a.ipynb")
    done = pisces("notebook", "show", str(path))
    assert (done.stdout, done.stderr, done.returncode) == ("", f"{path} has no cells.\n", 0)


def test_a_reader_that_goes_away_ends_it_quietly(pisces: Command, tmp_path: Path) -> None:
    path = written(tmp_path / "a.ipynb", *(code(f"x = {n}  # {'long ' * 2000}") for n in range(100)))
    process = pisces.start("notebook", "show", str(path))
    assert process.stdout is not None
    assert process.stderr is not None
    process.stdout.readline()
    process.stdout.close()
    assert process.stderr.read() == b""
    process.stderr.close()
    assert process.wait(PATIENCE) == 141


def test_a_terminal_without_utf_8_gets_signs_that_it_has(
    pisces: Command, notebook: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PYTHONIOENCODING", "ascii")
    shown, exit_code = at_terminal(pisces, "notebook", "show", str(notebook))
    assert exit_code == 0
    lines = [line.rstrip() for line in COLOURS.sub("", shown).split("\n")]
    assert lines[0] == "-- cell 0 - markdown - id intro ".ljust(60, "-")
    assert "    ~ 5 more lines" in lines
    assert "    [image/png 1x1]" in lines


def test_a_terminal_gets_colours_and_layout_and_nothing_that_moves_it(pisces: Command, notebook: Path) -> None:
    shown, exit_code = at_terminal(pisces, "notebook", "show", str(notebook))
    assert exit_code == 0
    assert "\x1b[32mline" in shown
    text = COLOURS.sub("", shown)
    assert "\x1b" not in text
    assert "# Title" not in text
    assert "Title" in text
    assert [len(line) for line in text.splitlines() if line.startswith("── cell")] == [60, 60, 60]
    assert "    … 5 more lines\n" in text
    assert "    ▀\n" in text


def test_plain_and_no_color_are_heeded_at_a_terminal(
    pisces: Command, notebook: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert "\x1b" not in at_terminal(pisces, "notebook", "show", str(notebook), "--plain")[0]
    monkeypatch.setenv("NO_COLOR", "1")
    shown = at_terminal(pisces, "notebook", "show", str(notebook))[0]
    assert not re.search(r"\x1b\[[0-9;]*3[0-9]", shown)
    assert "    [image/png 1x1]\n" in COLOURS.sub("", shown)


@pytest.mark.parametrize(
    ("variables", "options", "sequence"),
    [
        ({"TERM": "xterm-kitty"}, [], f"    \x1b_Ga=T,f=100,q=2,m=0;{PNG}\x1b\\\n"),
        ({"TERM_PROGRAM": "iTerm.app"}, [], f"    \x1b]1337;File=inline=1;size=70;preserveAspectRatio=1:{PNG}\x07\n"),
        ({"TERM_PROGRAM": "vscode"}, ["--pictures", "iterm"], f"preserveAspectRatio=1:{PNG}\x07\n"),
        ({"TERM": "foot"}, [], '\x1bP0;1q"1;1;1;1#0;2;'),
    ],
    ids=["kitty", "iterm", "told", "sixel"],
)
def test_a_terminal_that_can_shows_pictures(
    pisces: Command,
    notebook: Path,
    monkeypatch: pytest.MonkeyPatch,
    variables: dict[str, str],
    options: list[str],
    sequence: str,
) -> None:
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    shown, _ = at_terminal(pisces, "notebook", "show", str(notebook), "fig", *options)
    assert sequence in shown
    assert "[image/png" not in shown


def test_differences_have_colours_at_a_terminal(pisces: Command, notebook: Path, tmp_path: Path) -> None:
    other = written(tmp_path / "b.ipynb", markdown("# Other", "intro"))
    shown, exit_code = at_terminal(pisces, "notebook", "diff", str(notebook), str(other))
    assert exit_code == 1
    assert "\x1b[31m-# Title\x1b[0m\n\x1b[32m+# Other\x1b[0m\n" in shown


def set_editor(monkeypatch: pytest.MonkeyPatch, folder: Path, body: str) -> None:
    """An editor that does this to the text of the file that it is given."""
    script = folder / "an editor.py"
    head = "import sys, pathlib\npath = pathlib.Path(sys.argv[1])\ntext = path.read_text(encoding='utf-8')\n"
    script.write_text(head + body, encoding="utf-8")
    monkeypatch.delenv("VISUAL", raising=False)
    monkeypatch.setenv("EDITOR", f"{sys.executable} '{script}'")
    monkeypatch.setenv("TMPDIR", str(folder / "temporary"))
    (folder / "temporary").mkdir()


def left_over(folder: Path) -> list[str]:
    return [path.name for path in (folder / "temporary").rglob("*") if path.is_file()]


def test_a_cell_is_edited_in_the_users_editor(
    pisces: Command, notebook: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    body = "assert (path.name, text) == ('cell-1.py', 'loop()\\n')\npath.write_text('loop(2)\\n', encoding='utf-8')"
    set_editor(monkeypatch, tmp_path, body)
    shown, exit_code = at_terminal(pisces, "notebook", "edit", str(notebook), "1")
    assert exit_code == 0
    assert COLOURS.sub("", shown).startswith("╭─ ✓ Edited cell 1 (code) · a.ipynb\n│ loop(2)\n")
    assert cells_in(notebook)[1]["source"] == ["loop(2)"]
    assert left_over(tmp_path) == []


def test_a_text_that_the_editor_leaves_as_it_is_writes_nothing(
    pisces: Command, notebook: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    set_editor(monkeypatch, tmp_path, "assert path.suffix == '.md'\npath.write_text(text, encoding='utf-8')")
    before = state_of(notebook)
    shown, exit_code = at_terminal(pisces, "notebook", "edit", str(notebook), "intro")
    assert (shown, exit_code) == ("Cell 0 is unchanged; nothing was written.\n", 0)
    assert state_of(notebook) == before


def test_an_editor_that_fails_changes_nothing(
    pisces: Command, notebook: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    set_editor(monkeypatch, tmp_path, "path.write_text('half', encoding='utf-8')\nsys.exit(3)")
    before = notebook.read_bytes()
    shown, exit_code = at_terminal(pisces, "notebook", "edit", str(notebook), "1", width=200)
    assert exit_code == 1
    assert "ended with exit code 3: nothing was changed." in shown
    assert notebook.read_bytes() == before


def test_a_cell_that_changed_meanwhile_is_not_written_over_and_the_text_is_kept(
    pisces: Command, notebook: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    change = (
        f"notebook = pathlib.Path({str(notebook)!r})\n"
        "notebook.write_bytes(notebook.read_bytes().replace(b'loop()', b'theirs()'))\n"
        "path.write_text('ours()\\n', encoding='utf-8')"
    )
    set_editor(monkeypatch, tmp_path, change)
    shown, exit_code = at_terminal(pisces, "notebook", "edit", str(notebook), "1")
    assert exit_code == 1
    assert "Cell 1 was changed by somebody else" in shown
    assert cells_in(notebook)[1]["source"] == ["theirs()"]
    assert left_over(tmp_path) == ["cell-1.py"]
    (kept,) = (tmp_path / "temporary").rglob("cell-1.py")
    assert str(kept) in shown
    assert kept.read_text(encoding="utf-8") == "ours()\n"


def test_a_text_that_is_no_utf_8_is_kept(
    pisces: Command, notebook: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    set_editor(monkeypatch, tmp_path, "path.write_text('# Größe\\n', encoding='latin-1')")
    before = state_of(notebook)
    shown, exit_code = at_terminal(pisces, "notebook", "edit", str(notebook), "1", width=300)
    assert (exit_code, state_of(notebook)) == (1, before)
    (kept,) = (tmp_path / "temporary").rglob("cell-1.py")
    assert f"Your text is in {kept}" in shown
    assert kept.read_text(encoding="latin-1") == "# Größe\n"


def test_a_new_cell_is_written_in_the_users_editor(
    pisces: Command, notebook: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    set_editor(monkeypatch, tmp_path, "path.write_text('new\\n', encoding='utf-8')")
    shown, exit_code = at_terminal(pisces, "notebook", "insert", str(notebook), "--after", "intro")
    block = "╭─ ✓ Inserted cell 1 (code) · a.ipynb\n│ new\n╰── 4 cells\n"
    assert (COLOURS.sub("", shown), exit_code) == (block, 0)
    assert cells_in(notebook)[1]["source"] == ["new"]


def test_a_cell_that_no_notebook_can_have_is_named_and_the_others_are_shown_and_compared(
    pisces: Command, tmp_path: Path
) -> None:
    file = tmp_path / "broken.ipynb"
    file.write_text(json.dumps({"cells": [5, code("x = 1")], "nbformat": 4, "metadata": {}}), encoding="utf-8")
    shown = pisces("notebook", "show", str(file))
    assert (shown.returncode, "[a cell that is no object]" in shown.stdout, "x = 1" in shown.stdout) == (0, True, True)
    other = written(tmp_path / "b.ipynb", code("x = 1"), minor=4)
    compared = pisces("notebook", "diff", str(file), str(other))
    assert (compared.returncode, "cell 0 (invalid): removed" in compared.stdout) == (1, True)
