"""Databases in files, in a copy of the kernel: it has what they keep in memory, and none of their locks.

While a transaction is open, SQLite trusts its locks: it keeps pages and the place in its journal in memory. The system
gives locks to one process alone, so a copy that went on with the transaction would overwrite what others have committed
since, or delete a journal that they need. It is cut off from such a database before any code can use it, and the reader
is told. Shared locks of a connection without a transaction are taken again when the copy is woken.

duckdb locks the whole file as long as it is open, and keeps what is new in memory until it writes it over the file. Its
copy goes on if nothing has been written since and it gets the lock; else it is cut off as well. lmdb looks
at its file anew with each transaction, so its copy is cut off only if one that writes is open.
"""

from __future__ import annotations

import re

from . import processes
from .stdlib import fcntl, loaded_modules, mmap, open, os, struct  # noqa: A004  # A cell may replace the builtin.

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

_INFO_BYTES = 1 << 16
_START_BYTES = 100
_LMDB_LOCKS = struct.pack("@I", 0xBEEFC0DE)
"""What the file begins with that lmdb keeps its locks in, beside the one with the data."""
_LMDB_WRITER = struct.Struct("@64xI")
"""Where in it the mutex of who writes begins, with the id of the thread that holds it."""
_THREAD_ID = (1 << 30) - 1  # The other bits of a mutex say that somebody waits, or that its owner has died.
_LOCK = re.compile(rb"lock:\s*\d+: POSIX +\S+ +(READ|WRITE) +\S+ \S+ (\d+) (\d+|EOF)")
_SQLITE = range(0x40000000, 0x40000200)
"""Bytes that SQLite locks in a database: pending, reserved, and 510 shared ones."""
_WAL_TRANSACTION = range(120, 128)
"""Bytes that it locks in the `-shm` file, with write-ahead logging, during a transaction; byte 128 while connected."""
_NO_FILE = "/"
"""Opened for reading in the place of a file: it is not empty, and every read, write and exclusive lock fails."""
_JOURNAL_BYTES = 1 << 20
_AT_THIS_PLACE = 0x10  # MAP_FIXED
_OPEN_TRANSACTION = "an open transaction on {}: it cannot be committed here"
_BESIDE_ONE = "a transaction was open on {}: connect again"
_CHANGED = "{} has changed while it was being read: connect again"
_CLOSED = "the log of {} was removed by others: connect again"
_WRITTEN = "{} has been written to since: connect again"
_TAKEN = "{} is open in another process, which alone can write to it"
_DUCKDB = b"DUCK"
_DUCKDB_PLACE = 8
"""What its files have after so many bytes."""


class _File:
    """A file that is open for reading and writing, with the locks that this process has on it."""

    def __init__(self, fd: int, status: os.stat_result) -> None:
        self.fds: list[int] = []
        self.identity = (status.st_dev, status.st_ino)
        self.path = os.readlink(f"/proc/self/fd/{fd}")
        self.size = status.st_size
        self.locks: list[tuple[int, bool, int, int]] = []
        """Descriptor, whether it is exclusive, first byte, number of bytes (0: to the end)."""

    def add(self, fd: int) -> None:
        self.fds.append(fd)
        for kind, first, last in _LOCK.findall(_information(fd)):
            length = 0 if last == b"EOF" else int(last) - int(first) + 1
            self.locks.append((fd, kind == b"WRITE", int(first), length))

    def is_locked_in(self, places: range) -> bool:
        return any(first in places for _, _, first, _ in self.locks)

    @property
    def is_locked_exclusively(self) -> bool:
        return any(exclusive for _, exclusive, _, _ in self.locks)

    def lock_again(self) -> bool:
        """Take the locks again, for this process; whether that was possible."""
        try:
            for fd, exclusive, first, length in self.locks:
                kind = fcntl.LOCK_EX if exclusive else fcntl.LOCK_SH
                fcntl.lockf(fd, kind | fcntl.LOCK_NB, length, first)
        except OSError:
            return False
        return True

    def start(self) -> bytes:
        """What it begins with, at the fork."""
        return os.pread(self.fds[0], _START_BYTES, 0).ljust(_START_BYTES, b"\0")

    def database(self, files: dict[str, _File]) -> _Database | None:
        """What it is, if it is a database and locked; `files` are the others by their paths."""
        if not self.locks:
            return None
        if self.is_locked_in(_SQLITE):
            return _SQLite(self, files)
        start = self.start()
        if start.startswith(_LMDB_LOCKS):
            return _LMDB(self)
        return _DuckDB(self) if start[_DUCKDB_PLACE:].startswith(_DUCKDB) else None

    def is_still_there(self) -> bool:
        return os.fstat(self.fds[0]).st_nlink > 0

    def is_shorter(self) -> bool:
        return os.fstat(self.fds[0]).st_size < self.size

    def state(self) -> tuple[int, int, bytes]:
        """What is another after any commit: the first bytes have SQLite's count of changes."""
        status = os.fstat(self.fds[0])
        return status.st_size, status.st_mtime_ns, self.start()


