"""Nobody can answer a prompt here: asking for input fails at once, and says so."""

from __future__ import annotations

import builtins
import io
import sys
from collections.abc import Callable


class StdinNotSupported(EOFError):
    """Raised by `input()`, `getpass()` and every read of `sys.stdin`."""

    __module__ = "builtins"  # Its full name in a traceback would say nothing to the reader.

    def __init__(self) -> None:
        super().__init__("Kernel requested stdin; interactive input is not supported.")


class RefusedStdin(io.TextIOBase):
    """`sys.stdin` of a kernel: every read raises."""

    encoding = "utf-8"
    name = "<stdin>"

    def __init__(self, refuse: Callable[..., str]) -> None:
        self._refuse = refuse

    def readable(self) -> bool:
        return True

    def fileno(self) -> int:
        return 0

    def isatty(self) -> bool:
        return False

    def close(self) -> None:
        """Stay open: `exit()` closes standard input, and here it ends no more than a cell."""

    def read(self, size: int | None = -1) -> str:
        return self._refuse()

    def readline(self, size: int = -1) -> str:  # type: ignore[override]  # A text stream; `IOBase` has bytes.
        return self._refuse()


def install(announce: Callable[[str, bool], None]) -> None:
    """Refuse input everywhere it is asked for; `announce(prompt, password)` tells the host."""

    def refuse(prompt: object = "", password: bool = False) -> str:
        announce(str(prompt), password)
        raise StdinNotSupported

    def refuse_input(prompt: object = "", /) -> str:
        """Not available: nobody can answer. Raises at once."""
        return refuse(prompt)

    def refuse_getpass(prompt: str = "Password: ", stream: object = None, **options: object) -> str:
        """Not available: nobody can answer. Raises at once."""
        return refuse(prompt, password=True)

    builtins.input = refuse_input
    sys.stdin = sys.__stdin__ = RefusedStdin(refuse)  # type: ignore[misc,assignment]  # Final for typeshed.
    _patch_getpass(refuse_getpass)


def _patch_getpass(refuse: Callable[..., str]) -> None:
    import getpass

    getpass.getpass = refuse  # It would open /dev/tty and ask there.
