"""What one cell said, folded entry by entry from its journal, so that a cell that runs is never read twice."""

import time
from pathlib import Path
from typing import Any, Final

import msgspec

from pisces.journal.bounded_output import HEAD_CHARACTERS
from pisces.journal.entries import CellEnded, Output, TextCut
from pisces.journal.line import decode_line
from pisces.journal.notebook_outputs import CellOutputs
from pisces.model.events import Status, Stream

_MOST_BYTES: Final = 12 << 20
"""Of the beginning of a cell, in its journal: a plot takes a tenth of a megabyte."""
_END_BYTES: Final = 1 << 20
_STEP: Final = 256 << 10
_MOST_STATUSES: Final = 1000


class Folded:
    """One cell as far as it has been read. Memory is bounded, whatever it said."""

    def __init__(self, start: int) -> None:
        self.statuses: list[Output] = []
        self.skipped = 0
        """Bytes of the journal that are not read because there are too many."""
        self.text_length = 0
        """Characters of text so far."""
        self._outputs = CellOutputs({})
        self._at = start
        self._read = 0
        self._held = 0
        """Bytes of what was read that may still be there; what was cleared or replaced is not."""
        self._not_weighed = 0
        self._finished = False

    @property
    def holds_back(self) -> bool:
        """Whether its journal keeps further text for itself until the cell is over."""
        return self.text_length >= HEAD_CHARACTERS

    @property
    def outputs(self) -> list[dict[str, Any]]:
        """As a notebook would have them now."""
        return [
            {**output, "text": "".join(output["text"])} if output["output_type"] == "stream" else output
            for output in self._outputs.outputs
        ]

    def advance(self, path: Path, end: int, ended: CellEnded | None, seconds: float) -> bool:
        """Read on, up to that byte, for about so long; whether that was all. Raises `OSError`."""
        until = time.monotonic() + seconds
        with path.open("rb") as file:
            while self._at < end:
                self._skip_the_middle(end, ended)
                if ended is None and self._is_full():
                    return True
                file.seek(self._at)
                if not self._take(file.readlines(min(_STEP, end - self._at)), end, ended):
                    self._at = end  # The file is shorter than it was: there is nothing to wait for.
                if time.monotonic() > until:
                    break
        return self._at >= end

    def finish(self, ended: CellEnded) -> None:
        """All has been read: say what no entry says, what is missing and that the kernel died."""
        if self._finished:
            return
        self._finished = True
        self._outputs.tell_left_out(ended.left_out, "the journal")
        if ended.died:
            self._outputs.tell_death(ended.process_exit)

    def _is_full(self) -> bool:
        """Whether there is too much to hold any more. An animation goes on and on, and is never more than a picture."""
        if self._held >= _MOST_BYTES and self._not_weighed >= _MOST_BYTES // 2:
            self._held, self._not_weighed = len(msgspec.json.encode(self._outputs.outputs)), 0
        return self._held >= _MOST_BYTES

    def _skip_the_middle(self, end: int, ended: CellEnded | None) -> None:
        if ended is not None and self._read >= _MOST_BYTES and not self.skipped and end - self._at > _END_BYTES:
            self.skipped = end - _END_BYTES - self._at
            self._at = end - _END_BYTES

    def _take(self, lines: list[bytes], end: int, ended: CellEnded | None) -> bool:
        for line in lines:
            if self._at >= end or not line.endswith(b"\n"):
                return False
            self._at += len(line)
            self._read += len(line)
            self._held += len(line)
            self._not_weighed += len(line)
            try:
                entry = decode_line(line)
            except msgspec.DecodeError:
                continue  # Torn, or the rest of a line into which the reader was sent.
            if isinstance(entry, Output):
                self._say(entry)
            elif isinstance(entry, TextCut):
                self._outputs.tell_cut(entry.characters, "the journal", ended.artifact_id if ended else None)
        return bool(lines)

    def _say(self, entry: Output) -> None:
        if isinstance(entry.event, Status):
            self.statuses = [*self.statuses[-_MOST_STATUSES:], entry]
            return
        if isinstance(entry.event, Stream):
            self.text_length += len(entry.event.text)
        self._outputs.take(entry.event)
