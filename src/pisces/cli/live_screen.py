"""What a terminal shows of cells that run: their output as it comes, a heading and an end for each, a status below.

Sans-I/O: it is told what happens, and says what to write. `live` and `blocking_output` do the writing.
"""

import time
from collections.abc import Callable, Sequence
from typing import Final

import msgspec

from pisces.cli.bottom_line import BottomLine, fitted, most_columns
from pisces.model.cells import CellStatus
from pisces.render.shown_text import straight
from pisces.render.spans import duration

Size = Callable[[], tuple[int, int]]
"""Asks a terminal for its columns and rows."""

INTERVAL: Final = 0.1
"""Seconds between two looks at the clock: the status moves so often while nothing is printed."""
_SOONEST: Final = 1 / 30
"""Seconds between two drawings of the status below output that keeps coming."""
_QUIET: Final = 0.15
"""Seconds at the start without a status, which what is over by then would only make flicker."""
_WORTH_TELLING: Final = 1000.0
"""Milliseconds from which the time of a cell that is alone is told."""

_SIGN: Final = 3
"""Columns that a sign and the space behind it take, at most."""
_LEAST: Final = 4
"""Columns below which the beginning of a name tells nothing."""


class Signs(msgspec.Struct, frozen=True):
    """What stands for what, in characters that the terminal has and with as much colour as is wanted."""

    spinner: str = "⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏"
    done: str = "✓"
    failed: str = "✗"
    dot: str = "·"
    coloured: bool = True

    @classmethod
    def of(cls, encoding: str, *, coloured: bool) -> "Signs":
        """Those that can be written in an encoding."""
        signs = cls(coloured=coloured)
        try:
            f"{signs.spinner}{signs.done}{signs.failed}{signs.dot}…".encode(encoding)
        except UnicodeEncodeError:
            return cls(spinner="|/-\\", done="+", failed="x", dot="-", coloured=coloured)
        return signs

    @property
    def is_ascii(self) -> bool:
        """Whether the terminal has no other characters."""
        return self.done.isascii()

    def styled(self, text: str, *codes: str, colour: str = "") -> str:
        """The text in a style; a colour only where there are any."""
        every = [*codes, *([colour] if colour and self.coloured else [])]
        return f"\x1b[{';'.join(every)}m{text}\x1b[0m" if every else text


class Ended(msgspec.Struct, frozen=True):
    """How a cell ended."""

    status: CellStatus = "complete"
    duration_ms: float | None = None
    word: str = ""
    """Why it is no success, where there is more to say than that."""


class LiveScreen:
    """One run of one or several cells."""

    def __init__(
        self,
        names: Sequence[str],
        size: Size,
        signs: Signs,
        *,
        is_ours: Callable[[], bool] = lambda: True,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """`is_ours` says whether the terminal may be drawn on now; output is written to it in any case."""
        self.stopping = False
        """Whether somebody has asked it to stop."""
        self._names = names
        self._size = size
        self._signs = signs
        self.is_ours = is_ours
        self._clock = clock
        self._line = BottomLine(*size())
        self._began = self._cell_began = clock()
        self._drawn = 0.0
        self._cell: int | None = None
        self._headed = False

    @property
    def at_line_start(self) -> bool:
        """Whether what is written next begins a line."""
        return self._line.at_line_start

    def begin(self, cell: int, before: Ended | None = None) -> str:
        """A cell begins; the one before it, if there was one, ended so."""
        closing = "" if self._cell is None else self._closing(before or Ended())
        self._cell, self._cell_began, self._headed = cell, self._clock(), False
        return self._line.output(closing) + self._status(_SOONEST)

    def text(self, text: str) -> str:
        """The running cell says something."""
        shown = self._line.output(self._heading() + straight(text))
        return shown + self._status(_SOONEST)

    def end(self, ended: Ended | None = None) -> str:
        """All is over: the last cell ended so, if it is known. Nothing stands below the output any more."""
        closing = "" if self._cell is None or ended is None else self._closing(ended)
        self._cell = None
        return self._line.output(closing)

    def write(self, text: str) -> str:
        """Something that is not of a cell, on lines of its own."""
        return self._line.output(("" if self.at_line_start else "\n") + text)

    def tick(self) -> str:
        """Time has passed."""
        return self._status(INTERVAL / 2)

    def erase(self, *, in_any_case: bool = False) -> str:
        """Take the status away, until the next tick; in any case, where it is not known whether it has been written."""
        return self._line.erase(in_any_case=in_any_case)

    def _heading(self) -> str:
        """What stands above the output of a cell, once it has any. A cell alone needs none."""
        if self._headed or self._cell is None:
            return ""
        self._headed = True
        if len(self._names) < 2:
            return ""
        return self._signs.styled(fitted(self._called, self._columns - 1), "1") + "\n"

    def _closing(self, ended: Ended) -> str:
        """A line at the end of a cell; none for one that is alone, went well, and took no time to speak of."""
        begun = "" if self.at_line_start else "\n"
        good = ended.status == "complete" and not ended.word
        took = (self._clock() - self._cell_began) * 1000 if ended.duration_ms is None else ended.duration_ms
        if len(self._names) < 2 and good and took < _WORTH_TELLING:
            return begun
        signs = self._signs
        sign = signs.done if good else signs.failed
        rest = self._fitted(self._called, [*([ended.word] if ended.word else []), duration(took)])
        colour = "32" if good else "31"
        return f"{begun}{signs.styled(sign, '1', colour=colour)} {signs.styled(rest, '2')}\n"

    def _status(self, at_least: float) -> str:
        now = self._clock()
        if now - self._drawn < at_least or now - self._began < _QUIET or not self.is_ours():
            return ""
        self._drawn = now
        self._line.resized(*self._size())
        return self._line.draw(self._told(now))

    def _told(self, now: float) -> str:
        """The status, as long as the terminal is wide."""
        signs = self._signs
        sign = signs.spinner[int(now / INTERVAL) % len(signs.spinner)]
        left = 0 if self._cell is None else len(self._names) - self._cell - 1
        facts = [_passed(now - self._cell_began)]
        facts += [f"{left} pending"] if left > 0 else []
        what = "starting" if self._cell is None else self._called
        shown = self._fitted(f"stopping {what}" if self.stopping else what, facts)
        return f"{signs.styled(sign, '1', colour='36')} {signs.styled(shown, '2')}" if shown else ""

    def _fitted(self, what: str, facts: Sequence[str]) -> str:
        """What it is about and the facts, behind a sign, in one row. Where there is little room the last facts go."""
        room = self._columns - 1 - _SIGN
        dot = f" {self._signs.dot} "
        for count in range(len(facts), 0, -1):
            told = dot.join(["", *facts[:count]])
            left = room - most_columns(told)
            if what and left >= _LEAST:
                return f"{fitted(what, left)}{told}"
        return fitted(facts[0], room)

    @property
    def _columns(self) -> int:
        return self._size()[0]

    @property
    def _called(self) -> str:
        """The running cell, by its place among several and by its name."""
        cell, count = self._cell or 0, len(self._names)
        name = self._names[cell] if cell < count else ""
        return f"[{cell + 1}/{count}] {name}".rstrip() if count > 1 else name


def _passed(seconds: float) -> str:
    """The time that a cell has been running: in steps that can be read."""
    return duration(seconds * 1000) if seconds >= 1 else f"{seconds:.1f} s"
