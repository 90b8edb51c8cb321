"""Delete what was kept for long enough, in two steps: one run marks it, a run at least a day later deletes it.

A clock that is wrong for one run deletes nothing: the next run with the right clock takes the marks away again.
"""

import fcntl
import logging
import os
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

import msgspec

from pisces.output.holding import is_held
from pisces.settings.private_file import write_whole

DAY: Final = 86_400
_MARKS: Final = ".marked.json"
_log = logging.getLogger(__name__)


class FileState(msgspec.Struct, frozen=True):
    """How large a file is, and when it was last written."""

    size: int
    modified_ns: int

    @property
    def modified(self) -> float:
        """When it was last written, in seconds since 1970."""
        return self.modified_ns / 1e9

    @classmethod
    def of(cls, path: Path) -> "FileState":
        """The state of a file. Raises `FileNotFoundError`."""
        status = path.stat()
        return cls(status.st_size, status.st_mtime_ns)


class _Mark(msgspec.Struct, frozen=True):
    """A file that was too old when somebody looked. It counts for the file in this state only."""

    marked: float
    state: FileState


def delete_old(
    root: Path,
    files: Iterable[Path],
    keep_days: float,
    *,
    state_of: Callable[[Path], FileState] = FileState.of,
    delete: Callable[[Path], None] = Path.unlink,
) -> int:
    """Mark the files below `root` that were last written more than `keep_days` ago; delete those with an older mark.

    A file that a process writes to is neither. Returns how many were deleted. Does nothing while another process does
    this in the same folder.
    """
    now, deleted = time.time(), 0
    with _alone_in(root) as alone:
        if not alone:
            return 0
        before, marks = _read_marks(root), dict[str, _Mark]()
        for path in files:
            name = str(path.relative_to(root))
            try:
                state = state_of(path)
                if state.modified >= now - keep_days * DAY or is_in_use(path, state):
                    continue
                mark = before.get(name)
                if mark is None or mark.state != state or mark.marked > now:  # It says nothing, so a new one is made.
                    marks[name] = _Mark(now, state)
                elif now - mark.marked < DAY:
                    marks[name] = mark
                else:
                    delete(path)
                    deleted += 1
            except FileNotFoundError:  # Another process deleted it just now.
                continue
        _write_marks(root, before, marks)
    return deleted


def is_in_use(path: Path, state: FileState) -> bool:
    """Whether a process writes to the file. Where the system knows no locks, one that was written today counts."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    except FileNotFoundError:
        return False
    except OSError as error:
        _log.info("%s is not deleted: whether it is in use is not known: %s", path, error)
        return True
    try:
        held = is_held(descriptor)
    finally:
        os.close(descriptor)
    return time.time() - state.modified < DAY if held is None else held


@contextmanager
def _alone_in(root: Path) -> Iterator[bool]:
    """Lock the folder; False if another process has. On a file system that cannot lock folders, True for all."""
    try:
        descriptor = os.open(root, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    except FileNotFoundError:
        yield False  # Nothing was ever kept.
        return
    try:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            yield False
            return
        except OSError as error:
            _log.debug("%s cannot be locked: %s", root, error)
        yield True
    finally:
        os.close(descriptor)


def _read_marks(root: Path) -> dict[str, _Mark]:
    try:
        return msgspec.json.decode((root / _MARKS).read_bytes(), type=dict[str, _Mark])
    except FileNotFoundError:
        return {}
    except msgspec.DecodeError as error:
        _log.warning("what was marked for deletion in %s cannot be read, and is marked anew: %s", root, error)
        return {}


def _write_marks(root: Path, before: dict[str, _Mark], marks: dict[str, _Mark]) -> None:
    if not marks:
        (root / _MARKS).unlink(missing_ok=True)
    elif marks != before:
        write_whole(root / _MARKS, msgspec.json.encode(marks))