class _Database:
    """What the live kernel had open; `why_lost` is empty as long as the copy can use it."""

    def __init__(self, file: _File, path: str) -> None:
        self.file = file
        self.path = path
        self.is_in_transaction = False
        self.why_lost = ""

    def cut_off(self, why: str) -> None:
        """No use of it can write any more."""
        self.why_lost = why
        for fd in _open_under({self.path, self.path + ".wal"}):
            _replace(fd, f"/proc/self/fd/{fd}", os.O_RDONLY)

    def resume(self) -> None:
        """In a kernel that was woken, if it was not cut off: have the locks that its user trusts, or be cut off."""

    def settle(self) -> None:
        """The same once more, when the kernel in whose place this one has come has ended."""


class _SQLite(_Database):
    """A SQLite database."""

    def __init__(self, file: _File, files: dict[str, _File]) -> None:
        super().__init__(file, file.path)
        others = {suffix: files.get(file.path + suffix) for suffix in ("-journal", "-wal", "-shm")}
        self.others = {suffix: other for suffix, other in others.items() if other is not None}
        log = self.others.get("-shm")
        self.has_log = log is not None and bool(log.locks)
        self.is_in_transaction = file.is_locked_exclusively
        if log is not None and log.locks:
            self.is_in_transaction |= log.is_locked_in(_WAL_TRANSACTION)
        self._state = file.state()

    def cut_off(self, why: str) -> None:
        """No use of it can write any more, lock others out, or delete a journal."""
        self.why_lost = why
        for fd in self.file.fds:
            _replace(fd, _NO_FILE if self.has_log else f"/proc/self/fd/{fd}", os.O_RDONLY)
        for suffix, other in self.others.items():
            for fd in other.fds:
                if suffix == "-journal":
                    _replace_journal(fd)
                else:
                    _replace(fd, _NO_FILE, os.O_RDONLY)
        if "-shm" in self.others:
            _keep_mappings_private(self.others["-shm"].path)

    def resume(self) -> None:
        """See above."""
        files = (self.file, *self.others.values())
        whole = all(file.lock_again() for file in files) and all(file.is_still_there() for file in files)
        if self.has_log:
            # Memory that is mapped from a file which has become shorter cannot be touched.
            if not whole or self.others["-shm"].is_shorter():
                self.cut_off(_CLOSED)
        elif not whole or self.file.state() != self._state:
            self.cut_off(_CHANGED)


class _DuckDB(_Database):
    """A file of duckdb, which one process has for itself."""

    def __init__(self, file: _File) -> None:
        super().__init__(file, file.path)
        self._has_lock = False
        self._state = self._now()

    def _now(self) -> tuple[Any, ...]:
        log = None
        try:
            status = os.stat(self.path + ".wal")
            log = (status.st_ino, status.st_size, status.st_mtime_ns)
        except FileNotFoundError:
            pass  # Nothing was written to it yet.
        return log, self.file.state()

    def resume(self) -> None:
        """See above. The kernel in whose place this one comes may still have the lock."""
        if not self.file.is_still_there() or self._now() != self._state:
            self.cut_off(_WRITTEN)
        else:
            self._has_lock = self.file.lock_again()

    def settle(self) -> None:
        """See above."""
        if not self._has_lock:
            self.resume()
        if not self._has_lock and not self.why_lost:
            self.cut_off(_TAKEN)


class _LMDB(_Database):
    """A database of lmdb, by the file that has its locks."""

    def __init__(self, file: _File) -> None:
        folder, name = os.path.split(file.path)
        super().__init__(file, os.path.join(folder, "data.mdb") if name == "lock.mdb" else file.path[: -len("-lock")])
        writer = _LMDB_WRITER.unpack_from(file.start())[0] & _THREAD_ID
        self.is_in_transaction = str(writer) in os.listdir("/proc/self/task")


