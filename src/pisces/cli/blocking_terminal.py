"""A run in a session as a person sees it, written to their terminal by a process that waits for the background host."""

import os
import select
import threading
from collections.abc import Sequence
from typing import Final, Self

from pisces.cli.blocking_output import BlockingOutput
from pisces.cli.cell_names import name_of, names_of
from pisces.cli.cells_to_run import CellsToRun
from pisces.cli.live_screen import INTERVAL, LiveScreen
from pisces.cli.quiet_keys import QuietKeys
from pisces.cli.shown import has_more
from pisces.cli.suspending import Suspending
from pisces.cli.watched import ended, how_it_ended, screen_for
from pisces.host.protocol import Piece
from pisces.model.results import ToolResult

_PATIENCE: Final = 0.2
"""Seconds that a signal handler waits for the other thread, which never waits itself."""


class BlockingTerminal:
    """Shows pieces of output and, below them, how things stand; a thread of its own looks at the clock."""

    def __init__(self, output: BlockingOutput, screen: LiveScreen) -> None:
        self._output = output
        self._screen = screen
        self._cell: int | None = None
        self._lock = threading.RLock()
        self._keys = QuietKeys(output.descriptor)
        self._suspending = Suspending(self.clear)
        self._over = threading.Event()
        self._clock = threading.Thread(target=self._keep_moving, name="pisces-status", daemon=True)
        self._poll = select.poll()
        self._poll.register(output.descriptor, select.POLLOUT)

    @classmethod
    def on(cls, output: BlockingOutput, wanted: CellsToRun) -> Self | None:
        """The terminal that standard output is; None if it is one that can only take text."""
        made = screen_for(names_of(wanted), output.descriptor, output.encoding, os.environ)
        return None if made is None else cls(output, made)

    def __enter__(self) -> Self:
        self._suspending.__enter__()
        self._clock.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()
        self._clock.join()
        self._suspending.__exit__(None, None, None)
        self._keys.restore()
        self._output.write(self._screen.erase())

    def take(self, pieces: Sequence[Piece]) -> None:
        """Show pieces of output."""
        for piece in pieces:
            with self._lock:
                self._output.write(self._screen.text(piece.text) if piece.text else self._begin(piece))

    def stop_asked(self) -> None:
        """Somebody wants it to stop."""
        self._screen.stopping = True

    def clear(self) -> None:
        """Leave the terminal as it was, at once, as far as it can be written to; may be called by a signal handler."""
        if self._lock.acquire(timeout=_PATIENCE):
            try:
                self._keys.restore()
                if self._screen.is_ours() and self._poll.poll(
                    0
                ):  # Else the shell has it, and nothing of ours is there.
                    self._output.write(self._screen.erase(in_any_case=True))
            finally:
                self._lock.release()

    def end(self, result: ToolResult) -> None:
        """All is over. What the stream could not carry is shown, unless it goes to another place as text."""
        self._output.write(self._screen.end(how_it_ended(result, self._cell)))
        if os.isatty(2) and has_more(result):
            from pisces.cli.final_block import FinalBlock

            made = FinalBlock(self._output.descriptor, self._output.encoding).after_stream(result)
            self._output.write(self._screen.write(made))

    def _begin(self, piece: Piece) -> str:
        self._cell = piece.cell
        return self._screen.begin(piece.cell, None if piece.before is None else ended(*piece.before))

    def _keep_moving(self) -> None:
        while not self._over.wait(INTERVAL):
            if not self._lock.acquire(blocking=False):
                continue  # Output is being written: that is sign enough.
            try:
                if self._over.is_set():
                    return
                if self._screen.is_ours():
                    self._keys.hush()
                if self._poll.poll(0):
                    self._output.write(self._screen.tick())
            finally:
                self._lock.release()


def waiting(what: str) -> BlockingTerminal | None:
    """While it is entered, a person sees what is waited for; None where the terminal can only take text."""
    output = BlockingOutput()
    screen = screen_for([name_of(what)], output.descriptor, output.encoding, os.environ)
    if screen is None:
        return None
    terminal = BlockingTerminal(output, screen)
    terminal.take([Piece(0, "", "")])
    return terminal
