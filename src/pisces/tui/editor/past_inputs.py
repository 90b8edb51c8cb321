"""What was typed before, here and in the session in sight: to go back to, and to search through.

What is typed here is kept in a file of the user's, one line of JSON for each. Several programs may write it at once.
"""

import os
import time
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Final

import msgspec

from pisces.files.locking import leads_to, try_lock
from pisces.settings.paths import make_private
from pisces.settings.private_file import write_whole

MOST_KEPT: Final = 5_000
MOST_BYTES: Final = 5_000_000
LONGEST_KEPT: Final = 100_000
"""Characters above which an input is not kept: it was pasted, and is in the journal of its session."""

_ENOUGH: Final = 4 / 5
"""How much of both bounds is left when the oldest inputs are dropped, so that it is not done each time."""
_LOCK_SECONDS: Final = 1.0


class _Line(msgspec.Struct):
    text: str
    time: float = 0.0


class PastInputs:
    """The inputs of before, the newest first, each once."""

    def __init__(self, file: Path | None = None, *, session: Callable[[], Iterable[str]] = tuple) -> None:
        self._file = file
        self._session = session
        self._typed: list[str] = []
        """The oldest first."""

    @property
    def typed(self) -> list[str]:
        """What a person typed, here and in other sessions."""
        return _once(reversed(self._typed))

    @property
    def all(self) -> list[str]:
        """What was run in the session in sight, by whomever, and then what was typed elsewhere."""
        return _once((*self._session(), *reversed(self._typed)))

    def load(self) -> None:
        """Read what is kept. A line that is torn, or is not ours, is passed over. Raises OSError."""
        if self._file is None:
            return
        try:
            if self._file.stat().st_size > MOST_BYTES:
                self._drop_oldest()
            lines = _read(self._file)
        except FileNotFoundError:
            return
        if len(lines) > MOST_KEPT:
            self._drop_oldest()
        self._typed[:0] = [line.text for line in lines[-MOST_KEPT:]]

    def add(self, text: str) -> bool:
        """Remember what was typed; whether it is to be kept in the file, too.

        What begins with a space is forgotten at once, as shells do: it may have a secret in it.
        """
        if text.startswith(" ") or not text.strip():
            return False
        self._typed.append(text.rstrip())
        del self._typed[:-MOST_KEPT]
        return self._file is not None and len(text) <= LONGEST_KEPT

    def keep(self, text: str) -> None:
        """Write it to the file, as one line. Raises OSError."""
        if self._file is None:
            return
        make_private(self._file.parent)
        line = msgspec.json.encode(_Line(text.rstrip(), round(time.time(), 3))) + b"\n"
        descriptor = _locked(self._file)
        try:
            size = os.fstat(descriptor).st_size
            torn = size and os.pread(descriptor, 1, size - 1) != b"\n"
            os.write(descriptor, b"\n" + line if torn else line)
        finally:
            os.close(descriptor)
        if size > MOST_BYTES:
            self._drop_oldest()

    def _drop_oldest(self) -> None:
        if self._file is None:
            return
        descriptor = _locked(self._file)
        try:
            kept, room = list[bytes](), int(MOST_BYTES * _ENOUGH)
            for line in reversed(_read(self._file)[-int(MOST_KEPT * _ENOUGH) :]):
                kept.append(msgspec.json.encode(line) + b"\n")
                room -= len(kept[-1])
                if room < 0:
                    kept.pop()
                    break
            write_whole(self._file, b"".join(reversed(kept)))
        finally:
            os.close(descriptor)


def _locked(file: Path) -> int:
    """The file, open and ours alone; after a second without a lock, open all the same: then a line may be lost."""
    until = time.monotonic() + _LOCK_SECONDS
    while True:
        descriptor = os.open(file, os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o600)
        if try_lock(descriptor) != "busy" and leads_to(file, descriptor):
            return descriptor
        if time.monotonic() > until:
            return descriptor
        os.close(descriptor)
        time.sleep(0.01)


def _read(file: Path) -> list[_Line]:
    with open(file, "rb") as source:
        size = source.seek(0, os.SEEK_END)
        source.seek(max(0, size - MOST_BYTES))
        raw = source.read(MOST_BYTES).split(b"\n")
    found = list[_Line]()
    for each in raw[1:] if size > MOST_BYTES else raw:
        try:
            found.append(msgspec.json.decode(each, type=_Line))
        except (msgspec.DecodeError, UnicodeDecodeError):
            continue
    return found


def _once(texts: Iterable[str]) -> list[str]:
    return list(dict.fromkeys(stripped for text in texts if (stripped := text.strip("\n"))))
