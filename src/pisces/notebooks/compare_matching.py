"""Which cell of one notebook is which of another: by id, then by equal source, then by likeness.

The first two take time in proportion to the cells. Likeness is only looked for near the place where a cell should be,
and measured on the first words of the few that share most words with it: a thousand cells that have all changed take
half a second, and at worst two.
"""

import re
from bisect import bisect_left
from collections.abc import Callable, Hashable, Sequence
from difflib import SequenceMatcher
from itertools import islice
from typing import Any, Final, Protocol

_WORD: Final = re.compile(r"\w+")
_WORDS: Final = 100
"""So many words of a source are compared."""
_NEAR: Final = 16
"""So many cells are candidates for being the one that is looked for,"""
_MEASURED: Final = 2
"""and so many of them are compared word by word: that takes a hundred times as long as counting shared words."""
_LIKE: Final = 0.5
"""Cells that share less are two different ones."""


class Matchable(Protocol):
    """What is looked at of a cell."""

    @property
    def id(self) -> str | None: ...
    @property
    def cell_type(self) -> str: ...
    @property
    def source(self) -> str: ...


def match_cells(old: Sequence[Matchable], new: Sequence[Matchable]) -> dict[int, int]:
    """By its place in `old`, the place that each cell has in `new`; cells that are in one of them only are left out."""
    matching = _Matching(old, new)
    matching.unique(lambda cell: cell.id)
    matching.unique(_same)
    matching.neighbours()
    matching.in_order(_same)
    matching.in_order(lambda cell: cell.source.strip() or None)
    matching.alike()
    return matching.pairs


def stays(places: Sequence[int]) -> set[int]:
    """The most of these places that are in order already: all others have moved."""
    ends: list[int] = []
    last: list[int] = []
    before: list[int] = []
    for number, place in enumerate(places):
        length = bisect_left(ends, place)
        before.append(last[length - 1] if length else -1)
        ends[length : length + 1] = [place]
        last[length : length + 1] = [number]
    found: set[int] = set()
    number = last[-1] if last else -1
    while number >= 0:
        found.add(places[number])
        number = before[number]
    return found


def _same(cell: Matchable) -> Hashable:
    return cell.cell_type, cell.source


class _Matching:
    def __init__(self, old: Sequence[Matchable], new: Sequence[Matchable]) -> None:
        self.old = old
        self.new = new
        self.pairs: dict[int, int] = {}
        self._taken: set[int] = set()

    def unique(self, key: Callable[[Matchable], Hashable]) -> None:
        """Match cells whose key is theirs alone on either side."""
        theirs = self._by_key(self.new, key, self._taken)
        for value, places in self._by_key(self.old, key, self.pairs).items():
            found = theirs.get(value, [])
            if len(places) == len(found) == 1:
                self._pair(places[0], found[0])

    def neighbours(self) -> None:
        """Match equal cells that stand next to ones that are matched: which of many empty cells is meant."""
        for step, order in ((1, range(len(self.old))), (-1, range(len(self.old) - 1, -1, -1))):
            for place in order:
                beside = self.pairs.get(place - step)
                there = None if beside is None else beside + step
                if there is None or place in self.pairs or there in self._taken or not 0 <= there < len(self.new):
                    continue
                if _same(self.old[place]) == _same(self.new[there]):
                    self._pair(place, there)

    def in_order(self, key: Callable[[Matchable], Hashable]) -> None:
        """Match all that have the same key, the first with the first."""
        theirs = self._by_key(self.new, key, self._taken)
        for value, places in self._by_key(self.old, key, self.pairs).items():
            for place, there in zip(places, theirs.get(value, []), strict=False):
                self._pair(place, there)

    def alike(self) -> None:
        """Match what is left by how many words are the same, the most alike first."""
        open_places = [place for place in range(len(self.new)) if place not in self._taken]
        theirs = {place: _Words(self.new[place]) for place in open_places}
        scored = []
        for place, expected in self._expected():
            ours = _Words(self.old[place])
            near = [(ours.shared(theirs[there]), there) for there in _nearest(open_places, expected)]
            for _, there in sorted(near, key=lambda entry: -entry[0])[:_MEASURED]:
                likeness = ours.likeness(theirs[there])
                if likeness >= _LIKE:
                    scored.append((-likeness, abs(there - expected), place, there))
        for _, _, place, there in sorted(scored):
            if place not in self.pairs and there not in self._taken:
                self._pair(place, there)

    def _expected(self) -> list[tuple[int, int]]:
        """The old places that are open, and where each would be if it had kept its distance to the one before."""
        found = []
        expected = -1
        for place in range(len(self.old)):
            if place in self.pairs:
                expected = self.pairs[place]
            else:
                expected += 1
                found.append((place, expected))
        return found

    def _by_key(
        self, cells: Sequence[Matchable], key: Callable[[Matchable], Hashable], matched: Any
    ) -> dict[Hashable, list[int]]:
        places: dict[Hashable, list[int]] = {}
        for place, cell in enumerate(cells):
            if place not in matched and (value := key(cell)) is not None:
                places.setdefault(value, []).append(place)
        return places

    def _pair(self, place: int, there: int) -> None:
        self.pairs[place] = there
        self._taken.add(there)


class _Words:
    """The first words of a cell, to be compared with those of others."""

    def __init__(self, cell: Matchable) -> None:
        self.kind = cell.cell_type
        self.words = [word.group() for word in islice(_WORD.finditer(cell.source), _WORDS)]
        self.distinct = frozenset(self.words)

    def shared(self, other: "_Words") -> float:
        """How many of the different words both have, from 0 to 1. Cells of two types share nothing."""
        if self.kind != other.kind:
            return 0
        return 2 * len(self.distinct & other.distinct) / max(1, len(self.distinct) + len(other.distinct))

    def likeness(self, other: "_Words") -> float:
        """How much of the text is the same, from 0 to 1."""
        if not self.shared(other):
            return 0
        matcher = SequenceMatcher(None, other.words, self.words, autojunk=False)
        return matcher.ratio() if matcher.quick_ratio() >= _LIKE else 0


def _nearest(places: list[int], expected: int) -> list[int]:
    middle = bisect_left(places, expected)
    window = places[max(0, middle - _NEAR) : middle + _NEAR]
    return sorted(window, key=lambda place: abs(place - expected))[:_NEAR]
