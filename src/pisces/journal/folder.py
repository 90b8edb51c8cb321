"""The folder of all journals: `<root>/<session>/<time>-<random>.jsonl`, one file for each life of a session."""

import os
import time
from collections.abc import Collection, Iterable
from itertools import islice
from pathlib import Path
from typing import Final, Literal

import msgspec

from pisces.journal.entries import SUFFIX, SessionBegan, SessionClosed
from pisces.journal.line import decode_line
from pisces.output.artifacts import remove_if_empty, safe_name
from pisces.output.holding import is_held
from pisces.output.retention import delete_old

CELL_BEGINS = b'{"type":"CellBegan",'

JournalState = Literal["live", "closed", "not_closed", "unknown"]
"""Whether the session goes on, ended in good order, or ended without a word; unknown where files cannot be locked."""
STATES: Final[dict[bool | None, JournalState]] = {True: "live", False: "not_closed", None: "unknown"}


class JournalInfo(msgspec.Struct, frozen=True):
    """A session, past or present, as its journal tells."""

    session: str
    path: Path
    began: float
    """Seconds since 1970, UTC."""
    ended: float | None
    """None unless it ended in good order."""
    state: JournalState
    last_written: float
    cells: int
    """How many cells were sent to a kernel."""
    cwd: str = ""


def journal_path(root: Path, session: str) -> Path:
    """A name for the journal of a session that begins now. No two are the same, and none leads out of the folder."""
    moment = time.strftime("%Y%m%d-%H%M%S", time.gmtime())
    return root / safe_name(session) / f"{moment}-{os.urandom(4).hex()}{SUFFIX}"


def list_journals(root: Path, *, limit: int | None = None) -> list[JournalInfo]:
    """The sessions that have a journal here, the newest first, all or so many of them.

    A file that cannot be read, or is not a journal, is passed over.
    """
    found = (_look_at(path, first) for path, first in _newest_first(root.glob(f"*/*{SUFFIX}")))
    return list(islice((info for info in found if info is not None), limit))


def newest_journal(
    root: Path, session: str, *, cwd: str | None = None, interpreters: Collection[str] = ()
) -> JournalInfo | None:
    """The newest journal of a session of that name; None when there is none.

    Of several, those of sessions that were made in `cwd` are meant. If interpreters are given, it has one of them.
    """
    every = _newest_first((root / safe_name(session)).glob(f"*{SUFFIX}"))
    named = [head for head in every if head[1].session == session]
    fitting = [head for head in named if not interpreters or head[1].interpreter in interpreters]
    chosen = sorted(fitting, key=lambda head: head[1].cwd != cwd)  # Those of one folder stay in their order.
    return next((info for path, first in chosen if (info := _look_at(path, first)) is not None), None)


def prune_journals(root: Path, keep_days: float) -> int:
    """Delete the journals last written more than that many days ago, as `delete_old` does; returns how many."""

    def delete(path: Path) -> None:
        path.unlink(missing_ok=True)
        remove_if_empty(path.parent)

    return delete_old(root, root.glob(f"*/*{SUFFIX}"), keep_days, delete=delete)


def _newest_first(paths: Iterable[Path]) -> list[tuple[Path, SessionBegan]]:
    """Those that are journals, each with its first line. Only that is read."""
    heads = [(path, first) for path in paths if (first := first_line(path)) is not None]
    return sorted(heads, key=lambda head: head[1].time, reverse=True)


def first_line(path: Path) -> SessionBegan | None:
    """How a journal begins; None for a file that is none, or cannot be read."""
    try:
        with path.open("rb") as file:
            first = decoded(file.readline())
    except OSError:
        return None
    return first if isinstance(first, SessionBegan) else None


def _look_at(path: Path, first: SessionBegan) -> JournalInfo | None:
    """Without understanding every line: only the last is decoded."""
    cells, line = 0, b""
    try:
        with path.open("rb") as file:
            held = is_held(file.fileno())
            last_written = os.fstat(file.fileno()).st_mtime
            for line in file:
                cells += line.startswith(CELL_BEGINS)
    except OSError:  # It was pruned just now.
        return None
    last = decoded(line)
    ended = last.time if isinstance(last, SessionClosed) else None
    state: JournalState = "closed" if ended is not None else STATES[held]
    return JournalInfo(first.session, path, first.time, ended, state, last_written, cells, first.cwd)


def decoded(line: bytes) -> object:
    """The entry of a line; None where it is torn, or of a kind that is not known."""
    try:
        return decode_line(line)
    except msgspec.DecodeError:
        return None
