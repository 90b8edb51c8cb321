"""The folder of all journals: `<root>/<session>/<time>-<random>.jsonl`, one file for each life of a session."""

import os
import time
from pathlib import Path

import msgspec

from pisces.journal.entries import SUFFIX, SessionBegan, SessionClosed
from pisces.journal.line import decode_line
from pisces.output.artifacts import remove_if_empty, safe_name

_SECONDS_PER_DAY = 86_400
_CELL = b'{"type":"CellBegan",'


class JournalInfo(msgspec.Struct, frozen=True):
    """A session, past or present, as its journal tells."""

    session: str
    path: Path
    began: float
    """Seconds since 1970, UTC."""
    ended: float | None
    """None while it goes on, and when its host ended without a word."""
    cells: int
    """How many cells were sent to a kernel."""
    cwd: str = ""


def journal_path(root: Path, session: str) -> Path:
    """A name for the journal of a session that begins now. No two are the same, and none leads out of the folder."""
    moment = time.strftime("%Y%m%d-%H%M%S", time.gmtime())
    return root / safe_name(session) / f"{moment}-{os.urandom(4).hex()}{SUFFIX}"


def list_journals(root: Path) -> list[JournalInfo]:
    """Every session that has a journal here, the newest first. A file that is not a journal is passed over."""
    found = [info for path in root.glob(f"*/*{SUFFIX}") if (info := _look_at(path)) is not None]
    return sorted(found, key=lambda info: info.began, reverse=True)


def prune_journals(root: Path, keep_days: float) -> int:
    """Delete the journals last written more than that many days ago; returns how many there were."""
    oldest = time.time() - keep_days * _SECONDS_PER_DAY
    stale = [path for path in root.glob(f"*/*{SUFFIX}") if _is_older(path, oldest)]
    for path in stale:
        path.unlink(missing_ok=True)
        remove_if_empty(path.parent)
    return len(stale)


def _look_at(path: Path) -> JournalInfo | None:
    """Without understanding every line: only the first and the last are decoded."""
    cells, line = 0, b""
    try:
        with path.open("rb") as file:
            first = _decoded(file.readline())
            for line in file:
                cells += line.startswith(_CELL)
    except FileNotFoundError:  # It was pruned just now.
        return None
    if not isinstance(first, SessionBegan):
        return None
    last = _decoded(line)
    ended = last.time if isinstance(last, SessionClosed) else None
    return JournalInfo(first.session, path, first.time, ended, cells, first.cwd)


def _decoded(line: bytes) -> object:
    try:
        return decode_line(line)
    except msgspec.DecodeError:
        return None


def _is_older(path: Path, moment: float) -> bool:
    try:
        return path.stat().st_mtime < moment
    except FileNotFoundError:
        return False
