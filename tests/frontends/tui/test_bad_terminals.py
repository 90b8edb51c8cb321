"""Terminals that can little, and input that is meant to do harm: the screen stays whole, or there is none."""

import os
import re
import signal
from pathlib import Path

import psutil
import pytest

from tests.fakes.tmux import Tmux, pisces_in_tmux
from tests.frontends.tui.test_tmux import READY, is_whole

HOSTILE = r"""
import sys
esc = "\x1b"
for sequence in [
    "]0;stolen\x07", "]2;stolen\x1b\\", "]52;c;c3RvbGVu\x07", "]8;;x:y\x07link", "[2J", "[H", "[?1049l", "[?1049h",
    "[10;10Hhere", "[99A", "[99B", "[?25l", "[5n", "c", "[!p", "(0lqqk", "#8", "[r", "[5;10r", "[?7l", "[3J", "[6n",
    "[>c", "P+q544e\x1b\\", "_Ga=q;\x1b\\", "^private\x1b\\", "[20l", "[4h", "[1;31;5;7m", "[999999999999b", "]",
]:
    sys.stdout.write(esc + sequence + "\n")
sys.stdout.write("\x9b2J \x9d0;stolen\x9c \x0e \x0f \x07 \x08\x08\x08 \x0b \x0c \x7f \x85 \u2028 \u2029\n")
sys.stdout.write("\u202e backwards \u2066 isolated \u202d \u200f right \u061c\n")
sys.stdout.write("a" + "\u0301" * 1000 + " piled\n")
sys.stdout.write("\U0001f468\u200d\U0001f469\u200d\U0001f467 \u4e2d\u6587 \u200b\ufeff \t tab\n")
sys.stdout.write("\ud800 lone\n".encode("utf-8", "surrogatepass").decode("utf-8", "replace"))
print("all was written")
"""


@pytest.mark.heavy
def test_a_cell_that_writes_control_sequences_breaks_nothing(ui_home: Path) -> None:
    (ui_home / "hostile.py").write_text(HOSTILE, "utf-8")
    with pisces_in_tmux(ui_home, size=(100, 60)) as terminal:
        terminal.until(READY)
        before = terminal.title
        terminal.run("exec(open('hostile.py', encoding='utf-8').read())")
        terminal.until("all was written")
        terminal.keys("C-o")
        terminal.until(lambda: is_whole(terminal, 100, 60))
        assert terminal.title == before
        assert terminal.shows_other_screen
        terminal.run("print('after it')")
        terminal.until("after it\n")
        assert is_whole(terminal, 100, 60)


@pytest.mark.heavy
@pytest.mark.parametrize("size", [(20, 12), (20, 24), (40, 10), (250, 70)])
def test_any_size_will_do(ui_home: Path, size: tuple[int, int]) -> None:
    with pisces_in_tmux(ui_home, size=size) as terminal:
        terminal.until("╰")
        terminal.run("6 * 7")
        terminal.until("42")
        assert len(terminal.lines) == size[1]
        terminal.keys("C-q")
        terminal.until(lambda: "ended with 0" in terminal.text or "(y)" in terminal.text)
        if "(y)" in terminal.text:  # The answer to a call comes a moment after its output; before, one is asked.
            terminal.keys("y")
        terminal.until("ended with 0")


@pytest.mark.heavy
def test_a_screen_of_six_lines_has_an_editor_and_can_be_left(ui_home: Path) -> None:
    with pisces_in_tmux(ui_home, size=(20, 6)) as terminal:
        terminal.until("╰")
        terminal.type("x = 1")
        terminal.until("x = 1")
        assert len(terminal.lines) == 6
        terminal.keys("C-q")
        terminal.until("ended with")


@pytest.mark.parametrize(("wish", "kept"), [("1", False), ("", True)], ids=["wanted", "empty"])
def test_colours_are_left_out_where_that_is_wanted_and_an_empty_wish_is_none(
    ui_home: Path, wish: str, kept: bool
) -> None:
    with pisces_in_tmux(ui_home, variables={"NO_COLOR": wish, "COLORTERM": "truecolor"}) as terminal:
        terminal.until(READY)
        terminal.run("6 * 7")
        terminal.until("42")
        hues = {(int(r), int(g), int(b)) for r, g, b in re.findall(r"[34]8;2;(\d+);(\d+);(\d+)", terminal.coloured)}
        assert any(max(hue) - min(hue) > 60 for hue in hues) is kept


