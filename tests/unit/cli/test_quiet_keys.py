"""The echo of a terminal while something runs, and that it is there again afterwards."""

import os
import pty
import termios
from collections.abc import Iterator

import pytest

from pisces.cli.quiet_keys import QuietKeys


@pytest.fixture
def terminal() -> Iterator[int]:
    ours, theirs = pty.openpty()
    yield theirs
    os.close(theirs)
    os.close(ours)


def echoes(terminal: int) -> bool:
    return bool(termios.tcgetattr(terminal)[3] & termios.ECHO)


def test_keys_are_quiet_until_they_are_restored(terminal: int) -> None:
    keys = QuietKeys(terminal)
    keys.hush()
    assert not echoes(terminal)
    keys.restore()
    assert echoes(terminal)


def test_two_that_share_a_terminal_leave_it_with_its_echo_whichever_ends_last(terminal: int) -> None:
    first, second = QuietKeys(terminal), QuietKeys(terminal)
    first.hush()
    second.hush()
    first.restore()
    second.hush()  # It asks again and again while it runs.
    assert not echoes(terminal)
    second.restore()
    assert echoes(terminal)


def test_a_terminal_that_had_no_echo_has_none_afterwards(terminal: int) -> None:
    hushed = termios.tcgetattr(terminal)
    hushed[3] &= ~termios.ECHO
    termios.tcsetattr(terminal, termios.TCSANOW, hushed)
    keys = QuietKeys(terminal)
    keys.hush()
    keys.restore()
    assert not echoes(terminal)
