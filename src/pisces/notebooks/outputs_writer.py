"""Puts the outputs of cells into their notebook while they run: not too often, and all of them at the end."""

import time
from collections.abc import Awaitable, Callable, Mapping
from typing import Final, TypeVar

import anyio

from pisces.errors import FileChanged, NotebookError, PiscesError
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
        self.failure: PiscesError | None = None
        """Why the last try to write failed, if it did."""
        self._file = file
        self._cells = cells
        self._recorder = recorder
        self._written = written

    async def during(self, work: Callable[[], Awaitable[T]]) -> T:
        """Do the work, and write meanwhile. When this comes back, or raises, all has been written that can be."""
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
        await self._write_news()
        for pause in _LAST_TRIES:
            if not isinstance(self.failure, NotebookError | FileChanged):
                return
            await anyio.sleep(pause)
            await self._write_news()

    async def _write_news(self) -> None:
        if not self._recorder.has_news:
            return
        news = self._recorder.take_news()
        left = set(news)
        try:
            left = self.lost = await anyio.to_thread.run_sync(self._write, news)
            self.failure = None
            self._written()
        except PiscesError as error:
            self.failure = error
        finally:  # Also when the wait for a thread is cancelled; and a cell that is lost may come back.
            self._recorder.give_back(left)

    def _write(self, news: Mapping[int, RunState]) -> set[int]:
        """Put the news into the file. The cells that are not there to take them."""
        lost: set[int] = set()

        def put(document: Document) -> Document:
            lost.clear()
            for index, state in news.items():
                place = self._cells[index].find(document)
                if place is None:
                    lost.add(index)
                else:
                    document = _with_state(document, place, state)
            return document

        self._file.change(put)
        return lost


def _with_state(document: Document, place: int, state: RunState) -> Document:
    cell = document.cells[place].with_value("outputs", state.outputs)
    return document.with_cell(place, cell.with_value("execution_count", state.execution_count))
