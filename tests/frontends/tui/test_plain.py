"""The plain mode with a real host: lines in, lines out."""

import json
import os
import re
import select
import signal
import time
from pathlib import Path

import pytest

from tests.frontends.command import PATIENCE, Command
from tests.frontends.tui.test_entry import on_a_terminal, read_until

NOTEBOOK: dict[str, object] = {
    "cells": [
        {"cell_type": "code", "id": "a", "metadata": {}, "source": "6 * 7", "outputs": [], "execution_count": None}
    ],
    "metadata": {},
    "nbformat": 4,
    "nbformat_minor": 5,
}


def said(pisces: Command, folder: Path, *lines: str, arguments: tuple[str, ...] = ()) -> list[str]:
    """What it says to lines of a pipe."""
    done = pisces("--plain", *arguments, stdin="".join(f"{line}\n" for line in lines).encode(), cwd=folder)
    assert done.stderr == ""
    return done.stdout.splitlines()


def test_a_file_of_cells_runs_line_by_line_and_twice_the_same(ui_home: Path, pisces: Command) -> None:
    cells = ["x = 41", "def f(a):", "    b = a", "", "    return b + 1", "print(f(x))", "$ x", "! echo shell"]
    first = said(pisces, ui_home, *cells, arguments=("--session", "one"))
    assert first == [
        "Cell 1 is done.",
        "Cell 2 is done.",
        "42",
        "Cell 3 is done.",
        "41",
        "Cell 4 is done.",
        "shell",
        "The command is done.",
    ]
    assert said(pisces, ui_home, *cells, arguments=("--session", "two")) == first


def test_a_cell_that_fails_is_told_and_the_next_one_runs(ui_home: Path, pisces: Command) -> None:
    done = pisces("--plain", stdin=b"1 / 0\n6 * 7\n", cwd=ui_home)
    assert "ZeroDivisionError: division by zero\n" in done.stdout
    assert "Cell 1 failed.\n42\nCell 2 is done.\n" in done.stdout
    assert done.returncode == 1


def test_a_crash_is_told_in_words_and_the_state_is_there(ui_home: Path, pisces: Command) -> None:
    lines = said(pisces, ui_home, "x = 41", "import os; os._exit(3)", "x")
    assert any(line.startswith("STATE RESTORED: The kernel exited with code 3.") for line in lines)
    assert lines[-2:] == ["41", "Cell 2 is done."]


def test_what_can_be_done_to_a_session(ui_home: Path, pisces: Command) -> None:
    lines = said(pisces, ui_home, "x = 1", "x = 2", ":undo", "x", ":branch other", "x = 3", ":switch s", "x",
                 ":variables", ":jobs", ":sessions", arguments=("--session", "s"))  # fmt: skip
    text = "\n".join(lines)
    assert "Took back the last cell of session 's'." in text
    assert "1\nCell 2 is done." in text
    assert "Session other, in the background host." in text
    assert re.search(r"Session s, in the background host\.\n1\n", text)
    assert "x: int" in text
    assert f"other: in the background host, 3 cells, {ui_home}" in text


def test_a_notebook_is_heard_changed_and_run(ui_home: Path, pisces: Command) -> None:
    path = ui_home / "a.ipynb"
    path.write_text(json.dumps(NOTEBOOK), "utf-8")
    lines = said(
        pisces, ui_home, ":run 0", ":edit 0", "y = 1", "y + 2", ".", ":run all", ":show 0", arguments=("a.ipynb",)
    )
    assert "6 * 7" in "\n".join(lines[:5])
    assert "42" in lines
    assert "3" in lines
    (saved,) = json.loads(path.read_text("utf-8"))["cells"]
    assert "".join(saved["source"]) == "y = 1\ny + 2"
    assert saved["outputs"][0]["data"]["text/plain"] in ("3", ["3"])


def notebook_of(path: Path, *sources: str) -> None:
    """A notebook of these cells."""
    cells: list[dict[str, object]] = [
        {"cell_type": "code", "id": f"c{n}", "metadata": {}, "source": each, "outputs": [], "execution_count": None}
        for n, each in enumerate(sources)
    ]
    path.write_text(json.dumps({**NOTEBOOK, "cells": cells}), "utf-8")


