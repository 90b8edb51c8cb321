"""The UI in a real terminal: keys in, the screen out."""

import json
from pathlib import Path

import nbformat
import pytest
from rich.cells import cell_len

from tests.fakes.hosts import files
from tests.fakes.tmux import Tmux, pisces_in_tmux

READY = "Enter runs"
"""What an editor says that is empty."""


def test_a_cell_is_typed_and_seen_and_the_terminal_is_left_as_it_was(ui_home: Path) -> None:
    with pisces_in_tmux(ui_home) as terminal:
        terminal.until(READY)
        terminal.run("print(6 * 7)")
        terminal.until("42")
        terminal.until("idle")
        terminal.keys("C-q")
        terminal.until("ended with 0")
        assert not terminal.shows_other_screen
        assert terminal.lines[0].rstrip() == "it was here before"
        terminal.until("\necho")


def test_the_screen_is_as_large_as_its_terminal_whatever_the_environment_says(ui_home: Path) -> None:
    with pisces_in_tmux(ui_home, variables={"COLUMNS": "70", "LINES": "20"}) as terminal:
        terminal.until(READY)
        assert any(cell_len(line.rstrip()) == 100 for line in terminal.lines)
        terminal.resize(60, 15)
        terminal.until(lambda: any(line.startswith("╰") and len(line.rstrip()) == 60 for line in terminal.lines))
        terminal.until(lambda: files().record())  # The host that is started ahead of the first cell can be ended now.


@pytest.mark.heavy
def test_an_endless_loop_is_interrupted_and_the_session_goes_on(ui_home: Path) -> None:
    with pisces_in_tmux(ui_home) as terminal:
        terminal.until(READY)
        terminal.run("n = 7; print('begun', flush=True)")
        terminal.until("begun")
        terminal.run("while True: n += 1")
        terminal.until("running")
        terminal.keys("C-c")
        terminal.until("KeyboardInterrupt")
        terminal.until("idle")
        terminal.run("print('still', n > 7)")
        terminal.until("still True")
        terminal.run("while True: pass")
        terminal.until("running")
        terminal.keys("Escape")
        terminal.until("idle")


@pytest.mark.heavy
def test_a_crash_is_seen_and_the_state_is_there_again(ui_home: Path) -> None:
    with pisces_in_tmux(ui_home) as terminal:
        terminal.until(READY)
        terminal.run("x = 41; print('set')")
        terminal.until("set\n")
        terminal.run("import os, signal; os.kill(os.getpid(), signal.SIGSEGV)")
        terminal.until("STATE RESTORED")
        terminal.run("print('x is', x)")
        terminal.until("x is 41")


@pytest.mark.heavy
def test_a_cell_is_taken_back(ui_home: Path) -> None:
    with pisces_in_tmux(ui_home) as terminal:
        terminal.until(READY)
        terminal.run("x = 'first'")
        terminal.until("✓")
        terminal.run("x = 'second'; print('changed')")
        terminal.until("changed\n")
        terminal.until("idle")
        terminal.keys("F8")
        terminal.until("taken back")
        terminal.run("print('x is', x)")
        terminal.until("x is first")


@pytest.mark.heavy
def test_a_plot_is_drawn(ui_home: Path, ipython_python: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PI_SET__python__interpreter", ipython_python)
    with pisces_in_tmux(ui_home, size=(100, 40)) as terminal:
        terminal.until(READY)
        terminal.run("import matplotlib.pyplot as plt; _ = plt.plot([3, 1, 2]); plt.show()")
        terminal.until("▀▀▀")
        assert terminal.coloured.count("\x1b[") > 100


@pytest.mark.heavy
def test_output_is_expanded_and_collapsed(ui_home: Path) -> None:
    with pisces_in_tmux(ui_home, size=(100, 60)) as terminal:
        terminal.until(READY)
        terminal.run("for i in range(40): print('line', i)")
        terminal.keys("Enter")
        terminal.until("more lines")
        assert "line 20\n" not in terminal.text
        terminal.keys("C-o")
        terminal.until("line 20\n")
        assert "more lines" not in terminal.text
        terminal.keys("C-o")
        terminal.until("more lines")


@pytest.mark.heavy
def test_another_session_is_switched_to_and_back(ui_home: Path) -> None:
    with pisces_in_tmux(ui_home, "--session", "one") as terminal:
        terminal.until(READY)
        terminal.run("x = 'in one'; print('set')")
        terminal.until("set\n")
        terminal.keys("C-n")
        terminal.until("Begin a session")
        type_anew(terminal, "one-2", "two")
        terminal.until(" two ·")
        terminal.run("print('x' in globals())")
        terminal.until("False")
        terminal.keys("F4")
        terminal.until("one")
        terminal.run("one")
        terminal.until(" one ·")
        terminal.run("print('it is', x)")
        terminal.until("it is in one")


@pytest.mark.heavy
def test_a_notebook_is_opened_run_and_saved(ui_home: Path) -> None:
    path = ui_home / "analysis.ipynb"
    cells: list[dict[str, object]] = [
        {"id": name, "cell_type": "code", "metadata": {}, "source": source, "outputs": [], "execution_count": None}
        for name, source in (("a", "6 * 7"), ("b", "_ + 1"))
    ]
    path.write_text(json.dumps({"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 5}), "utf-8")
    with pisces_in_tmux(ui_home, "analysis.ipynb") as terminal:
        terminal.until("6 * 7")
        terminal.type("A")
        terminal.until("43")
        terminal.keys("C-s")
        terminal.type("q")
        terminal.until(READY)
        terminal.keys("C-q")
        terminal.until("ended with 0")
    saved = json.loads(path.read_text("utf-8"))
    nbformat.validate(saved)
    assert ["".join(cell["outputs"][0]["data"]["text/plain"]) for cell in saved["cells"]] == ["42", "43"]


@pytest.mark.heavy
def test_resizing_while_a_cell_runs_leaves_the_screen_whole(ui_home: Path) -> None:
    with pisces_in_tmux(ui_home, variables={"COLUMNS": "80", "LINES": "24"}) as terminal:
        terminal.until(READY)
        terminal.run("import time")
        terminal.run("for i in range(100000): print('number', i, 'x' * 50); time.sleep(0.01)")
        terminal.keys("Enter")
        terminal.until("number")
        for width, height in [(80, 24), (40, 12), (20, 6), (150, 50), (33, 9), (100, 30)] * 3:
            terminal.resize(width, height)
        terminal.until(lambda: is_whole(terminal, 100, 30))
        terminal.keys("C-c")
        terminal.until("idle")


def type_anew(terminal: Tmux, suggested: str, text: str) -> None:
    """Put a text in the place of what a field suggests."""
    terminal.until(suggested)
    terminal.keys("End", "C-u")
    terminal.until(lambda: suggested not in terminal.text)
    terminal.type(text)
    terminal.until(text)
    terminal.keys("Enter")


def is_whole(terminal: Tmux, width: int, height: int) -> bool:
    """Whether the editor has its frame, and the foot of the screen is at its foot."""
    lines = terminal.lines
    tops = [line for line in lines if line.lstrip().startswith("╭")]
    bottoms = [line for line in lines if line.lstrip().startswith("╰")]
    return (
        len(lines) == height
        and all(cell_len(line) <= width for line in lines)
        and len(tops) == len(bottoms) == 1
        and "Help" in lines[-1]
    )