class Databases:
    """Those that were open in the original, from just before the fork on."""

    def __init__(self) -> None:
        self._files: dict[tuple[int, int], _File] = {}
        self._found: list[_Database] = []

    def look_at(self, fd: int, status: os.stat_result) -> None:
        """Note a regular file, in the original. Costs something only if others can see it, and it can be written to."""
        if not status.st_nlink or fcntl.fcntl(fd, fcntl.F_GETFL) & os.O_ACCMODE != os.O_RDWR:
            return
        identity = (status.st_dev, status.st_ino)
        if identity not in self._files:
            self._files[identity] = _File(fd, status)
        self._files[identity].add(fd)

    def find(self) -> None:
        """Find the databases among the files that were noted, in the original."""
        by_path = {file.path: file for file in self._files.values()}
        self._found = [found for file in self._files.values() if (found := file.database(by_path)) is not None]

    def leave_transactions(self) -> None:
        """In the copy, before anything can use them: no transaction of the original can go on here."""
        for database in self._found:
            if database.is_in_transaction:
                database.cut_off(_OPEN_TRANSACTION)

    def resume(self, namespace: dict[str, Any]) -> list[str]:
        """In a kernel that was woken: go on with what can. Returns what is lost, by variable or path."""
        for database in self._usable():
            database.resume()
        lost = {database.file.identity: database for database in self._found if database.why_lost}
        named = [
            (f"{name} ({_why(lost[identity], connection)})", identity)
            for name, connection in (_connections(namespace) if lost else ())
            for identity in _files_of(connection)
            if identity in lost
        ]
        for _, identity in named:
            lost.pop(identity, None)
        return [text for text, _ in named] + [_text(database) for database in lost.values()]

    def settle(self) -> list[str]:
        """Right before the first cell, when the kernel in whose place this one has come has ended: what is lost now."""
        usable, self._found = self._usable(), []
        for database in usable:
            database.settle()
        return [_text(database) for database in usable if database.why_lost]

    def _usable(self) -> list[_Database]:
        return [database for database in self._found if not database.why_lost]


def _why(database: _Database, connection: Any) -> str:
    why = database.why_lost
    if why == _OPEN_TRANSACTION and not connection.in_transaction:
        why = _BESIDE_ONE
    return why.format(os.path.basename(database.path))


def _text(database: _Database) -> str:
    return database.why_lost.format(database.path)


def _connections(namespace: dict[str, Any]) -> Iterator[tuple[str, Any]]:
    kind = getattr(loaded_modules.get("sqlite3"), "Connection", None)
    if not isinstance(kind, type):
        return
    for name, value in list(namespace.items()):
        if type(name) is str and name[:1] != "_" and issubclass(type(value), kind):
            yield name, value


def _files_of(connection: Any) -> list[tuple[int, int]]:
    """The files of a connection, which it tells without reading them."""
    found = []
    try:
        for _, _, path in connection.execute("pragma database_list").fetchall():
            if path:
                status = os.stat(path)
                found.append((status.st_dev, status.st_ino))
    except Exception:  # It is closed, or another thread's, or code of the user's has its hands in it.
        return found
    return found


def _open_under(paths: set[str]) -> list[int]:
    found = []
    for name in os.listdir("/proc/self/fd"):
        try:
            if os.readlink(f"/proc/self/fd/{name}") in paths:
                found.append(int(name))
        except OSError:
            pass  # The descriptor of the listing.
    return found


def _information(fd: int) -> bytes:
    info = os.open(f"/proc/self/fdinfo/{fd}", os.O_RDONLY | os.O_CLOEXEC)
    try:
        return os.read(info, _INFO_BYTES)
    finally:
        os.close(info)


def _replace(fd: int, path: str, flags: int) -> None:
    other = os.open(path, flags | os.O_CLOEXEC)
    os.dup2(other, fd, inheritable=os.get_inheritable(fd))
    os.close(other)


def _replace_journal(fd: int) -> None:
    """Something that can be written and not read: SQLite plays no journal back, and so deletes none as played back.

    To write to it does nothing, and what would follow, to write to the database, fails.
    """
    memory = os.memfd_create("pisces-no-journal")
    os.ftruncate(memory, _JOURNAL_BYTES)
    _replace(fd, f"/proc/self/fd/{memory}", os.O_WRONLY)
    os.close(memory)


def _keep_mappings_private(path: str) -> None:
    """Have the memory that this file is mapped into as it is, but no longer shared with other processes."""
    import ctypes

    library = processes.c_library()
    library.mmap.restype = ctypes.c_void_p
    with open("/proc/self/maps", encoding="utf-8", errors="surrogateescape") as file:
        places = [line.split(None, 1)[0] for line in file if line.rstrip("\n").endswith(" " + path)]
    for place in places:
        start, end = (int(part, 16) for part in place.split("-"))
        content = ctypes.string_at(start, end - start)
        address, size = ctypes.c_void_p(start), ctypes.c_size_t(len(content))
        flags = mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | _AT_THIS_PLACE
        if library.mmap(address, size, mmap.PROT_READ | mmap.PROT_WRITE, flags, -1, ctypes.c_long(0)) != start:
            raise OSError(f"the system did not replace the mapping of {path}")
        ctypes.memmove(start, content, len(content))
