"""The journals of a folder for those who look again and again: of each only what is new is read.

Above is the terminal UI, whose list of sessions is always up to date. A single look is `folder.list_journals`.
"""

from pathlib import Path
from threading import Lock
from typing import Final

import msgspec

from pisces.journal.entries import SUFFIX, SessionBegan, SessionClosed
from pisces.journal.folder import CELL_BEGINS, STATES, JournalInfo, JournalState, decoded, first_line
from pisces.output.holding import is_held

_CLOSED: Final = b'{"type":"SessionClosed"'


class _Known(msgspec.Struct):
    """What has been read of a journal."""

    first: SessionBegan
    read: int = 0
    """Bytes, up to the end of a line."""
    cells: int = 0
    ended: float | None = None


class Shelf:
    """The journals below one folder. May be used from any thread."""

    def __init__(self, root: Path) -> None:
        self._root = root
        self._known: dict[Path, _Known] = {}
        self._lock = Lock()

    def look(self, *, limit: int) -> list[JournalInfo]:
        """The newest sessions that have a journal here, the newest first. What is no journal is passed over."""
        with self._lock:
            self._known = dict(self._heads())
            newest = sorted(self._known.items(), key=lambda each: each[1].first.time, reverse=True)[:limit]
            found = (_info(path, known) for path, known in newest)
            return [info for info in found if info is not None]

    def _heads(self) -> list[tuple[Path, _Known]]:
        heads = []
        for path in self._root.glob(f"*/*{SUFFIX}"):
            known = self._known.get(path)
            if known is None and (first := first_line(path)) is not None:
                known = _Known(first)
            if known is not None:
                heads.append((path, known))
        return heads


def _info(path: Path, known: _Known) -> JournalInfo | None:
    try:
        with path.open("rb") as file:
            held = is_held(file.fileno())
            last_written = path.stat().st_mtime
            file.seek(known.read)
            for line in file:
                if not line.endswith(b"\n"):
                    break  # It is being written; the next look has it whole.
                known.read += len(line)
                known.cells += line.startswith(CELL_BEGINS)
                last = decoded(line) if line.startswith(_CLOSED) else None
                known.ended = last.time if isinstance(last, SessionClosed) else None
    except OSError:
        return None  # It was pruned just now.
    state: JournalState = "closed" if known.ended is not None else STATES[held]
    first = known.first
    return JournalInfo(first.session, path, first.time, known.ended, state, last_written, known.cells, first.cwd)
