"""Putting standard output, standard error and frames back into the order in which the guest produced them.

The guest writes numbered markers to both output pipes (docs/protocol.md); what stands before marker n on either pipe
came before all that stands after it. Knows bytes only: no descriptor, no process.
"""

import codecs

from pisces.model.events import StreamName

STREAMS: tuple[StreamName, ...] = ("stdout", "stderr")
Piece = tuple[StreamName, str]

_FIRST_BYTE = b"\x1e"
_NUMBER_DIGITS = 8


class _Pipe:
    """One pipe: text decoded across reads, cut into segments at the markers."""

    def __init__(self, name: StreamName, prefix: bytes) -> None:
        self.name: StreamName = name
        self.mark = 0
        self.segments: list[tuple[int, str]] = []
        self._prefix = prefix
        self._marker_length = len(prefix) + _NUMBER_DIGITS + 1
        self._held = b""
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")

    def feed(self, data: bytes) -> None:
        data = self._held + data if self._held else data
        start = 0
        while (found := self._find_marker(data, start)) >= 0:
            end = found + self._marker_length
            if end > len(data):
                break
            self._add(data[start:found])
            self.mark = max(self.mark, int(data[found + len(self._prefix) : end], 16))
            start = end
        keep = found if found >= 0 else self._partial_marker(data, start)
        self._add(data[start:keep])
        self._held = data[keep:]

    def _find_marker(self, data: bytes, start: int) -> int:
        # One byte is found at the speed of memory; the search for many is up to 15 times slower, as the nonce falls.
        first = data.find(_FIRST_BYTE, start)
        return -1 if first < 0 else data.find(self._prefix, first)

    def finish(self) -> None:
        """The pipe has ended: what was held back as a possible marker is text."""
        self._add(self._held, final=True)
        self._held = b""

    def _add(self, data: bytes, *, final: bool = False) -> None:
        text = self._decoder.decode(data, final)
        if text:
            self.segments.append((self.mark, text))

    def _partial_marker(self, data: bytes, start: int) -> int:
        """Where a marker may begin that these bytes do not complete; the end if none does."""
        candidate = data.rfind(_FIRST_BYTE, max(start, len(data) - self._marker_length + 1))
        if candidate >= 0 and self._prefix.startswith(data[candidate : candidate + len(self._prefix)]):
            return candidate
        return len(data)


class StreamOrder:
    """Feeds of both pipes in, pieces of text out, in order."""

    def __init__(self, nonce: str) -> None:
        prefix = _FIRST_BYTE + b"p" + nonce.encode("ascii")
        self._pipes: dict[StreamName, _Pipe] = {"stdout": _Pipe("stdout", prefix), "stderr": _Pipe("stderr", prefix)}

    def feed(self, name: StreamName, data: bytes) -> None:
        """Bytes that were read from one of the pipes."""
        self._pipes[name].feed(data)

    def reached(self, name: StreamName, mark: int) -> bool:
        """Whether everything before that marker has been read from this pipe.

        A later marker counts too: an interrupt may have kept one from being written.
        """
        return self._pipes[name].mark >= mark

    def finish(self) -> None:
        """Both pipes have ended; nothing is held back any more."""
        for pipe in self._pipes.values():
            pipe.finish()
            pipe.mark = 1 << 62

    def take(self, before: int | None = None) -> list[Piece]:
        """The text whose place is certain, in order; with `before`, only what stands in front of that marker."""
        out, err = self._pipes["stdout"], self._pipes["stderr"]
        if not out.segments and not err.segments:
            return []
        settled = min(out.mark, err.mark) if before is None else before - 1
        if not err.segments and out.segments[-1][0] <= settled:
            return _drain(out)
        if not out.segments and err.segments[-1][0] <= settled:
            return _drain(err)
        return self._merge(settled)

    def _merge(self, settled: int) -> list[Piece]:
        pieces: list[tuple[int, Piece]] = []
        for pipe in self._pipes.values():
            pieces += [(mark, (pipe.name, text)) for mark, text in pipe.segments if mark <= settled]
            pipe.segments = [segment for segment in pipe.segments if segment[0] > settled]
        pieces.sort(key=lambda piece: piece[0])  # Stable: within a segment, stdout first.
        return [piece for _, piece in pieces]


def _drain(pipe: _Pipe) -> list[Piece]:
    pieces: list[Piece] = [(pipe.name, text) for _, text in pipe.segments]
    pipe.segments = []
    return pieces
