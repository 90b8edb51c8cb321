"""When a checkpoint is worth its cost: values in, a decision out, no kernel in sight.

A checkpoint costs twice: the kernel stands still while it forks, and afterwards every page that a cell writes to is
copied first. So the price of the next one is what a fork takes, and what cells had to copy above the last one; it
must be paid for by what the session has done since then. So a cell that rewrites much memory above a checkpoint puts
the next one off; cells that copied nothing since cannot tell whether they would have, had there been a new one.
"""

from collections import deque
from typing import Literal

import msgspec

from pisces.kernels.base import Outlook

CheckpointMode = Literal["auto", "always", "off"]

CELL_MS = 5.0
"""What each finished cell may spend on checkpoints, besides copying the pages that any cell writes to."""
WORK_SHARE = 0.05
"""And what share of the time that the cells took."""

_COPY_MS = 0.0025
"""For a page that is copied because a checkpoint lies beneath: 100 MB rewritten take 74 ms more."""
_PAGES_PER_MB = 256
_ORDINARY_PAGES = 4000
"""What any cell writes to: 500 pages for `1 + 1`, some thousands when it imports something or shows a traceback."""
_FIRST_MS = 1.0
_FIRST_MS_PER_MB = 0.03
"""What a fork is taken to cost before one was measured: 0.9 ms with little memory, 31 ms with 1 GB in small pages."""
_REMEMBERED_FORKS = 8
_ENOUGH_FORKS = 4


class CheckpointRule(msgspec.Struct, frozen=True):
    """What the settings say about checkpoints."""

    mode: CheckpointMode = "auto"
    max_mb: int = 4096
    """A kernel that holds more memory is not kept."""


class Take(msgspec.Struct, frozen=True):
    """Make one."""

    cost_ms: float


class Skip(msgspec.Struct, frozen=True):
    """Make none."""

    reason: str
    """Why, as a clause; empty when checkpoints are off, which needs no explanation."""


class CheckpointPolicy:
    """Decides after each cell of one session. The caller says when a checkpoint was made, and what it took.

    What it takes in `auto` mode costs, as predicted, never more than 5 ms for each cell and 5 % of the work together.
    What is copied above one checkpoint is counted against the next, so a session that keeps rewriting its memory has
    few of them: one copy of it for twenty times as much work.
    """

    def __init__(self, rule: CheckpointRule) -> None:
        self.rule = rule
        self._forks: deque[tuple[float, float]] = deque(maxlen=_REMEMBERED_FORKS)
        """Measured: milliseconds, and MiB that the kernel held."""
        self._resident_mb = 0.0
        self._above = False
        self._start_counting()

    def obstacle(self, outlook: Outlook) -> str:
        """Why there can be no checkpoint at all, whoever asks, as a clause; empty when there can."""
        if outlook.obstacle:
            return outlook.obstacle
        if outlook.resident_mb > self.rule.max_mb:
            return f"the kernel holds {outlook.resident_mb:,.0f} MiB, more than python.checkpointMaxMb allows"
        return ""

    def after_cell(self, outlook: Outlook, duration_ms: float, *, put_off_ms: float = 0.0) -> Take | Skip:
        """A cell has ended: is it time for a checkpoint?

        With `put_off_ms`, another cell follows at once: cells that took less than that together are kept together.
        """
        self._count(outlook, duration_ms)
        if self.rule.mode == "off" or (self.rule.mode == "auto" and self._work_ms < put_off_ms):
            return Skip("")
        obstacle = self.obstacle(outlook)
        if obstacle:
            return Skip(obstacle)
        cost = self._fork_ms(outlook.resident_mb) + self._copying_ms(outlook.resident_mb)
        allowance = CELL_MS * self._cells + WORK_SHARE * self._work_ms
        if self.rule.mode == "always" or cost <= allowance:
            return Take(cost)
        return Skip(f"it would cost about {_span(cost)} after {_span(self._work_ms)} of work")

    def when_idle(self, outlook: Outlook) -> bool:
        """Nobody waits for the session: is a checkpoint worth it that was too dear right after its cell?

        The fork then costs nobody any time; what cells had to copy above the last one still tells what the next would.
        """
        if self.rule.mode == "off" or self.obstacle(outlook):
            return False
        return self._copying_ms(outlook.resident_mb) <= CELL_MS * self._cells + WORK_SHARE * self._work_ms

    def made(self) -> None:
        """There is a checkpoint of this moment, whoever wanted it: what is copied from now on is its price."""
        self._above = True
        self._start_counting()

    def measured(self, blocked_ms: float, resident_mb: float) -> None:
        """What a fork took, of a kernel that held so much."""
        self._forks.append((blocked_ms, resident_mb))

    def began_anew(self) -> None:
        """Another process goes on, fresh or woken: what it copies is the price of that, until there is a new one."""
        self._above = False
        self._resident_mb = 0.0
        self._start_counting()

    def _start_counting(self) -> None:
        self._cells = 0
        self._work_ms = 0.0
        self._copied_pages = 0.0

    def _count(self, outlook: Outlook, duration_ms: float) -> None:
        # Copying leaves the resident memory as it is; pages by which it grew were new, and not copied.
        grown = max(0.0, outlook.resident_mb - self._resident_mb) * _PAGES_PER_MB if self._resident_mb else 0.0
        copied = max(0.0, outlook.faults - grown - _ORDINARY_PAGES) if self._above else 0.0
        self._resident_mb = outlook.resident_mb
        self._copied_pages += copied
        self._work_ms += max(0.0, duration_ms - copied * _COPY_MS)
        self._cells += 1

    def _fork_ms(self, resident_mb: float) -> float:
        # The quickest counts: slow ones, on a machine that was busy with something else, tell nothing about the next,
        # and must not end the checkpoints of a session. A few alone may all have been slow.
        took = [_scaled(took, then, resident_mb) for took, then in self._forks]
        if len(took) < _ENOUGH_FORKS:
            took.append(_FIRST_MS + _FIRST_MS_PER_MB * resident_mb)
        return min(took)

    def _copying_ms(self, resident_mb: float) -> float:
        pages = self._copied_pages
        return (min(pages, resident_mb * _PAGES_PER_MB) if resident_mb else pages) * _COPY_MS


def _scaled(took_ms: float, then_mb: float, now_mb: float) -> float:
    """What a fork would take now that took so much then: what was added counts as if in small pages."""
    if now_mb >= then_mb:
        return took_ms + _FIRST_MS_PER_MB * (now_mb - then_mb)
    return took_ms * now_mb / then_mb


def _span(milliseconds: float) -> str:
    """A time for a reader: `31 ms`, `1.2 s`."""
    return f"{milliseconds:.0f} ms" if milliseconds < 1000 else f"{milliseconds / 1000:.1f} s"
