"""Telling what could stand at a cursor: in bounded time and without a trace, whatever code of the user's does.

A completer asks objects of the user's for their names, and that runs code of theirs: a `__dir__` that waits, prints or
raises. Above is `loop`, which is asked between cells; below is the shell, whose completer it is.
"""

from __future__ import annotations

import sys
from contextlib import contextmanager

from .stdlib import threading
from .time_limit import limited

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from .flusher import InterruptGuard
    from .shell_contract import Shell

_SECONDS = 0.8
_MOST = 200
_LONGEST = 200


def completion(shell: Shell, code: str, cursor: int, guard: InterruptGuard) -> dict[str, Any]:
    """What the shell says, cut to what somebody reads; nothing where it failed or took too long."""
    matches: list[str] = []
    start = end = cursor
    with _muted():
        try:
            with limited(_SECONDS, lambda frame: not guard.holds(frame)):
                matches, start, end = shell.complete(code, cursor)
                matches = [text for text in matches if len(text) <= _LONGEST + end - start]
        except BaseException:  # Of the user's, SystemExit too: what cannot be told is not told.
            matches = []
    return {"matches": matches[:_MOST], "start": start, "end": end}


class _Mute:
    """A stream that drops what this thread writes; other threads of the user's are heard as before."""

    def __init__(self, stream: Any) -> None:
        self._stream = stream
        self._thread = threading.get_ident()

    def write(self, text: str) -> int:
        return len(text) if threading.get_ident() == self._thread else self._stream.write(text)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)


@contextmanager
def _muted() -> Iterator[None]:
    out, err = sys.stdout, sys.stderr
    muted: tuple[Any, Any] = (_Mute(out), _Mute(err))
    sys.stdout, sys.stderr = muted
    try:
        yield
    finally:
        if sys.stdout is muted[0]:
            sys.stdout = out
        if sys.stderr is muted[1]:
            sys.stderr = err
