"""What a kernel tells the host: frames. What it is asked is in `requests`.

Every frame that has a place in the output carries the number of the marker behind which the text after it stands.
Frames above 1 MiB travel in parts, so that one plot never makes the host wait for a single line of
many megabytes.
"""

from __future__ import annotations

from contextlib import contextmanager

from .descriptors import private_duplicate
from .forking import is_aside
from .stdlib import json, os
from .streams import StandardStreams, write_all

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

_PART_BYTES = 1 << 20
_encode = json.JSONEncoder(ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode


def encode_frame(frame: dict[str, Any]) -> bytes:
    """One line of strict JSON: NaN and Infinity as strings, what JSON cannot say as its repr, no lone surrogates."""
    try:
        text = _encode(frame)
    except (TypeError, ValueError, RecursionError):
        from .json_safe import json_safe

        text = _encode(json_safe(frame))
    try:
        return text.encode("utf-8") + b"\n"
    except UnicodeEncodeError:
        from .json_safe import safe_text

        return safe_text(text).encode("utf-8") + b"\n"


class FrameWriter:
    """Sends frames about the current cell; any thread may call it."""

    def __init__(self, fd: int, streams: StandardStreams) -> None:
        self._fd: int | None = private_duplicate(fd)
        self._streams = streams
        self._held = b""
        self._silent = False
        self.cell: int | None = None
        streams.order.release_frames = self._release
        os.register_at_fork(after_in_child=self._close)

    def send(self, kind: str, **fields: object) -> None:
        """Send a frame that says nothing about the place of output."""
        if self._silent:
            return
        data = encode_frame({"type": kind, "id": self.cell, **fields})
        with self._streams.order.guard, self._streams.order.lock:
            self._write(data)

    def send_in_order(self, kind: str, *, hold: bool = False, **fields: object) -> None:
        """Send a frame that stands after all output before it, and before all output after it.

        With `hold` it waits for the next frame or text, so that both wake the host only once.
        """
        if self._silent:
            return
        self._streams.flush()
        with self._streams.order.guard, self._streams.order.lock:
            mark, marked = self._streams.order.place()
            data = encode_frame({"type": kind, "id": self.cell, "mark": mark, "marked": marked, **fields})
            if hold:
                self._held += data
            else:
                self._write(data)

    def _release(self) -> None:
        if self._held:
            self._write(b"")

    def _write(self, data: bytes) -> None:
        data, self._held = self._held + data, b""
        if self._fd is None:
            return  # A process that user code forked: the host hears only its text.
        data = b"\n" + data  # A line that somebody else has begun on this descriptor ends before ours.
        if len(data) <= _PART_BYTES:
            write_all(self._fd, data)
            return
        for line in data.splitlines(keepends=True):
            if len(line) <= _PART_BYTES:
                write_all(self._fd, line)
            else:
                self._write_parts(self._fd, line)

    def _write_parts(self, fd: int, line: bytes) -> None:
        text = line.decode("utf-8")
        size = _PART_BYTES // 4  # In characters: escaped and encoded, a part stays well below the limit.
        for seq, start in enumerate(range(0, len(text), size)):
            last = start + size >= len(text)
            part = {"type": "part", "id": self.cell, "seq": seq, "last": last, "data": text[start : start + size]}
            write_all(fd, _encode(part).encode("utf-8") + b"\n")

    def attach(self, fd: int) -> None:
        """Send to this pipe from now on."""
        assert self._fd is not None
        os.dup2(fd, self._fd, inheritable=False)
        self._held = b""
        self.cell = None

    @contextmanager
    def silent(self) -> Iterator[None]:
        """Send nothing while this lasts."""
        self._silent = True
        try:
            yield
        finally:
            self._silent = False

    def _close(self) -> None:
        if is_aside():
            return
        self._held = b""
        if self._fd is not None:
            os.close(self._fd)
            self._fd = None
