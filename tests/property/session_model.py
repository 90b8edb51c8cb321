"""What a session should know, and where it can go: a plain dict, a count of cells, and copies of both.

Written from what the reference states, not from the code: eight automatic checkpoints and eight named ones, one after
each cell; a crash leads to the newest of those that led here since the last reset, undo to the one of right before the
cells. A reset is one step more for undo.
"""

import copy
from dataclasses import dataclass, field
from typing import Any

MOST_AUTOMATIC = 8
MOST_NAMED = 8

Values = dict[str, Any]


class Refused(Exception):
    """The session cannot do this, and has not changed."""


@dataclass(eq=False)
class Saved:
    """A checkpoint: what there was, and which checkpoints led there."""

    values: Values
    position: int
    name: str
    way: tuple["Saved", ...]
    start: int
    resets: int


@dataclass(frozen=True)
class Moved:
    """Where a session went: so many cells back, and whether undo can go further."""

    cells: int
    fresh: bool
    end: bool


@dataclass(eq=False)
class SessionModel:
    """One session with `python.checkpoint` set to `always`."""

    values: Values = field(default_factory=dict)
    position: int = 0
    start: int = 0
    kept: list[Saved] = field(default_factory=list)
    way: list[Saved] = field(default_factory=list)
    resets: int = 0
    frail: bool = False
    """Whether the kernel before this one died without having finished a cell."""

    @property
    def automatic(self) -> list[Saved]:
        """The checkpoints that nobody asked for, oldest first."""
        return [saved for saved in self.kept if not saved.name]

    @property
    def named(self) -> list[Saved]:
        """Those that have a name, oldest first."""
        return [saved for saved in self.kept if saved.name]

    def cell_finished(self) -> None:
        """One more cell is done, whatever it did to the values; the state of now is kept."""
        self.position += 1
        self.frail = False
        self.keep()

    def keep(self, name: str = "") -> None:
        """A checkpoint of now. Raises `Refused` when there are too many with a name."""
        same = [saved for saved in self.named if saved.name == name]
        if name and not same and len(self.named) >= MOST_NAMED:
            raise Refused
        for saved in same:
            self.forget(saved)
        saved = Saved(
            copy.deepcopy(self.values), self.position, name, tuple(self.way), start=self.start, resets=self.resets
        )
        self.kept.append(saved)
        self.way.append(saved)
        for surplus in self.automatic[:-MOST_AUTOMATIC]:
            self.forget(surplus)

    def drop(self, name: str) -> None:
        """Give up the one of that name. Raises `Refused` when there is none."""
        self.forget(self._find(name))

    def forget(self, saved: Saved) -> None:
        """It can no longer be gone back to."""
        self.kept.remove(saved)
        if saved in self.way:
            self.way.remove(saved)

    def crash(self) -> int | None:
        """The kernel dies. How many finished cells that costs, or None if the state is lost."""
        if self.way and self.way[-1].resets == self.resets:
            lost = self.position - self.way[-1].position
            self._go_to(self.way[-1])
            return lost
        blank = self.position == 0
        self.begin_anew()
        self.frail = True
        return 0 if blank else None

    def undo(self, steps: int) -> Moved:
        """Take cells back. Raises `Refused` when there is no checkpoint of right before them."""
        own = self.position - self.start
        if self._before_reset is not None and steps == own + 1:
            self._go_to(self._before_reset)
            return self._moved(self.position + own, fresh=False)
        if not 1 <= steps <= own:
            raise Refused
        left = self.position
        before = [saved for saved in self.way if saved.position == left - steps and saved.resets == self.resets]
        if before:
            self._go_to(before[-1])
            return self._moved(left, fresh=False)
        if left != steps:
            raise Refused
        self.begin_anew()
        return self._moved(left, fresh=True)

    def restore(self, name: str | None) -> Moved:
        """Go to a named checkpoint, or to the newest. Raises `Refused` when there is none."""
        left = self.position
        if name is not None:
            self._go_to(self._find(name))
        elif self.named:
            self._go_to(self.named[-1])
        elif self.way and self.way[-1].resets == self.resets:
            self._go_to(self.way[-1])
        else:
            raise Refused
        return self._moved(left, fresh=False)

    def branch(self) -> "SessionModel":
        """A second session with the same values; what was before is not its own."""
        twin = SessionModel(copy.deepcopy(self.values), self.position, self.position)
        twin.keep()
        return twin

    def begin_anew(self) -> None:
        """A fresh kernel; what has a name can still be gone back to."""
        self.values = {}
        self.start = self.position = 0
        self._take_way([saved for saved in self.way if saved.resets < self.resets])

    def reset(self) -> None:
        """The same, wanted; undo can take it back."""
        if self.position:
            if not (self.way and self.way[-1].resets == self.resets and self.way[-1].position == self.position):
                self.keep()
            self._take_way(self.way[-1:])
            self.resets += 1
        self.begin_anew()

    @property
    def _before_reset(self) -> Saved | None:
        return next((saved for saved in self.way if saved.resets < self.resets), None)

    def _find(self, name: str) -> Saved:
        for saved in self.named:
            if saved.name == name:
                return saved
        raise Refused

    def _go_to(self, saved: Saved) -> None:
        self.values = copy.deepcopy(saved.values)
        self.position, self.start, self.resets = saved.position, saved.start, saved.resets
        self._take_way([*(before for before in saved.way if before in self.kept), saved])

    def _take_way(self, way: list[Saved]) -> None:
        self.way = way
        self.kept = [saved for saved in self.kept if saved.name or saved in way]

    def _moved(self, left: int, *, fresh: bool) -> Moved:
        before = any(saved.position < self.position or saved.resets < self.resets for saved in self.way)
        return Moved(left - self.position, fresh, not before and (self.start > 0 or self.position == 0))
