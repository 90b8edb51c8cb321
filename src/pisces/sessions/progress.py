"""Telling those who watch a call how it goes.

There are two ways to watch. Updates say how things stand: at once when a cell changes, and not too often when it
prints. Pieces are the output itself, every character once and in order, for those who pass it on.
"""

import time
from collections.abc import Awaitable, Callable, Sequence

import anyio

from pisces.model.cells import CellRecord
from pisces.model.events import AnyEvent
from pisces.model.results import Update
from pisces.sessions.transcript import OutputPiece, Transcript

OnUpdate = Callable[[Update], Awaitable[None] | None]

OnOutput = Callable[[Sequence[OutputPiece]], Awaitable[None] | None]
"""Gets all pieces, in order. While it waits, no more output is read: a slow reader slows the cell down, not us.

It may be cancelled while it waits, so it must have taken the pieces before that.
"""

_INTERVAL = 0.05


class Progress:
    """Sends updates and pieces; without a listener it costs nothing."""

    def __init__(self, listener: OnUpdate | None, transcript: Transcript, *, on_output: OnOutput | None = None) -> None:
        self._listener = listener
        self._on_output = on_output
        self._transcript = transcript
        if on_output is not None:
            transcript.gather_pieces()
        self._records: Sequence[CellRecord] = ()
        self._next = 0.0
        self._pending = False

    def follow(self, records: Sequence[CellRecord]) -> None:
        """These are the cells that updates show."""
        self._records = records

    async def changed(self) -> None:
        """The status of a cell has changed: tell it now."""
        await self._hand_over()
        if self._listener is not None:
            await self._send(self._listener)

    async def output(self) -> None:
        """There is new output: tell it now, or soon if that was a moment ago."""
        await self._hand_over()
        if self._listener is None:
            return
        if time.monotonic() >= self._next:
            await self._send(self._listener)
        else:
            self._pending = True

    async def watching(self, receive: Callable[[], Awaitable[Sequence[AnyEvent]]]) -> Sequence[AnyEvent]:
        """Wait for events; output that has not been told yet is told meanwhile."""
        while self._pending:
            with anyio.move_on_after(max(0.0, self._next - time.monotonic())):
                return await receive()
            await self.changed()
        return await receive()

    async def _hand_over(self) -> None:
        if self._on_output is not None and (pieces := self._transcript.take_pieces()):
            waiting = self._on_output(pieces)
            if waiting is not None:
                await waiting

    async def _send(self, listener: OnUpdate) -> None:
        self._pending = False
        self._transcript.refresh()
        waiting = listener(Update(tail=self._transcript.sink.tail(), cells=tuple(self._records)))
        if waiting is not None:
            await waiting
        self._next = time.monotonic() + _INTERVAL
