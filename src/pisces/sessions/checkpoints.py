"""The checkpoints that a session keeps: how many, which of them lead back from where it stands, and which go first.

Above is `state`, which makes them and goes back to them. Below is a kernel's checkpoint, known by its contract only.
"""

import time
from collections.abc import Iterator
from itertools import count

import msgspec

from pisces.errors import CheckpointError
from pisces.kernels.base import Checkpoint
from pisces.sessions.variables import Names

MAX_AUTOMATIC = 8
MAX_NAMED = 8


class Kept(msgspec.Struct, frozen=True, kw_only=True, eq=False):
    """A checkpoint, and where the session stood when it was made."""

    checkpoint: Checkpoint
    position: int
    """How many cells had finished."""
    folder: str
    """The folder that had been asked for last."""
    names: Names
    """What the namespace held, as far as it was known."""
    start: int = 0
    """Where undo ended."""
    resets: int = 0
    """How many resets lie before it."""
    name: str = ""
    """Empty for one that was made automatically."""
    made_at: float = msgspec.field(default_factory=time.time)
    """In seconds since the epoch."""


class Checkpoints:
    """Those of one session. `add`, `go_back_to` and `reset` tell it where the session stands.

    A session that went back and then on again is on another way than before: a named checkpoint that it passed on the
    old way can still be gone back to by its name, but it is not where a crash or an undo leads.

    The way continues across a reset, so that an undo can take the reset back; a crash never leads across it.
    """

    def __init__(self, max_mb: int) -> None:
        self._max_mb = max_mb
        self._kept: dict[int, Kept] = {}
        self._way: list[int] = []
        """The numbers of those that lead to where the session stands, oldest first."""
        self._ways: dict[int, tuple[int, ...]] = {}
        """For each, those that led to it."""
        self._resident_mb: dict[int, float] = {}
        """For each, how much its kernel held."""
        self.resets = 0
        """How many resets lie behind the session."""
        self._died: list[Kept] = []
        """Those that ended by themselves, as far as nobody has been told."""
        self._numbers = count(1)

    def __iter__(self) -> Iterator[Kept]:
        """All that can be gone back to, oldest first."""
        return iter([kept for kept in self._kept.values() if kept.checkpoint.usable])

    @property
    def named(self) -> list[Kept]:
        """Those that somebody asked for, oldest first."""
        return [kept for kept in self if kept.name]

    def backwards(self, *, up_to: int | None = None) -> list[Kept]:
        """Those that lead to where the session stands, newest first; only such as have at most `up_to` cells."""
        way = [kept for kept in self._usable_way() if kept.resets == self.resets]
        return [kept for kept in way if up_to is None or kept.position <= up_to]

    @property
    def before_reset(self) -> Kept | None:
        """What the session held when it was reset last; None if that is not kept."""
        return next((kept for kept in self._usable_way() if kept.resets < self.resets), None)

    def find(self, name: str) -> Kept:
        """The one of that name. Raises `CheckpointError`, with the names that there are."""
        for kept in self.named:
            if kept.name == name:
                return kept
        names = ", ".join(repr(kept.name) for kept in self.named) or "none"
        raise CheckpointError(f"There is no checkpoint named {name!r}. Named checkpoints: {names}.")

    def make_sure_of_room(self, name: str) -> None:
        """Raises `CheckpointError` when one more named checkpoint would be too many; the same name again is not."""
        names = [kept.name for kept in self.named]
        if name not in names and len(names) >= MAX_NAMED:
            raise CheckpointError(
                f"The session has {MAX_NAMED} named checkpoints already, which is as many as are kept: "
                + ", ".join(map(repr, names)),
                hint="Use one of these names again, or give one up: `session` with action checkpoint and drop: true.",
            )

    def add(self, kept: Kept, resident_mb: float) -> None:
        """The session stands here now. One of the same name, and automatic ones beyond the bound, are given up."""
        self.forget_unusable()
        for number, other in list(self._kept.items()):
            if kept.name and other.name == kept.name:
                self._give_up(number)
        number = next(self._numbers)
        self._kept[number] = kept
        self._ways[number] = tuple(self._way)
        self._resident_mb[number] = resident_mb
        self._way.append(number)
        self._give_up_surplus()

    def take_died(self) -> list[Kept]:
        """Those that have ended by themselves, oldest first; told once."""
        self.forget_unusable()
        died, self._died = self._died, []
        return died

    def forget_unusable(self) -> None:
        """Remove those that cannot be gone back to any more."""
        for number, kept in list(self._kept.items()):
            if not kept.checkpoint.usable:
                if kept.checkpoint.died:
                    self._died.append(kept)
                self._give_up(number)

    def drop(self, kept: Kept) -> None:
        """Give this one up."""
        for number, other in list(self._kept.items()):
            if other is kept:
                self._give_up(number)

    def go_back_to(self, kept: Kept) -> None:
        """The session stands at this one. Automatic ones that do not lead there are given up; named ones stay.

        It may have been given up while it was woken: then nothing leads back from here.
        """
        self.resets = kept.resets
        number = self._number(kept)
        self._take_way([] if number is None else [*(n for n in self._ways[number] if n in self._kept), number])

    def go_back_to_start(self) -> None:
        """The session stands where it had not run anything. Automatic ones are given up; named ones stay.

        So does what leads back over a reset.
        """
        self._take_way([number for number in self._way if self._kept[number].resets < self.resets])

    def reset(self, kept: Kept) -> None:
        """The session has a fresh kernel and stands at its start; undo leads back over this to `kept`."""
        number = self._number(kept)
        self._take_way([] if number is None else [number])
        self.resets += 1

    def drop_all(self) -> None:
        """Give every one up."""
        for number in list(self._kept):
            self._give_up(number)

    def _number(self, kept: Kept) -> int | None:
        return next((number for number, other in self._kept.items() if other is kept), None)

    def _usable_way(self) -> list[Kept]:
        way = [self._kept[number] for number in reversed(self._way)]
        return [kept for kept in way if kept.checkpoint.usable]

    def _give_up_surplus(self) -> None:
        """Too many, or too large together: what each holds for itself is not known, at worst it is all."""
        automatic = [number for number, kept in self._kept.items() if not kept.name]
        room = float(self._max_mb)
        for newer, number in enumerate(reversed(automatic)):
            room -= self._resident_mb[number]
            if newer and (newer >= MAX_AUTOMATIC or room < 0):
                self._give_up(number)

    def _take_way(self, way: list[int]) -> None:
        self._way = way
        for number, other in list(self._kept.items()):
            if not other.name and number not in way:
                self._give_up(number)

    def _give_up(self, number: int) -> None:
        self._kept.pop(number).checkpoint.drop()
        del self._ways[number], self._resident_mb[number]
        if number in self._way:
            self._way.remove(number)
