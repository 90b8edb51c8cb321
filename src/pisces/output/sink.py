"""Where the output of a call goes: what is shown stays here, bounded; everything goes to an artifact once it is cut."""

from collections.abc import Callable
from typing import Final

from pisces.model.results import Truncation
from pisces.output.lines import LineFolder, Piece
from pisces.output.notice import format_size
from pisces.output.record import Spill, StreamRecord
from pisces.output.windows import SinkLimits, View, Windows, take_last

__all__ = ["Dump", "OutputSink", "SinkLimits", "Spill"]

LIVE_BYTES: Final = 102400
"""How much of the newest text is at hand for live updates."""

_BATCH: Final = 16384
"""Characters gathered before any work is done: a million short writes cost a million appends and 60 batches."""

_BLOCK: Final = 65536
"""Characters worked on in one go: the copies of larger blocks leave the cache and take twice as long."""


class Dump(Truncation, frozen=True, kw_only=True):
    """The output as it can be shown, and what of it that is.

    Lines and bytes are those of the whole stream, as the artifact has it (each state of a progress bar is a line
    there). Total = shown + elided; what was overwritten or cleared counts as elided.
    """

    text: str
    truncated: bool
    ranges: tuple[tuple[int, int], ...] = ()
    """First and last line of each part that is shown, counted from 1 in the whole stream.

    States that were overwritten, and what was cleared, have their numbers in it too.
    """
    clamped_lines: int = 0
    """How many of the shown lines were too long to be shown whole."""
    limit: str = ""
    """The limit that was met, in words."""
    artifact_id: str | None = None
    artifact_error: str | None = None
    """Why the artifact ends before the stream does."""
    artifact_missing: str = ""
    """Which lines the artifact does not have because it would be too large, and the limit."""

    @property
    def truncation(self) -> Truncation | None:
        """The numbers for a result, when something was cut."""
        if not self.truncated:
            return None
        return Truncation(*(getattr(self, name) for name in Truncation.__struct_fields__))


