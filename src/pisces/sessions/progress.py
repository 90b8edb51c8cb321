"""Telling those who watch a call how it goes.

There are two ways to watch. Updates say how things stand: at once when a cell changes, and not too often when it
prints. Pieces are the output itself, every character once and in order, for those who pass it on.
"""

import time
from collections.abc import Awaitable, Callable, Sequence

import anyio
import msgspec

from pisces.model.cells import CellRecord
from pisces.model.events import AnyEvent
from pisces.model.results import Update
from pisces.sessions.stop import StopSignal
from pisces.sessions.transcript import OutputPiece, Transcript

OnUpdate = Callable[[Update], Awaitable[None] | None]

OnOutput = Callable[[Sequence[OutputPiece]], Awaitable[None] | None]
"""Gets all pieces, in order. While it waits, no more output is read: a slow reader slows the cell down, not us.

It may be cancelled while it waits, so it must have taken the pieces before that.
"""

_INTERVAL = 0.05
_PATIENCE = 1.0
"""How long, after the call is to stop, a listener may still take over what it is told."""


class Progress:
    """Sends updates and pieces; without a listener it costs nothing.

    A listener may slow the call down, but not hold it: one that still waits when the call is to stop hears no more.
    """

    def __init__(
        self,
        listener: OnUpdate | None,
        transcript: Transcript,
        *,
        stop: StopSignal,
        on_output: OnOutput | None = None,
    ) -> None:
        self._listener = listener
        self._on_output = on_output
        self._transcript = transcript
        self._stop = stop
        if on_output is not None:
            transcript.gather_pieces()
        self._records: Sequence[CellRecord] = ()
        self._next = 0.0
        self._pending = False

    def follow(self, records: Sequence[CellRecord]) -> None:
        """These are the cells that updates show."""
        self._records = records

    def mute(self) -> None:
        """Tell nobody anything more."""
        self._listener = self._on_output = None
        self._transcript.forget_pieces()

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
            await self._heard(self._on_output(pieces))

    async def _send(self, listener: OnUpdate) -> None:
        self._pending = False
        self._transcript.refresh()
        cells = tuple(
            msgspec.structs.replace(record, status_events=list(record.status_events)) for record in self._records
        )
        await self._heard(listener(Update(tail=self._transcript.sink.tail(), cells=cells)))
        self._next = time.monotonic() + _INTERVAL

    async def _heard(self, waiting: Awaitable[None] | None) -> None:
        if waiting is None:
            return
        with anyio.move_on_after(self._stop.remaining() + _PATIENCE) as patience:
            await waiting
        if patience.cancelled_caught:
            self.mute()