def test_what_cells_of_a_notebook_say_is_said_once(ui_home: Path, pisces: Command) -> None:
    notebook_of(ui_home / "a.ipynb", "print('printed')\n6 * 7", "import os; os._exit(3)")
    lines = said(pisces, ui_home, ":notebook a.ipynb", ":run all", arguments=("--session", "s"))
    ran = lines[lines.index("printed") :]
    assert (ran.count("printed"), ran.count("42")) == (1, 1)
    (crash,) = (line for line in ran if "exited with code 3" in line)
    assert crash.startswith("STATE ")
    assert ran[-1].startswith("Cell 1 crashed")


@pytest.mark.parametrize("command", [":edit 0", ":insert 0"])
def test_a_text_that_the_input_cuts_off_changes_no_notebook(ui_home: Path, pisces: Command, command: str) -> None:
    path = ui_home / "a.ipynb"
    notebook_of(path, "6 * 7")
    before = path.read_bytes()
    done = pisces("--plain", "a.ipynb", stdin=f"{command}\nhalf\n".encode(), cwd=ui_home)
    assert "Error: The text was not ended with a line that is a dot alone; nothing was changed." in done.stdout
    assert done.returncode == 1
    assert path.read_bytes() == before


def test_ctrl_c_gives_a_text_up_and_the_talk_goes_on(ui_home: Path, pisces: Command) -> None:
    path = ui_home / "a.ipynb"
    notebook_of(path, "6 * 7")
    before = path.read_bytes()
    process, ours = on_a_terminal(pisces, "--plain", "a.ipynb", "--cwd", str(ui_home))
    try:
        read_until(ours, b">>> ")
        os.write(ours, b":edit 0\n")
        seen = read_until(ours, b"Type the text").partition(b"Type the text")[2]
        process.send_signal(signal.SIGINT)
        deadline = time.monotonic() + PATIENCE
        while b">>> " not in seen:
            assert time.monotonic() < deadline, seen
            if select.select([ours], [], [], 3)[0]:
                seen += os.read(ours, 65536)
            else:  # A signal that comes just before a line is waited for is heard with the end of that line.
                os.write(ours, b"\n")
        os.write(ours, b"print(6 * 7)\n")
        assert b"\r\n42\r\n" in read_until(ours, b"Cell 1 is done.", b">>> ")
        os.write(ours, b"\x04")
        assert process.wait(PATIENCE) == 0
    finally:
        os.close(ours)
    assert path.read_bytes() == before


def test_switching_to_the_name_of_a_session_that_is_over_makes_it_anew(ui_home: Path, pisces: Command) -> None:
    said(pisces, ui_home, "x = 41", ":close", arguments=("--session", "s"))
    done = pisces("--plain", "--session", "other", stdin=b":switch s\nprint('x' in globals())\n", cwd=ui_home)
    assert done.stdout.splitlines() == ["Session s, in the background host.", "False", "Cell 1 is done."]
    assert done.returncode == 0


def test_a_session_that_is_over_is_heard_and_the_one_of_before_comes_back(ui_home: Path, pisces: Command) -> None:
    said(pisces, ui_home, "print('of the past')", ":close", arguments=("--session", "s"))
    lines = said(pisces, ui_home, "x = 41", ":follow s", "x + 1", arguments=("--session", "now"))
    assert lines[1] == "Following session s, over. Ctrl+C ends that."
    assert "of the past" in lines
    assert lines[-3:] == ["Session now, in the background host.", "42", "Cell 2 is done."]


def test_what_happened_in_a_session_can_be_heard_again(ui_home: Path, pisces: Command) -> None:
    said(pisces, ui_home, "for i in range(50):", "    print('line', i)", "x", arguments=("--session", "s"))
    lines = said(pisces, ui_home, ":history", ":expand", arguments=("--session", "s"))
    assert ">>> for i in range(50):" in lines
    assert any("more lines" in line for line in lines)
    assert any("NameError" in line for line in lines)