class OutputSink:
    """Takes sanitized text and remembers what is worth showing, within bounded memory whatever comes.

    `spill` is called at most once, when something is cut for the first time; the file it returns gets the stream from
    its first byte, with each carriage return as a newline. Without `spill`, what is cut is gone. Close the sink.
    """

    def __init__(self, *, limits: SinkLimits | None = None, spill: Callable[[], Spill] | None = None) -> None:
        self._limits = limits or SinkLimits()
        self._windows = Windows(self._limits, LIVE_BYTES)
        self._folder = LineFolder(self._limits.clamp)
        self._marked = self._windows.copy()
        self._batch: list[str] = []
        self._batch_size = 0
        self._total_bytes = 0
        self._record = StreamRecord(spill)
        self._last_dump: Dump | None = None

    @property
    def artifact_id(self) -> str | None:
        """Where the whole stream is; None as long as nothing had to be cut."""
        return self._record.id

    def write(self, text: str) -> None:
        """Take the next text of the stream."""
        self._last_dump = None
        self._batch.append(text)
        self._batch_size += len(text)
        if self._batch_size >= _BATCH:
            self._flush()

    def end_line(self) -> None:
        """Make sure that what comes next begins a line."""
        self._last_dump = None
        self._flush()
        if self._folder.unfinished() is not None:
            self._take(b"\n")

    def mark(self) -> None:
        """What is here now stays when the sink is cleared: call it where a cell begins, after its heading."""
        if not self._total_bytes and not self._batch_size:
            return  # Nothing is here: it is as it was at the beginning.
        self.end_line()
        self._marked = self._windows.copy()

    def clear(self) -> None:
        """Show nothing more of what came since the mark. The artifact and the totals keep it."""
        self.end_line()
        cleared = self._windows.stream_lines - self._marked.stream_lines
        self._windows = self._marked.copy()
        self._windows.add(Piece(data=b"", lines=0, stream_lines=cleared))

    def dump(self) -> Dump:
        """What to show of all that came so far. It changes nothing, and output may go on after it."""
        if self._last_dump is None:
            self._last_dump = self._small_dump() or self._full_dump()
        return self._last_dump

    def _small_dump(self) -> Dump | None:
        """The dump of an output so small that none of the work below can change it; most are."""
        if self._total_bytes or self._batch_size > self._limits.clamp:
            return None
        text = "".join(self._batch)
        lines = text.count("\n") + (text != "" and not text.endswith("\n"))
        if lines > self._limits.max_lines or not text.isascii() or "\r" in text:
            return None
        return Dump(
            text=text,
            truncated=False,
            total_lines=lines,
            total_bytes=len(text),
            shown_lines=lines,
            shown_bytes=len(text),
            elided_lines=0,
            elided_bytes=0,
            ranges=((1, lines),) if lines else (),
        )

    def _full_dump(self) -> Dump:
        self._flush()
        total_lines = self._total_lines
        view = self._windows.view(self._folder.unfinished())
        pieces = (*view.head, *view.tail)
        shown_lines = sum(piece.lines for piece in pieces)
        shown_bytes = sum(piece.size for piece in pieces)
        clamped = sum(piece.note_bytes > 0 for piece in pieces)
        return Dump(
            text=_text(view),
            truncated=view.left_out > 0 or clamped > 0,
            total_lines=total_lines,
            total_bytes=self._total_bytes,
            shown_lines=shown_lines,
            shown_bytes=shown_bytes,
            elided_lines=total_lines - shown_lines,
            elided_bytes=self._total_bytes - shown_bytes,
            ranges=_ranges(view, total_lines),
            clamped_lines=clamped,
            limit=self._limit_met(view, shown_lines),
            artifact_id=self._record.id,
            artifact_error=self._record.error,
            artifact_missing=self._record.missing,
        )

    def tail(self, max_bytes: int = LIVE_BYTES) -> str:
        """The newest text, cut where a line begins, for live updates: cheap, and without notices."""
        self._flush()
        unfinished = self._folder.unfinished()
        newest = [*([unfinished] if unfinished else []), *self._windows.latest()]
        taken = take_last(newest[::-1], max_bytes=max_bytes, max_lines=None)
        if newest and not taken and max_bytes > 0:  # not even one line fits
            return newest[0].data[-max_bytes:].decode("utf-8", "ignore")
        return b"".join(piece.data for piece in taken).decode("utf-8")

    def close(self) -> None:
        """Write what is left and release the artifact's descriptor. The sink can still be dumped."""
        self._last_dump = self._small_dump()
        if self._last_dump is None:  # Otherwise no artifact has been opened, and none will be.
            self._flush()
            self._record.close()

    @property
    def _total_lines(self) -> int:
        unfinished = self._folder.unfinished()
        return self._windows.stream_lines + (unfinished.stream_lines if unfinished else 0)

    def _flush(self) -> None:
        if not self._batch_size:
            return
        text = "".join(self._batch)
        self._batch, self._batch_size = [], 0
        for start in range(0, len(text), _BLOCK):
            self._take(text[start : start + _BLOCK].encode("utf-8", "replace"))

    def _take(self, data: bytes) -> None:
        for piece in self._folder.feed(data):
            self._windows.add(piece)
        kept = data.replace(b"\r", b"\n") if b"\r" in data else data
        self._total_bytes += len(kept)
        self._record.add(kept, needed=self._is_cut())

    def _is_cut(self) -> bool:
        return self._folder.clamped_lines > 0 or self._windows.overflow(self._folder.unfinished())

    def _limit_met(self, view: View, shown_lines: int) -> str:
        if not view.left_out:
            return ""
        limits = self._limits
        return f"{limits.max_lines}-line" if shown_lines >= limits.max_lines else format_size(limits.max_bytes)


def _text(view: View) -> str:
    head, tail = (b"".join(piece.data for piece in pieces).decode("utf-8") for pieces in (view.head, view.tail))
    return f"{head}[…{view.left_out} lines elided…]\n{tail}" if view.left_out else head + tail


def _ranges(view: View, total_lines: int) -> tuple[tuple[int, int], ...]:
    head = sum(piece.stream_lines for piece in view.head)
    tail = sum(piece.stream_lines for piece in view.tail)
    if not view.left_out:
        return ((1, total_lines),) if total_lines else ()
    parts = ((1, head), (total_lines - tail + 1, total_lines))
    return tuple(part for part in parts if part[0] <= part[1])
