"""What a session tells its journal, in the session's own words: cells, output, and what became of the state."""

import asyncio
import time
from pathlib import Path
from typing import Final, Literal

import msgspec

from pisces._version import __version__
from pisces.journal.cell_output import CellOutput
from pisces.journal.entries import (
    Branched,
    BranchPoint,
    CellBegan,
    CellEnded,
    CheckpointNamed,
    Entry,
    Reset,
    SessionBegan,
    SessionClosed,
    StateChanged,
    WentBack,
)
from pisces.journal.folder import journal_path
from pisces.journal.line import encode_line
from pisces.journal.writer import JournalFile
from pisces.model.cells import CellRecord
from pisces.model.events import AnyEvent, Done, KernelState, Restore
from pisces.model.results import Outcome

FLUSH_SECONDS: Final = 0.2
"""How long output may wait for more before it is written."""
_HELD_BYTES: Final = 1 << 20


class Journals:
    """Where the sessions of a runtime get their journals from."""

    def __init__(self, root: Path | None) -> None:
        """`root` is the folder of all journals; without one, nothing is kept."""
        self._root = root

    def new(self, session: str, *, cwd: str, interpreter: str, backend: str, kernelspec: str = "") -> "SessionJournal":
        """The journal of a session that begins now. Nothing is written before something happens in it."""
        head = SessionBegan(time.time(), session, cwd, interpreter, backend, __version__, kernelspec=kernelspec)
        return SessionJournal(head, None if self._root is None else JournalFile(journal_path(self._root, session)))


class SessionJournal:
    """The journal of one session, which owns it and closes it. Without a file it takes everything and keeps nothing.

    Nothing here waits and nothing here fails: what could not be written is told by `take_trouble`. That a cell began
    is in the file before it runs, its output at most `FLUSH_SECONDS` after it came, and all of it when the cell ends.
    """

    def __init__(self, head: SessionBegan, file: JournalFile | None) -> None:
        self.session = head.session
        self._file = file
        self._head: SessionBegan | None = head
        """The first line, as long as it has not been written."""
        self._calls = 0
        self._cells = 0
        self._cell: CellOutput | None = None
        self._cell_began = 0.0
        self._timer: asyncio.TimerHandle | None = None
        self._trouble_told = False
        self._closed = False

    @property
    def path(self) -> Path | None:
        """Where the file is, or will be with the first line; None if nothing is kept."""
        return None if self._file is None else self._file.path

    @property
    def environment(self) -> dict[str, str]:
        """What the kernels of this session see of it."""
        return {} if self._file is None else {"PI_SESSION_FILE": str(self._file.path)}

    def begin(self) -> None:
        """Write the first line now, if that has not been done: a branch has a past before it has a cell."""
        if self._head is not None:
            self._append(b"")

    def begin_call(self) -> None:
        """The cells that come next are those of another call."""
        self._calls += 1

    def begin_cell(self, record: CellRecord) -> None:
        """A cell is about to be sent to the kernel."""
        if self._file is None:
            return
        self._cells += 1
        self._cell = CellOutput(self._cells)
        self._cell_began = time.perf_counter()
        self._write(CellBegan(time.time(), self._cells, record.code, record.title, self._calls, record.index))

    def take(self, event: AnyEvent) -> None:
        """The running cell said something."""
        if self._cell is None:
            return
        self._cell.add(event)
        if self._cell.held > _HELD_BYTES:
            self.flush()
        elif self._timer is None:
            self._timer = asyncio.get_running_loop().call_later(FLUSH_SECONDS, self.flush)

    def flush(self) -> None:
        """Write all that has come so far."""
        self._stop_timer()
        if self._cell is not None and (lines := self._cell.take()):
            self._append(lines)

    def end_cell(
        self, done: Done, *, outcome: Outcome, began: bool, exit_code: int, position: int, artifact_id: str | None
    ) -> None:
        """The running cell is over. `position` is how many finished cells the state has now, this one included."""
        cell, self._cell = self._cell, None
        self._stop_timer()
        if cell is None:
            return
        rest = cell.finish()
        ended = CellEnded(
            time.time(),
            cell.cell,
            outcome,
            position,
            began=began,
            died=done.status == "crashed",
            execution_count=done.execution_count,
            duration_ms=round((time.perf_counter() - self._cell_began) * 1000, 3),
            exit_code=exit_code,
            process_exit=done.process_exit,
            artifact_id=artifact_id,
            left_out=cell.left_out,
        )
        self._append(rest + encode_line(ended))

    def state_changed(self, state: KernelState, text: str, *, position: int, restore: Restore | None = None) -> None:
        """The kernel had died, and the state came back or did not; `position` is that of the state there is now."""
        self._write(StateChanged(time.time(), state, text, position, restore))

    def checkpoint_named(self, name: str, position: int) -> None:
        """The present state was kept under a name."""
        self._write(CheckpointNamed(time.time(), name, position))

    def went_back(
        self, how: Literal["undo", "restore"], position: int, name: str = "", *, over_reset: bool = False
    ) -> None:
        """Somebody chose to go to another state: to a position of this one's past, or to a named checkpoint.

        Or to that of before the last reset that could be undone.
        """
        self._write(WentBack(time.time(), how, position, name, over_reset))

    def reset(self, *, can_be_undone: bool = False) -> None:
        """Somebody chose to begin anew."""
        if self._head is None:
            self._write(Reset(time.time(), can_be_undone))

    def branch_from(self, origin: "SessionJournal", position: int) -> None:
        """This session, in which nothing has happened yet, goes on from the present state of another one."""
        if self._file is None or self._head is None or origin._file is None:
            return
        origin.begin()
        origin.flush()
        point = BranchPoint(origin.session, str(origin._file.path), origin._file.size)
        origin._write(Branched(time.time(), self.session, str(self._file.path), position))
        self._head = msgspec.structs.replace(self._head, branched_from=point)
        self.begin()

    def take_trouble(self) -> list[str]:
        """Why something is not in the journal, as a sentence for the reader of a result; told once."""
        if self._file is None or not self._file.trouble or self._trouble_told:
            return []
        self._trouble_told = True
        return [self._file.trouble]

    def close(self, why: str = "") -> None:
        """The session is over. A journal in which nothing happened leaves no file, and a second call does nothing."""
        self.flush()
        if self._file is not None:
            if self._head is None and not self._closed:
                self._write(SessionClosed(time.time(), why))
            self._closed = True
            self._file.close()

    def _write(self, entry: Entry) -> None:
        if self._file is not None:
            self.flush()
            self._append(encode_line(entry))

    def _append(self, lines: bytes) -> None:
        if self._file is None:
            return
        if self._head is not None:
            lines = encode_line(self._head) + lines
        if self._file.append(lines):
            self._head = None

    def _stop_timer(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
