"""A run as a person sees it, written to their terminal from an event loop."""

import os
from collections.abc import Sequence
from typing import Self

import anyio
from anyio.abc import TaskGroup

from pisces.cli.cell_names import names_of
from pisces.cli.cells_to_run import CellsToRun
from pisces.cli.live_screen import INTERVAL, LiveScreen
from pisces.cli.quiet_keys import QuietKeys
from pisces.cli.shown import has_more
from pisces.cli.suspending import Suspending
from pisces.cli.terminal import LiveOutput
from pisces.cli.watched import ended, how_it_ended, screen_for
from pisces.model.cells import CellRecord
from pisces.model.results import ToolResult
from pisces.sessions.transcript import OutputPiece


class LiveTerminal:
    """Shows pieces of output and, while it is entered, how things stand below them; the event loop is not held up."""

    def __init__(self, output: LiveOutput, screen: LiveScreen) -> None:
        self._output = output
        self._screen = screen
        self._last: CellRecord | None = None
        self._keys = QuietKeys(output.descriptor)
        self._suspending = Suspending(self.clear)
        self._tasks: TaskGroup | None = None

    @classmethod
    def on(cls, output: LiveOutput, wanted: CellsToRun) -> Self | None:
        """The terminal that standard output is; None if it is one that can only take text."""
        made = screen_for(names_of(wanted), output.descriptor, output.encoding, os.environ)
        return None if made is None else cls(output, made)

    async def __aenter__(self) -> Self:
        self._suspending.__enter__()
        self._tasks = anyio.create_task_group()
        await self._tasks.__aenter__()
        self._tasks.start_soon(self._keep_moving)
        return self

    async def __aexit__(self, *error: object) -> None:
        assert self._tasks is not None
        self._tasks.cancel_scope.cancel()
        self._suspending.__exit__(None, None, None)
        await self._tasks.__aexit__(None, None, None)
        self._keys.restore()
        self._output.take(self._screen.erase())
        await self._output.drain()

    async def take(self, pieces: Sequence[OutputPiece]) -> None:
        """Show the pieces, and wait until the terminal has them."""
        for record, text in pieces:
            self._output.take(self._screen.text(text) if text else self._begin(record))
        await self._output.drain()

    def stop_asked(self) -> None:
        """Somebody wants it to stop."""
        self._screen.stopping = True

    def clear(self) -> None:
        """Leave the terminal as it was, at once, as far as it can be written to; may be called by a signal handler."""
        self._keys.restore()
        if self._screen.is_ours():  # Else the shell has it, and nothing of ours is there.
            self._output.interpose(self._screen.erase(in_any_case=True))

    async def end(self, result: ToolResult) -> None:
        """All is over. What the stream could not carry is shown, unless it goes to another place as text."""
        cell = None if self._last is None else self._last.index
        self._output.take(self._screen.end(how_it_ended(result, cell)))
        if os.isatty(2) and has_more(result):
            from pisces.cli.final_block import FinalBlock

            made = FinalBlock(self._output.descriptor, self._output.encoding).after_stream(result)
            self._output.take(self._screen.write(made))
        await self._output.drain()

    def _begin(self, record: CellRecord) -> str:
        last, self._last = self._last, record
        return self._screen.begin(record.index, None if last is None else ended(last.status, last.duration_ms))

    async def _keep_moving(self) -> None:
        while True:
            await anyio.sleep(INTERVAL)
            if self._screen.is_ours():
                self._keys.hush()
            if self._output.is_idle:
                self._output.offer(self._screen.tick())
