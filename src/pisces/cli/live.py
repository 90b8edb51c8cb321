"""The output of cells while they run, for a person: each cell begins a line, and has a heading if it has a title."""

from collections.abc import Sequence

from pisces.cli.terminal import LiveOutput
from pisces.sessions.transcript import OutputPiece


class LiveCells:
    """Passes pieces of output on to the terminal. Cells without a title get no heading: their output stands alone."""

    def __init__(self, output: LiveOutput, *, total: int) -> None:
        self._output = output
        self._total = total

    async def take(self, pieces: Sequence[OutputPiece]) -> None:
        """Show the pieces, and wait until the terminal has them."""
        for record, text in pieces:
            if text:
                self._output.take(text)
            else:
                self._begin(record.index, record.title)
        await self._output.drain()

    def _begin(self, index: int, title: str) -> None:
        self._output.begin_line()
        if title and self._total > 1:
            self._output.take(f"[{index + 1}/{self._total}] {title}\n")
