"""Puts the outputs of cells into their notebook while they run: not too often, and all of them at the end."""

import time
from collections.abc import Awaitable, Callable, Mapping
from typing import Final, TypeVar

import anyio

from pisces.errors import FileChanged, NotebookError, PiscesError
from pisces.notebooks.cell import Cell
from pisces.notebooks.document import Document
from pisces.notebooks.notebook_file import CellRef, NotebookFile
from pisces.notebooks.recorder import Recorder, RunState
from pisces.sessions.beside import beside

_INTERVAL: Final = 0.5
_SHARE: Final = 10
"""Writing may take one part in so many of the time: a notebook of 100 MB is written less often than a small one."""
_LAST_TRIES: Final = (0.1, 0.3)
"""How long to wait before each further try at the end, where the file is no notebook for the moment.

Jupyter empties a file before it writes it anew. They are few, since the time of the call may be up already.
"""

T = TypeVar("T")


class OutputsWriter:
    """What the recorder has to tell goes into the file, cell by cell; what others changed there meanwhile stays."""

    def __init__(
        self, file: NotebookFile, cells: Mapping[int, CellRef], recorder: Recorder, written: Callable[[], None]
    ) -> None:
        """`cells` says which cell of the notebook each cell of the call is; `written` is called after each write."""
        self.lost: set[int] = set()
        """The cells of the call that are not in the notebook any more, or have another source there."""
        self.run_by_others: set[int] = set()
        """The cells that somebody else has run since, and whose outputs are those of that run."""
        self.unwritten: set[int] = set()
        """The cells whose outputs are not in the notebook, as of the last try to write."""
        self.failure: PiscesError | None = None
        """Why the last try to write failed, if it did."""
        self._file = file
        self._version = file.version
        """That of before the run."""
        self._cells = cells
        self._recorder = recorder
        self._written = written

    async def during(self, work: Callable[[], Awaitable[T]]) -> T:
        """Do the work, and write meanwhile. When this comes back, or raises, all has been written that can be.

        Also again what another program has overwritten with a copy of the notebook from before the run.
        """
        try:
            return await beside(self._keep_writing, work)
        finally:
            with anyio.CancelScope(shield=True):
                await self._write_the_last()

    async def _keep_writing(self) -> None:
        pause = _INTERVAL
        while True:
            await anyio.sleep(pause)
            began = time.monotonic()
            await self._write_news()
            pause = max(_INTERVAL, _SHARE * (time.monotonic() - began))

    async def _write_the_last(self) -> None:
        await self._write_news(last=True)
        for pause in _LAST_TRIES:
            if not isinstance(self.failure, NotebookError | FileChanged):
                return
            await anyio.sleep(pause)
            await self._write_news(last=True)

    async def _write_news(self, *, last: bool = False) -> None:
        if not self._recorder.has_news and not (last and self._recorder.begun):
            return
        news = self._recorder.take_news()
        left = set(news)
        try:
            left = self.lost = await anyio.to_thread.run_sync(self._write, news, last)
            self.failure = None
            self._written()
        except PiscesError as error:
            self.failure = error
        finally:  # Also when the wait for a thread is cancelled; and a cell that is lost may come back.
            self._recorder.give_back(left)

    def _write(self, news: Mapping[int, RunState], last: bool) -> set[int]:
        """Put the news into the file, and at the end whatever else is missing. The cells that are not there to take it.

        Nothing else can be missing unless another program has written the file since the run began.
        """
        lost: set[int] = set()
        self.unwritten = set(self._recorder.begun)  # For a file that cannot even be read.

        def put(document: Document) -> Document:
            lost.clear()
            self.run_by_others.clear()
            written: set[int] = set()
            check = last and not self._file.comes_from(self._version)
            for index, state in (self._recorder.states() if check else news).items():
                place = self._find(document, index)
                if index not in news and self._is_there(document, place, index, state):
                    continue
                if place is None:
                    lost.add(index)
                elif index not in news and self._was_run_since(document.cells[place], index, state):
                    self.run_by_others.add(index)
                else:
                    written.add(index)
                    document = _with_state(document, place, state)
            self.unwritten = written | lost | self.run_by_others
            return document

        self._file.change(put)
        self.unwritten = lost | self.run_by_others
        return lost

    def _find(self, document: Document, index: int) -> int | None:
        """Where a cell of the call is now; None if it is gone, has another source, or is no code any more."""
        place = self._cells[index].find(document)
        return place if place is not None and document.cells[place].cell_type == "code" else None

    def _is_there(self, document: Document, place: int | None, index: int, state: RunState) -> bool:
        """Whether the file has the outputs of this cell, also where somebody has edited its source since."""
        if place is not None:
            return _has_state(document.cells[place], state)
        cell_id = self._cells[index].id
        return any(cell.id == cell_id and _has_state(cell, state) for cell in document.cells)

    def _was_run_since(self, cell: Cell, index: int, state: RunState) -> bool:
        """Whether its outputs are of another run: neither from before this one, nor a part of what this one said."""
        return cell.execution_count not in (None, state.execution_count, self._cells[index].execution_count)


def _has_state(cell: Cell, state: RunState) -> bool:
    return not cell.flaw and cell.execution_count == state.execution_count and cell.get("outputs") == state.outputs


def _with_state(document: Document, place: int, state: RunState) -> Document:
    cell = document.cells[place].with_value("outputs", state.outputs)
    return document.with_cell(place, cell.with_value("execution_count", state.execution_count))
