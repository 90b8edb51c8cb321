"""Telling those who watch a call how it goes: at once when a cell changes, and not too often when it prints."""

import time
from collections.abc import Awaitable, Callable, Sequence

import anyio

from pisces.model.cells import CellRecord
from pisces.model.events import AnyEvent
from pisces.model.results import Update
from pisces.sessions.transcript import Transcript

OnUpdate = Callable[[Update], Awaitable[None] | None]

_INTERVAL = 0.05


class Progress:
    """Sends updates; without a listener it costs nothing."""

    def __init__(self, listener: OnUpdate | None, transcript: Transcript) -> None:
        self._listener = listener
        self._transcript = transcript
        self._records: Sequence[CellRecord] = ()
        self._next = 0.0
        self._pending = False

    def follow(self, records: Sequence[CellRecord]) -> None:
        """These are the cells that updates show."""
        self._records = records

    async def changed(self) -> None:
        """The status of a cell has changed: tell it now."""
        if self._listener is not None:
            await self._send(self._listener)

    async def output(self) -> None:
        """There is new output: tell it now, or soon if that was a moment ago."""
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

    async def _send(self, listener: OnUpdate) -> None:
        self._pending = False
        self._transcript.refresh()
        waiting = listener(Update(tail=self._transcript.sink.tail(), cells=tuple(self._records)))
        if waiting is not None:
            await waiting
        self._next = time.monotonic() + _INTERVAL
