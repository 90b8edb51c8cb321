"""The files of an artifact: one, or for an output beyond the limit its beginning in one and its end in others.

`3.python.log` has the beginning. `.3.tail/<byte>-<line>` begins with that byte and that line of the output, and
`<byte>-<line>-cut` inside of that line. Of these there are two: when the second is full, the first is deleted. So no
byte is written twice, and every file is in order at any time, also when the writer is killed.
"""

import io
import os
import sys
from bisect import bisect_right
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, BinaryIO, Final, Self

import msgspec

from pisces.output.holding import hold
from pisces.output.retention import FileState

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer

_CUT: Final = "cut"
_SMALLEST: Final = 16


class ArtifactWriter:
    """An artifact that is being written; it owns and holds the files until it is closed."""

    def __init__(
        self, artifact_id: str, path: Path, *, limit: int = 0, on_written: Callable[[int], object] | None = None
    ) -> None:
        """`limit` is how many bytes it may have, 0 for any number; `on_written` is called with each number of bytes."""
        self.id = artifact_id
        self.path = path
        self.limit = limit
        self._on_written = on_written
        self._first = self._file = _open(path)
        hold(self._file.fileno())
        self._room = limit // 2 if limit else sys.maxsize
        """Bytes until the file is full."""
        self._place = _Place(0, 1, cut=False)
        """Where in the output the next byte is."""
        self._gap_line = 0
        self._tail: list[_Place] = []
        self._fresh = True
        """Whether nothing has been written to the file."""

    @property
    def missing(self) -> str:
        """Which lines were not kept, in words; empty if all were."""
        return _lines_missing(self._gap_line, self._tail[0]) if self._gap_line else ""

    def write(self, data: bytes, /) -> None:
        """Append all of the data. Raises OSError, for instance on a full disk."""
        if self._on_written is not None:
            self._on_written(len(data))
        while len(data) > self._room:
            end = self._end_of_file(data)
            self._append(data[:end])
            data = data[end:]
            self._begin_file()
        self._append(data)

    def close(self) -> None:
        """Release the descriptors; a second call does nothing."""
        self._file.close()
        self._first.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _append(self, data: bytes) -> None:
        if not data:
            return
        rest = memoryview(data)
        while rest:
            rest = rest[self._file.write(rest) or 0 :]
        self._room -= len(data)
        self._fresh = False
        self._place = _Place(
            self._place.byte + len(data), self._place.line + data.count(b"\n"), cut=not data.endswith(b"\n")
        )

    def _end_of_file(self, data: bytes) -> int:
        """How much of the data goes into a file that cannot take all: whole lines, or some of one that is too long."""
        end = data.rfind(b"\n", 0, self._room) + 1
        if end or not (self._fresh or self._place.cut):
            return end
        end = self._room
        while end and data[end] & 0xC0 == 0x80:  # Not inside of a character.
            end -= 1
        return end

    def _begin_file(self) -> None:
        folder = tail_folder(self.path)
        if not self._tail:
            folder.mkdir(mode=0o700)
        file = _open(folder / self._place.name)
        if self._file is not self._first:
            self._file.close()
        self._file, self._fresh = file, True
        self._room = max(self.limit // 4, _SMALLEST)
        self._tail.append(self._place)
        if len(self._tail) > 2:
            self._gap_line = self._gap_line or self._tail[0].line
            (folder / self._tail.pop(0).name).unlink(missing_ok=True)


class Section(msgspec.Struct, frozen=True):
    """A part of an artifact that nothing is missing in; it is open."""

    file: BinaryIO
    files: tuple[BinaryIO, ...]
    """What `file` is put together from, in order."""
    byte: int
    """Which byte of the output it begins with."""
    size: int
    line: int
    """Which line of the output its first byte belongs to."""
    cut: bool
    """Whether the beginning of that line is missing."""

    @property
    def place(self) -> str:
        """Where in the output it begins, as the name of a file of the end says it."""
        return _Place(self.byte, self.line, cut=self.cut).name

    def missing_from(self, line: int) -> str:
        """What is missing between a line, which the section before this one ends with, and this one, in words."""
        return _lines_missing(line, _Place(self.byte, self.line, cut=self.cut))


@contextmanager
def open_artifact(path: Path) -> Iterator[list[Section]]:
    """The sections of an artifact: one, or its beginning and its end. What is deleted meanwhile can still be read."""
    with ExitStack() as stack:
        first = stack.enter_context(path.open("rb"))
        tail = _open_tail(path, stack)
        size = os.fstat(first.fileno()).st_size
        if not tail:
            yield [Section(first, (first,), 0, size, 1, cut=False)]
        elif tail[0][0].byte == size:
            yield [_joined([(_Place(0, 1, cut=False), first), *tail])]
        else:
            yield [Section(first, (first,), 0, size, 1, cut=False), _joined(tail)]


def state_of(path: Path) -> FileState:
    """The size of all files of an artifact, and when the last of them was written. Raises `FileNotFoundError`."""
    first = FileState.of(path)
    states = [first, *(FileState.of(file) for file in _tail_files(path))]
    return FileState(sum(state.size for state in states), max(state.modified_ns for state in states))


def delete_artifact(path: Path) -> None:
    """Delete all files of an artifact; the one that is its name comes last."""
    for file in _tail_files(path):
        file.unlink(missing_ok=True)
    if tail_folder(path).is_dir():
        tail_folder(path).rmdir()
    path.unlink(missing_ok=True)


def tail_folder(path: Path) -> Path:
    """Where the end of an artifact is that is too large for one file."""
    return path.with_name(f".{path.name.partition('.')[0]}.tail")


def create_private(path: Path) -> int:
    """Make a file that only its owner can read, and open it for writing. Raises `FileExistsError`."""
    return os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)