@pytest.mark.heavy
def test_a_megabyte_is_pasted_and_keys_are_answered(ui_home: Path) -> None:
    lines = "".join(f"x{number} = {number}  # {'-' * 40}\n" for number in range(18_000))
    assert len(lines) > 1_000_000
    with pisces_in_tmux(ui_home) as terminal:
        terminal.until(READY)
        terminal.paste(f"{lines}print('\x1b[2J\x07pasted')")
        terminal.until("18,001 lines")
        assert is_whole(terminal, 100, 30)
        terminal.type("  # typed")
        terminal.until("# typed")
        terminal.keys("F5")
        terminal.until("[2Jpasted\n")


@pytest.mark.heavy
def test_without_a_locale_a_cell_is_run(ui_home: Path) -> None:
    with pisces_in_tmux(ui_home, variables={"LANG": "C", "LC_ALL": "C"}) as terminal:
        terminal.until(READY)
        terminal.run("print(6 * 7)")
        terminal.until("42")


@pytest.mark.parametrize(
    ("variables", "why"),
    [
        ({"TERM": "dumb"}, "TERM=dumb is a terminal without a screen"),
        ({"PYTHONIOENCODING": "latin-1"}, "the encoding of this terminal is iso8859-1"),
    ],
    ids=["dumb", "latin-1"],
)
def test_where_no_screen_can_be_drawn_it_talks_and_says_why(ui_home: Path, variables: dict[str, str], why: str) -> None:
    with pisces_in_tmux(ui_home, variables=variables) as terminal:
        terminal.until(">>>")
        assert f"Plain mode, because {why}" in terminal.text.replace("\n", " ")
        assert not terminal.shows_other_screen
        terminal.run("print(6 * 7, '→')")
        terminal.until("42")
        terminal.until("is done.")
        terminal.run("print('begun', flush=True); import time; time.sleep(600)")
        terminal.until("begun\n")
        terminal.keys("C-c")
        terminal.until("was interrupted")
        terminal.until(lambda: terminal.text.rstrip().endswith(">>>"))  # A key that comes before is not readline's.
        terminal.keys("C-d")
        terminal.until("ended with 0")


@pytest.mark.heavy
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP, signal.SIGINT])
def test_a_signal_leaves_the_terminal_as_it_was(ui_home: Path, number: signal.Signals) -> None:
    with pisces_in_tmux(ui_home) as terminal:
        terminal.until(READY)
        os.kill(program_of(terminal), number)
        terminal.until(f"ended with {128 + number}")
        assert not terminal.shows_other_screen
        terminal.until("\necho")


@pytest.mark.parametrize("number", [signal.SIGTSTP, signal.SIGSTOP])
def test_it_is_stopped_and_goes_on_with_the_whole_screen(ui_home: Path, number: signal.Signals) -> None:
    with pisces_in_tmux(ui_home) as terminal:
        terminal.until(READY)
        terminal.run("print(6 * 7)")
        terminal.until("42\n")
        terminal.until("idle")
        before = terminal.text
        program = psutil.Process(program_of(terminal))
        program.send_signal(number)
        terminal.until(lambda: program.status() == psutil.STATUS_STOPPED)
        terminal.until(lambda: terminal.shows_other_screen is (number == signal.SIGSTOP))
        terminal.write_over("Somebody else has written here.")
        program.send_signal(signal.SIGCONT)
        terminal.until(lambda: terminal.text == before)
        terminal.run("print(7 * 7)")
        terminal.until("49\n")
        terminal.until("idle")
        terminal.keys("C-q")
        terminal.until("ended with 0")
        assert not terminal.shows_other_screen
        terminal.until("\necho")


@pytest.mark.heavy
def test_it_ends_with_its_terminal(ui_home: Path) -> None:
    with pisces_in_tmux(ui_home) as terminal:
        terminal.until(READY)
        program = psutil.Process(program_of(terminal))
    program.wait(30)


def program_of(terminal: Tmux) -> int:
    """The process of `pisces` in the pane."""
    (program,) = psutil.Process(terminal.process).children()
    return program.pid
