"""The wire of saved variables: records on a descriptor, of which those written before a hang or a kill are usable.

A record is one byte for its kind, eight for its length, then its content. A pickle travels in pieces between `begin`
and `end`, so that neither side has to know its size beforehand; `give_up` in place of `end` takes it back.
"""

from __future__ import annotations

import struct

from .stdlib import json, os
from .streams import write_all

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

_HEADER = struct.Struct(">cQ")
_PLAN, _STATE, _BEGIN, _PIECE, _END, _GIVE_UP, _TORN = b"P", b"S", b"B", b"C", b"E", b"X", b"T"
_READ_BYTES = 1 << 20


class RecordWriter:
    """Writes records; `write` is what a pickler calls. A record is whole or the last one: never broken in between."""

    def __init__(self, fd: int) -> None:
        self._fd = fd
        self.within_record = False
        """True while half a record is on its way: no exception may be raised then."""

    def plan(self, names: list[str]) -> None:
        """Say first which variables are going to be saved."""
        self._put(_PLAN, json.dumps(names).encode("ascii"))

    def state(self, pickled: bytes) -> None:
        """The state of the process beside the variables."""
        self._put(_STATE, pickled)

    def begin(self, names: list[str]) -> None:
        """A pickle begins: of one variable, or of several that have parts in common."""
        self._put(_BEGIN, json.dumps(names).encode("ascii"))

    def write(self, data: bytes) -> int:
        """A piece of the pickle."""
        view = memoryview(data).cast("B")
        self._put(_PIECE, view)
        return len(view)

    def end(self, losses: list[str]) -> None:
        """The pickle is complete, but for what its values lost."""
        self._put(_END, json.dumps(losses).encode("ascii"))

    def torn(self, names: tuple[str, ...]) -> None:
        """These variables have something in common that each will have a copy of."""
        self._put(_TORN, json.dumps(names).encode("ascii"))

    def give_up(self, why: str) -> None:
        """The pickle will not be completed."""
        self._put(_GIVE_UP, why.encode("utf-8", "backslashreplace"))

    def _put(self, kind: bytes, content: bytes | memoryview) -> None:
        self.within_record = True
        try:
            write_all(self._fd, _HEADER.pack(kind, len(content)))
            write_all(self._fd, content)  # type: ignore[arg-type]  # Anything with a buffer.
        finally:
            self.within_record = False


class Saved:
    """What could be read: pickles by the names they hold, and why others are not there."""

    def __init__(self) -> None:
        self.plan: list[str] = []
        self.state = b""
        self.pickles: dict[tuple[str, ...], bytearray] = {}
        self.given_up: dict[tuple[str, ...], str] = {}
        self.losses: dict[tuple[str, ...], list[str]] = {}
        self.torn: list[tuple[str, ...]] = []


def read_records(fd: int) -> Saved:
    """Read to the end, wherever it is; the last pickle may have been cut short."""
    saved = Saved()
    names: tuple[str, ...] = ()
    pieces = bytearray()
    for kind, content in _records(fd):
        if kind == _PLAN:
            saved.plan = json.loads(content)
        elif kind == _STATE:
            saved.state = bytes(content)
        elif kind == _BEGIN:
            names, pieces = tuple(json.loads(content)), bytearray()
            saved.given_up[names] = "saving it did not come to an end"
        elif kind == _PIECE:
            pieces += content
        elif kind == _END:
            saved.pickles[names] = pieces
            saved.losses[names] = json.loads(content)
            del saved.given_up[names]
        elif kind == _GIVE_UP:
            saved.given_up[names] = content.decode("utf-8")
        elif kind == _TORN:
            saved.torn.append(tuple(json.loads(content)))
    return saved


def _records(fd: int) -> Iterator[tuple[bytes, bytearray]]:
    while True:
        header = _read(fd, _HEADER.size)
        if header is None:
            return
        kind, length = _HEADER.unpack(header)
        content = _read(fd, length)
        if content is None:
            return
        yield kind, content


def _read(fd: int, length: int) -> bytearray | None:
    data = bytearray()
    while len(data) < length:
        part = os.read(fd, min(length - len(data), _READ_BYTES))
        if not part:
            return None
        data += part
    return data
