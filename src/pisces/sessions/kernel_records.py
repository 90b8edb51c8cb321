"""Where the kernels of sessions are that outlive a process: one small file for each, private to the user."""

import hashlib
import logging
import os
from pathlib import Path

import msgspec

from pisces.kernels.base import Ticket
from pisces.sessions.key import SessionKey
from pisces.settings.paths import make_private
from pisces.settings.private_file import write_whole

_log = logging.getLogger(__name__)


class KernelRecord(msgspec.Struct, frozen=True):
    """A session, and what leads to its kernel."""

    session: SessionKey
    ticket: Ticket


class KernelRecords:
    """The records in a folder; without one, nothing is written and nothing found."""

    def __init__(self, folder: Path | None) -> None:
        self._folder = folder

    def find(self, key: SessionKey) -> Ticket | None:
        """What leads to the kernel of this session, if it left one."""
        path = self._path(key)
        record = None if path is None else _read(path)
        return record.ticket if record is not None and record.session == key else None

    def of(self, name: str) -> KernelRecord | None:
        """The session of this name that left its kernel last, whatever folder it was made in."""
        return next((record for record in self.all() if record.session.id == name), None)

    def all(self) -> list[KernelRecord]:
        """Every record, the newest first."""
        if self._folder is None or not self._folder.is_dir():
            return []
        newest = sorted(self._folder.glob("*.json"), key=_modified, reverse=True)
        return [record for record in map(_read, newest) if record is not None]

    def keep(self, key: SessionKey, ticket: Ticket) -> None:
        """Write down where the kernel of this session is."""
        path = self._path(key)
        if path is None:
            return
        try:
            make_private(path.parent)
            write_whole(path, msgspec.json.encode(KernelRecord(key, ticket)))
        except OSError as error:
            _log.warning("the kernel of session %r will not be found again: %s", key.id, error)

    def forget(self, key: SessionKey) -> None:
        """The kernel of this session is no more."""
        path = self._path(key)
        if path is not None:
            path.unlink(missing_ok=True)

    def _path(self, key: SessionKey) -> Path | None:
        if self._folder is None:
            return None
        return self._folder / f"{hashlib.sha256(msgspec.json.encode(key)).hexdigest()[:24]}.json"


def _read(path: Path) -> KernelRecord | None:
    try:
        return msgspec.json.decode(path.read_bytes(), type=KernelRecord)
    except FileNotFoundError:
        return None
    except (OSError, msgspec.DecodeError) as error:
        _log.warning("the record %s cannot be read: %s", path, error)
        return None


def _modified(path: Path) -> float:
    try:
        return os.stat(path).st_mtime
    except OSError:
        return 0.0
