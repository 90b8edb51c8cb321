"""What a command writes: kept within bounds, and read to its end when nobody listens any more."""

from __future__ import annotations

import codecs
import os
import select
import threading

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

_HALF = 512 * 1024
"""So many bytes are kept of the beginning, and so many of the end."""
_READ_BYTES = 1 << 16


class KeptOutput:
    """One stream of a command: text for now, and for later its beginning and its end."""

    def __init__(self) -> None:
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self._head = bytearray()
        self._tail = bytearray()
        self._dropped = 0

    def take(self, data: bytes) -> str:
        """The text of some more bytes; nothing is the end."""
        room = _HALF - len(self._head)
        self._head += data[:room]
        self._tail += data[room:]
        if len(self._tail) > 2 * _HALF:
            self._drop()
        return self._decoder.decode(data, not data)

    def text(self) -> str:
        """All that is kept; what is missing is named where it is missing."""
        if len(self._tail) > _HALF:
            self._drop()
        if not self._dropped:
            return (self._head + self._tail).decode("utf-8", "replace")
        head = codecs.getincrementaldecoder("utf-8")("replace").decode(self._head)  # Without half a character.
        start = next((i for i, byte in enumerate(self._tail[:4]) if byte & 0xC0 != 0x80), 0)
        end = self._tail[start:].decode("utf-8", "replace")
        left_out = self._dropped + start + len(self._head) - len(head.encode("utf-8", "replace"))
        return f"{head}\n[… {left_out} bytes are not kept here …]\n{end}"

    def _drop(self) -> None:
        more = len(self._tail) - _HALF
        del self._tail[:more]
        self._dropped += more


def drain(pipes: Sequence[int]) -> None:
    """Read these descriptors to their end, in a thread, and close them: who writes there is not held up."""
    if pipes:
        threading.Thread(target=_drain, args=(pipes,), name="pisces-drain", daemon=True).start()


def _drain(pipes: Sequence[int]) -> None:
    poll = select.poll()
    for fd in pipes:
        poll.register(fd, select.POLLIN)
    left = len(pipes)
    while left:
        for fd, _ in poll.poll():
            if not os.read(fd, _READ_BYTES):
                poll.unregister(fd)
                os.close(fd)
                left -= 1