@pytest.mark.parametrize(
    ("line", "answer"),
    [
        (":undu", "There is no command :undu. Did you mean :undo? :help lists them."),
        (":undo many", "Error: A number of cells is needed, got: many"),
        (f":undo {'9' * 5000}", "Error: A number of cells is needed, got: 999"),
        (f":history {'9' * 5000}", "Error: A number of cells is needed, got: 999"),
        (f":show {'9' * 5000}", "Error: Which cell? Give its number, from 0 on, not '999"),
        (":run 0", "Error: No notebook is open: :notebook PATH opens one."),
        (":notebook missing.ipynb", "missing.ipynb"),
        (":follow nobody", "Error: There is no session 'nobody'."),
        (":artifact", "Error: Which one?"),
        (":artifact 99999", "99999"),
        (":wait", "Error: Which job?"),
        (":background", "Error: There is no code to run"),
    ],
    ids=lambda text: text[:20],
)
def test_bad_use_is_told_and_the_talk_goes_on(ui_home: Path, pisces: Command, line: str, answer: str) -> None:
    lines = said(pisces, ui_home, line, "6 * 7")
    assert answer in "\n".join(lines)
    assert "42" in lines


def test_nothing_that_a_terminal_would_obey_is_said(ui_home: Path, pisces: Command) -> None:
    lines = said(pisces, ui_home, r"print('\x1b[2J\x1b]52;c;AAAA\x07\x1b[?1049hred\x1b[31m' + '\x9b5A' + 'done')")
    assert lines[0] == "reddone"


def test_bytes_that_are_no_text_end_nothing(ui_home: Path, pisces: Command) -> None:
    done = pisces("--plain", stdin=b"\xff\xfe\nprint('after')\n", cwd=ui_home)
    assert "after\n" in done.stdout
    assert "Traceback (most recent call last)" not in done.stderr


def test_bytes_of_a_terminal_that_are_no_text_end_nothing(ui_home: Path, pisces: Command) -> None:
    process, ours = on_a_terminal(pisces, "--plain", "--cwd", str(ui_home))
    try:
        read_until(ours, b">>> ")
        os.write(ours, b"'a\xff'\n")
        assert "'a\ufffd'".encode() in read_until(ours, b"Cell 1 is done.", b">>> ")
        os.write(ours, "'ü'.upper()\n".encode())
        assert "'Ü'".encode() in read_until(ours, b"Cell 2 is done.", b">>> ")
        os.write(ours, b"\x04")
        assert process.wait(PATIENCE) == 0
    finally:
        os.close(ours)


def test_a_session_in_which_nothing_has_happened_says_so(ui_home: Path, pisces: Command) -> None:
    lines = said(pisces, ui_home, ":switch other", ":history", ":expand", "6 * 7", ":history")
    assert lines[1:4] == ["Nothing has happened yet.", "Nothing has happened yet.", "42"]
    assert lines[-2:] == [">>> 6 * 7", "42"]


def test_a_name_is_completed_from_the_kernel(ui_home: Path, pisces: Command) -> None:
    process, ours = on_a_terminal(pisces, "--plain", "--cwd", str(ui_home))
    try:
        read_until(ours, b">>> ")
        os.write(ours, b"remembered = 6 * 7\n")
        read_until(ours, b"Cell 1 is done.", b">>> ")
        os.write(ours, b"print(rememb")
        seen = read_until(ours, b"print(rememb")
        while b"ered" not in seen:  # Once more if the kernel of a busy machine did not answer in time.
            os.write(ours, b"\t")
            if select.select([ours], [], [], 3)[0]:
                seen += os.read(ours, 65536)
        os.write(ours, b")\n")
        assert b"\r\n42\r\n" in read_until(ours, b"Cell 2 is done.", b">>> ")
        os.write(ours, b"\x04")
        assert process.wait(PATIENCE) == 0
    finally:
        os.close(ours)


def test_ctrl_c_interrupts_the_cell_and_a_block_is_typed(ui_home: Path, pisces: Command) -> None:
    process, ours = on_a_terminal(pisces, "--plain", "--cwd", str(ui_home))
    try:
        read_until(ours, b">>> ")
        os.write(ours, b"for i in range(2):\n")
        read_until(ours, b"... ")
        os.write(ours, b"  print(i * 21)\n\n")
        assert b"\r\n0\r\n21\r\n" in read_until(ours, b"Cell 1 is done.", b">>> ")
        os.write(ours, b"print('running', flush=True); import time; time.sleep(600)\n")
        read_until(ours, b"running\r\n")
        process.send_signal(signal.SIGINT)
        read_until(ours, b"was interrupted", b">>> ")
        os.write(ours, b"\x04")
        assert process.wait(PATIENCE) == 0
    finally:
        os.close(ours)