class _Place(msgspec.Struct, frozen=True):
    """A place in an output."""

    byte: int
    line: int
    cut: bool
    """Whether it is inside of the line."""

    @property
    def name(self) -> str:
        """The name of the file that begins here."""
        return f"{self.byte}-{self.line}" + (f"-{_CUT}" if self.cut else "")

    @classmethod
    def of(cls, file: Path) -> "_Place":
        byte, line, *cut = file.name.split("-")
        return cls(int(byte), int(line), cut=cut == [_CUT])


class _Joined(io.RawIOBase):
    """Files that follow one another without a gap, as one."""

    def __init__(self, starts: list[int], files: tuple[BinaryIO, ...]) -> None:
        self._starts, self._files = starts, files
        self._at = 0

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def seek(self, offset: int, whence: int = os.SEEK_SET) -> int:
        base = {os.SEEK_SET: 0, os.SEEK_CUR: self._at, os.SEEK_END: self.size}[whence]
        self._at = max(0, base + offset)
        return self._at

    def readinto(self, buffer: "WriteableBuffer") -> int:
        at = bisect_right(self._starts, self._at) - 1
        view = memoryview(buffer)
        data = os.pread(self._files[at].fileno(), len(view), self._at - self._starts[at])
        view[: len(data)] = data
        self._at += len(data)
        return len(data)

    @property
    def size(self) -> int:
        return self._starts[-1] + os.fstat(self._files[-1].fileno()).st_size


def end_of_files(path: Path) -> int:
    """Where in the output the newest file of the artifact begins: it is another one when this changes."""
    tail = _tail_files(path)
    return _Place.of(tail[-1]).byte if tail else 0


def _joined(parts: list[tuple[_Place, BinaryIO]]) -> Section:
    begin, files = parts[0][0], tuple(file for _, file in parts)
    raw = _Joined([place.byte - begin.byte for place, _ in parts], files)
    return Section(io.BufferedReader(raw), files, begin.byte, raw.size, begin.line, begin.cut)


def _open_tail(path: Path, stack: ExitStack) -> list[tuple[_Place, BinaryIO]]:
    """The files of the end, in order. Looks again when the writer has deleted one meanwhile."""
    while True:
        with ExitStack() as opening:
            try:
                files: list[tuple[_Place, BinaryIO]] = [
                    (_Place.of(file), opening.enter_context(file.open("rb"))) for file in _tail_files(path)
                ]
            except FileNotFoundError:
                continue
            stack.enter_context(opening.pop_all())
            return files


def _tail_files(path: Path) -> list[Path]:
    try:
        return sorted(tail_folder(path).iterdir(), key=lambda file: _Place.of(file).byte)
    except FileNotFoundError:
        return []


def _lines_missing(line: int, end: _Place) -> str:
    last = end.line if end.cut else end.line - 1
    return f"lines {line}-{last}" if last > line else f"parts of line {line}"


def _open(path: Path) -> io.FileIO:
    return open(create_private(path), "wb", buffering=0)
