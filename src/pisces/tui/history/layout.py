"""Where each item is, in lines from the beginning: known for those that were drawn, guessed for all others."""

from bisect import bisect_right
from itertools import accumulate


class Layout:
    """The heights of items. Nothing is drawn here."""

    def __init__(self) -> None:
        self._heights: list[int] = []
        self._ends: list[int] | None = []
        """Where each item ends; None when that has to be counted again."""

    def __len__(self) -> int:
        return len(self._heights)

    @property
    def total(self) -> int:
        """How many lines there are."""
        ends = self._counted()
        return ends[-1] if ends else 0

    def add(self, guess: int) -> None:
        """Another item, of about that height."""
        self._heights.append(max(1, guess))
        self._ends = None

    def measure(self, index: int, height: int) -> int:
        """The item has been drawn; by how much it is higher than it was thought to be."""
        difference = height - self._heights[index]
        if difference:
            self._heights[index] = height
            self._ends = None
        return difference

    def top(self, index: int) -> int:
        """The line in which an item begins."""
        return self._counted()[index - 1] if index else 0

    def bottom(self, index: int) -> int:
        """The line after its last one."""
        return self._counted()[index]

    def at(self, line: int) -> int:
        """The item that a line belongs to; as many as there are for lines behind the last one."""
        return bisect_right(self._counted(), line)

    def _counted(self) -> list[int]:
        if self._ends is None:
            self._ends = list(accumulate(self._heights))
        return self._ends
