"""Which lines of an output are shown when not all are.

Of a cell that runs the newest ones. Of one that is over the first and, in greater number, the last: the beginning
says what it is, and the end has the result or the error. Pictures are shown in any case.
"""

from collections.abc import Iterable, Iterator, Sequence
from typing import Protocol

from rich.segment import Segment

from pisces.render.palette import DIM
from pisces.render.rows import Row
from pisces.render.spans import more_lines


class Part(Protocol):
    """One output, as lines that may each take several rows."""

    count: int
    """Its lines; 0 for a picture, which is shown whole or not at all."""

    def first(self, most: int) -> Iterator[list[Row]]:
        """The first lines, each in rows. A picture is one line, however many are asked for."""

    def last(self, most: int) -> Iterator[list[Row]]:
        """The last lines, each in rows, from the last one up."""


class _Share:
    """What is shown of one part: rows from its beginning and rows from its end."""

    def __init__(self, part: Part) -> None:
        self.part = part
        self.head: list[Row] = []
        self.tail: list[Row] = []
        self.lines = 0
        """Lines of which all rows are shown."""

    def take_last(self, room: int) -> int:
        """Take rows from the end; returns how many."""
        taken: list[Row] = []
        for rows in self.part.last(room):
            left = room - len(taken)
            if left <= 0:
                break
            taken[:0] = rows[-left:]
            self.lines += len(rows) <= left
        self.tail = taken
        return len(taken)

    def take_first(self, room: int) -> int:
        """Take rows from the beginning, but no line that is shown already; returns how many."""
        for rows in self.part.first(min(room, self.part.count - self.lines)):
            left = room - len(self.head)
            if left <= 0:
                break
            whole = len(rows) <= left and self.lines < self.part.count
            self.head += rows[:left]
            self.lines += whole
        return len(self.head)


def collapsed(parts: Sequence[Part], most: int, *, newest: bool, cut: bool = False) -> list[Row]:
    """At most so many rows of the parts, and a row among them that says how many lines are missing.

    `cut` says that the parts are not all there was: there are more lines than can be counted.
    """
    total = sum(part.count for part in parts)
    if total <= most:
        lines = [(part.count, rows) for part in parts for rows in part.first(most)]
        if sum(len(rows) for count, rows in lines if count) <= most:
            return [row for _, rows in lines for row in rows]
    shares = [_Share(part) for part in parts]
    at_beginning = 0 if newest else max(1, most * 3 // 10)
    texts = [share for share in shares if share.part.count]
    room = most - at_beginning
    for share in reversed(texts):
        room -= share.take_last(room) if room else 0
    room = at_beginning
    for share in texts:
        room -= share.take_first(room) if room else 0
    hidden = total - sum(share.lines for share in texts)
    return list(_joined(shares, more_lines(hidden, at_least=cut) if hidden else ""))


def _joined(shares: Iterable[_Share], missing: str) -> Iterator[Row]:
    said = not missing
    for share in shares:
        if not share.part.count:
            yield from (row for rows in share.part.first(1) for row in rows)
            continue
        yield from share.head
        if not said and share.lines < share.part.count:
            yield (Segment(missing, DIM),)
            said = True
        yield from share.tail
