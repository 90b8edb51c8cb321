"""Following what happens in a session through its journals, whoever runs it."""

import time
from pathlib import Path
from typing import Final

import msgspec

from pisces.journal.entries import BranchPoint, SessionBegan
from pisces.journal.line import decode_line
from pisces.journal.tail import OUTPUT, JournalTail
from pisces.output.holding import is_held
from pisces.render.view import Notice
from pisces.tui.desk.timeline import Timeline

_MOST_ORIGINS: Final = 100
"""How many branches of branches are followed; more can only be a circle."""


class Following:
    """The journals of one session, one after the other: those it branched off from, then each life of its own."""

    def __init__(self) -> None:
        self.timeline = Timeline()
        self.is_written = True
        """Whether somebody writes to the journal, as far as it is known."""
        self.quiet_seconds = 1.0
        """How long a journal says nothing before it is asked whether anybody writes to it."""
        self._tail: JournalTail | None = None
        self._before: list[JournalTail] = []
        """Journals of origins, which come first."""
        self._waiting: list[Path] = []
        """Journals of later lives, which come when the one before has been read."""
        self._seen: set[Path] = set()
        self._has_origins = False
        self._is_gone = False
        self._news_at = 0.0

    @property
    def journal(self) -> Path | None:
        """What is being followed; None as long as nothing has happened."""
        if self._waiting:
            return self._waiting[-1]
        return None if self._tail is None else self._tail.path

    def go_on_with(self, journal: Path) -> None:
        """From now on this one is followed; what the one before told stays in the timeline."""
        if journal in self._seen:
            return
        self._seen.add(journal)
        self._waiting.append(journal)
        self.is_written = True

    def poll(self) -> bool:
        """Read what is new, or as much of it as takes a few hundredths of a second; whether there was anything."""
        if self._tail is None and not self._next_life():
            return False
        assert self._tail is not None
        if not self._has_origins:
            self._find_origins(self._tail.path)
        if self._before:
            return self._read_origin(self._before[0])
        return self._read(self._tail)

    def _read(self, tail: JournalTail) -> bool:
        at = tail.offset
        try:
            placed = tail.read()
        except FileNotFoundError:
            return self._next_life() or self._tell_gone(tail)
        except OSError as error:
            self.timeline.say_once(Notice("error", f"The journal {tail.path} cannot be read: {error.strerror}"))
            return self._next_life()
        self.timeline.follow(tail.path, placed, tail.offset)
        if tail.offset > at:
            self._news_at = time.monotonic()
            return True
        return self._look_who_writes(tail.path) or self._next_life()

    def _tell_gone(self, tail: JournalTail) -> bool:
        """Say once that a journal is no longer there; one in which nothing has happened yet has never been."""
        if not tail.offset or self._is_gone:
            return False
        self._is_gone = True
        self.timeline.say(
            Notice("error", f"The journal {tail.path} is gone: what others do in this session is not seen any more.")
        )
        return True

    def _read_origin(self, tail: JournalTail) -> bool:
        at = tail.offset
        try:
            placed = tail.read()
        except OSError:
            self.timeline.say(Notice("info", f"What came before the branch is no longer there: {tail.path}"))
            self._before.clear()
            return True
        self.timeline.follow(tail.path, placed, tail.offset)
        if tail.finished or tail.offset == at:
            self._before.pop(0)
        return True

    def _next_life(self) -> bool:
        if not self._waiting:
            return False
        self._tail = JournalTail(self._waiting.pop(0), skip=OUTPUT)
        self._has_origins = self._is_gone = False
        return True

    def _find_origins(self, path: Path) -> None:
        """Those of a branch, the oldest first; those of a life that was seen already are not told again."""
        first = _first_entry(path)
        self._has_origins = first is not None
        point = first.branched_from if first is not None else None
        while point is not None and Path(point.journal) not in self._seen and len(self._before) < _MOST_ORIGINS:
            self._before.insert(0, JournalTail(Path(point.journal), end=point.offset, skip=OUTPUT))
            self._seen.add(Path(point.journal))
            point = _branch_point(Path(point.journal))

    def _look_who_writes(self, path: Path) -> bool:
        """Where nobody does, a cell that has not ended never will. Whether that is news."""
        if not self.is_written or time.monotonic() < self._news_at + self.quiet_seconds:
            return False
        self._news_at = time.monotonic()
        try:
            with path.open("rb") as file:
                self.is_written = is_held(file.fileno()) is not False
        except OSError:
            self.is_written = False
        had = self.timeline.running is not None
        if not self.is_written:
            self.timeline.ended_without_a_word()
        return had and not self.is_written


def _branch_point(path: Path) -> BranchPoint | None:
    first = _first_entry(path)
    return first.branched_from if first is not None else None


def _first_entry(path: Path) -> SessionBegan | None:
    try:
        with path.open("rb") as file:
            first = decode_line(file.readline())
    except (OSError, msgspec.DecodeError):
        return None
    return first if isinstance(first, SessionBegan) else None
