"""Whether messages of a kernel were lost on the way. Many kernels number theirs, one after the other on all channels.

A kernel that sends faster than it is read drops what does not fit, and says nothing. Between the `busy` and the `idle`
of a cell, whatever has a number reaches us, unless it answers somebody else: then nothing can be said.
"""

import re
from typing import Final

from pisces.kernels.jupyter.message import Message

_NUMBERED: Final = re.compile(r"(.*_\d+)_(\d+)")


class Numbering:
    """Of one cell, sent by the client of this session."""

    def __init__(self, client: str) -> None:
        self._client = client
        self._source = ""
        self._first = 0
        self._last: int | None = None
        self._published = 0
        """After `busy`, up to and with `idle`."""
        self._answers: list[tuple[str, int]] = []
        """The numbers on the other channels, which may be read before what was published earlier."""
        self._shared = False

    @property
    def lost(self) -> int:
        """How many messages are missing, once the reply and the `idle` are there; 0 where that cannot be known."""
        if self._last is None or self._shared:
            return 0
        answers = sum(source == self._source and self._first < n < self._last for source, n in self._answers)
        return max(0, self._last - self._first - self._published - answers)

    def take(self, message: Message) -> None:
        """Any message, before it is taken for the first or the last."""
        if message.channel != "iopub":
            self._answers.append(_number(message))
        elif self._source and self._last is None:  # What is published comes in order.
            self._published += 1
            self._shared |= message.parent_session not in ("", self._client)

    def begin(self, message: Message) -> None:
        """The kernel is busy with the cell."""
        self._source, self._first = _number(message)

    def end(self, message: Message) -> None:
        """The kernel is idle again."""
        source, number = _number(message)
        self._last = number if source and source == self._source else None


def _number(message: Message) -> tuple[str, int]:
    found = _NUMBERED.fullmatch(message.id)
    return (found[1], int(found[2])) if found else ("", 0)
