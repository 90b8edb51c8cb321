"""Telling a client how a call goes, so that it neither wonders nor gives up."""

import time
from collections.abc import Awaitable, Callable
from typing import Final

import anyio

from pisces.model.cells import CellRecord
from pisces.model.results import Update

Report = Callable[[float, float | None, str], Awaitable[None]]
"""Sends one notification: how far it is, of how much if that is known, and in words."""

_NEWS: Final = 0.5
"""Seconds between two notifications while there is something new to say."""
_SILENCE: Final = 1.5
"""Seconds between two when there is nothing new: clients are promised one every two."""
_LINES: Final = 5
_CHARACTERS: Final = 1000


class CallProgress:
    """Hears of the updates of a call, and reports them at a bearable pace."""

    def __init__(self, report: Report) -> None:
        self._report = report
        self._began = time.monotonic()
        self._cells: tuple[CellRecord, ...] = ()
        self._tail = ""
        self._changed = anyio.Event()

    def update(self, update: Update) -> None:
        """How things stand now: what a tool calls."""
        self._cells, self._tail = update.cells, update.tail
        self._changed.set()

    async def tell(self) -> None:
        """Report for as long as the call lasts: the body of a task."""
        while True:
            with anyio.move_on_after(_SILENCE - _NEWS):
                await self._changed.wait()
            self._changed = anyio.Event()
            try:
                await self._report(round(time.monotonic() - self._began, 3), None, self._words())
            except Exception:  # noqa: BLE001 - whoever cannot be told how it goes still gets the result
                return
            await anyio.sleep(_NEWS)

    def _words(self) -> str:
        lines = self._tail.rstrip("\n").split("\n")[-_LINES:]
        shown = "\n".join(lines)[-_CHARACTERS:]
        return "\n".join(part for part in (self._head(), shown) if part)

    def _head(self) -> str:
        seconds = f"{time.monotonic() - self._began:.0f} s"
        running = next((cell for cell in self._cells if cell.status == "running"), None)
        if running is None:
            waits = any(cell.status == "pending" for cell in self._cells)
            return f"waiting, {seconds}" if waits else f"running, {seconds}"
        which = f"cell {running.index + 1}/{len(self._cells)}" if len(self._cells) > 1 else "running"
        return ", ".join(part for part in (f"{which} {running.title}".strip(), seconds) if part)
