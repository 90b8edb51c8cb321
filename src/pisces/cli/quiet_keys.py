"""Keys that a person presses while something runs: the terminal does not write them into what it shows.

An Enter would push the status up a line, where nobody takes it away any more. What was typed is there for the shell
afterwards, and Ctrl+C and Ctrl+Z do what they do.
"""

import termios
from typing import Any, Final

_FLAGS: Final = 3
"""Where the attributes of a terminal have the flag for echo."""


class QuietKeys:
    """The echo of one terminal. While it belongs to the shell, it is left alone."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor
        self._before: list[Any] | None = None

    def hush(self) -> None:
        """No echo from now on. Call it only while the terminal is ours: otherwise the system stops the process."""
        if self._before is not None:
            return
        try:
            before = termios.tcgetattr(self._descriptor)
            if not before[_FLAGS] & termios.ECHO:
                return  # Somebody else has hushed it and puts it back: to keep that would leave the shell without echo.
            hushed = [*before]
            hushed[_FLAGS] &= ~termios.ECHO
            self._before = before  # First: a signal may come between the two, and have it restored.
            termios.tcsetattr(self._descriptor, termios.TCSANOW, hushed)
        except termios.error:
            self._before = None  # It has gone, or has no such thing.

    def restore(self) -> None:
        """As it was before."""
        before, self._before = self._before, None
        if before is None:
            return
        try:
            termios.tcsetattr(self._descriptor, termios.TCSANOW, before)
        except termios.error:
            return  # It has gone.
