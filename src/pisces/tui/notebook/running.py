"""A run of cells of a notebook in the session in sight: who has begun, who waits, and how it is stopped."""

import time
from collections import deque
from collections.abc import Mapping
from typing import Any, Final

from pisces.host.protocol import Piece
from pisces.model.results import ToolResult
from pisces.tui.desk.desk import Desk
from pisces.tui.desk.host_link import LONG
from pisces.tui.notebook.book import Book, BookCell
from pisces.tui.notebook.looks import Running

_TITLE: Final = "cell "


class CellsRun:
    """One call of the `notebook` tool. The outputs come by the file."""

    def __init__(self, desk: Desk, book: Book, action: str, cell: BookCell | None) -> None:
        """`cell` is the one that is run, or the last one of `run_until`."""
        places = [each for each in book.cells if not each.gone]
        self._keys = [each.key for each in places]
        last = len(places) if cell is None else places.index(cell) + 1
        first = last - 1 if action == "run" else 0
        self._waiting = {each.key for each in places[first:last] if each.kind == "code" and each.source.strip()}
        self._now: Running | None = None
        self._now_key = 0
        self._begun: deque[int] = deque()
        params: dict[str, Any] = {
            "action": action,
            "notebook_path": book.path,
            "session": desk.session,
            "timeout": LONG,
        }
        if cell is not None:
            params |= _named(book, cell)
        self._call = desk.link.begin("notebook", params, self._heard)

    @property
    def marks(self) -> Mapping[int, Running]:
        """By the key of a cell, how it stands; of cells that are done, nothing."""
        while self._begun:
            place = self._begun.popleft()
            if place < len(self._keys):
                self._now_key, self._now = self._keys[place], Running("running", time.time())
                self._waiting.discard(self._now_key)
        marks = dict.fromkeys(self._waiting, Running("pending"))
        return marks if self._now is None else {**marks, self._now_key: self._now}

    async def result(self) -> ToolResult:
        """Carry it out. Raises `PiscesError` when it is refused."""
        return await self._call.result()

    def cancel(self) -> None:
        """Stop it; the result still comes."""
        self._call.cancel()

    def _heard(self, pieces: list[Piece]) -> None:
        """In another thread: a piece without text says that a cell begins."""
        for piece in pieces:
            number = piece.title.removeprefix(_TITLE)
            if not piece.text and number.isdecimal():
                self._begun.append(int(number))


def _named(book: Book, cell: BookCell) -> dict[str, Any]:
    """By its id if that is its alone: others may add cells before the tool looks for it."""
    cell_id = cell.cell.id
    if cell_id and sum(each.cell.id == cell_id for each in book.cells) == 1:
        return {"cell_id": cell_id}
    return {"cell_index": book.place(cell)}
