"""How the UI is begun: by `pisces` alone, on a screen where there is one, else in lines."""

import io
import os
import pty
import re
import select
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from pisces.cli import main as entry
from pisces.tui.start import why_no_screen
from tests.frontends.command import PATIENCE, Command

GOOD = {"TERM": "xterm-256color"}


class Stream(io.TextIOWrapper):
    """A stream that says what it is."""

    def __init__(self, encoding: str = "utf-8", *, terminal: bool = True) -> None:
        super().__init__(io.BytesIO(), encoding=encoding)
        self._terminal = terminal

    def isatty(self) -> bool:
        return self._terminal


def streams(**others: Stream) -> tuple[Stream, Stream, Stream]:
    found = {"stdin": Stream(), "stdout": Stream(), "stderr": Stream(), **others}
    return found["stdin"], found["stdout"], found["stderr"]


def test_a_terminal_gets_a_screen() -> None:
    assert why_no_screen(GOOD, streams()) == ""


@pytest.mark.parametrize("name", ["stdin", "stdout", "stderr"])
def test_no_screen_without_a_terminal(name: str) -> None:
    assert "is not a terminal" in why_no_screen(GOOD, streams(**{name: Stream(terminal=False)}))


@pytest.mark.parametrize("term", ["dumb", "unknown", ""])
def test_no_screen_on_a_terminal_that_has_none(term: str) -> None:
    assert f"TERM={term} " in why_no_screen({"TERM": term}, streams())


def test_no_screen_where_its_lines_cannot_be_written() -> None:
    assert "iso8859-1" in why_no_screen(GOOD, streams(stderr=Stream("iso8859-1")))


def test_no_screen_without_textual_and_how_to_have_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "textual", None)
    assert "-m pip install 'textual>=8,<9'" in why_no_screen(GOOD, streams())


@pytest.mark.parametrize(
    ("given", "meant"),
    [
        ([], []),
        (["--plain"], ["ui", "--plain"]),
        (["--session", "s"], ["ui", "--session", "s"]),
        (["--session=s"], ["ui", "--session=s"]),
        (["a.ipynb", "--plain"], ["ui", "a.ipynb", "--plain"]),
        (["--version"], ["--version"]),
        (["-h"], ["-h"]),
        (["run", "-c", "1"], ["run", "-c", "1"]),
    ],
    ids=" ".join,
)
def test_options_alone_are_those_of_the_ui(given: list[str], meant: list[str]) -> None:
    assert entry._with_command(given) == meant


def test_alone_and_without_a_terminal_it_tells_what_there_is(pisces: Command) -> None:
    done = pisces()
    assert done.returncode == 2
    assert "Commands:" in done.stderr + done.stdout


def test_a_folder_that_is_not_there_is_told(pisces: Command) -> None:
    done = pisces("--plain", "--cwd", "/no/such/folder")
    assert (done.returncode, done.stdout) == (2, "")
    assert "There is no folder /no/such/folder." in done.stderr


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_a_signal_ends_the_plain_mode_and_leaves_the_terminal_as_it_was(
    ui_home: Path, pisces: Command, number: signal.Signals
) -> None:
    process, ours = on_a_terminal(pisces, "--plain")
    try:
        read_until(ours, b">>> ")
        process.send_signal(number)
        assert process.wait(PATIENCE) == 128 + number
    finally:
        os.close(ours)


def on_a_terminal(pisces: Command, *arguments: str) -> tuple["subprocess.Popen[bytes]", int]:
    """The command on a terminal, and our end of that."""
    ours, theirs = pty.openpty()
    try:
        process = pisces.start(*arguments, stdin=theirs, stdout=theirs, stderr=theirs, start_new_session=True)
    finally:
        os.close(theirs)
    return process, ours


def read_until(descriptor: int, *wanted: bytes) -> bytes:
    """All that comes up to a text; of several, up to the last, which may come with the one before."""
    seen, pattern = b"", re.compile(b".*".join(map(re.escape, wanted)), re.DOTALL)
    while not pattern.search(seen):
        assert select.select([descriptor], [], [], PATIENCE)[0], seen
        seen += os.read(descriptor, 65536)
    return seen
