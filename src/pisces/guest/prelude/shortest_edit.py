"""The fewest lines to take out and put in that make one text of another.

The greedy search by Myers ("An O(ND) Difference Algorithm and Its Variations", 1986): quick for texts that are much
alike. For those that are not, where it would take too long, `difflib` finds an answer that need not be the shortest.
"""

from __future__ import annotations

from typing import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

_MOST_EDITS = 1200
_MOST_STEPS = 5_000_000
"""Where the search gives up: about a second of work, and 10 MB of memory."""


class Change(NamedTuple):
    """Lines of the old text, and those of the new one that are in their place. They count from 0."""

    old_start: int
    old_end: int
    new_start: int
    new_end: int


def changes(old: Sequence[str], new: Sequence[str]) -> list[Change]:
    """What to do, from the beginning to the end."""
    shortest = min(len(old), len(new))
    head = 0
    while head < shortest and old[head] == new[head]:
        head += 1
    tail = 0
    while tail < shortest - head and old[-1 - tail] == new[-1 - tail]:
        tail += 1
    first, second = old[head : len(old) - tail], new[head : len(new) - tail]
    numbers: dict[str, int] = {}
    a = [numbers.setdefault(line, len(numbers)) for line in first]
    b = [numbers.setdefault(line, len(numbers)) for line in second]
    runs = _shortest(a, b)
    if runs is None:
        runs = _any(a, b)
    return [
        Change(change.old_start + head, change.old_end + head, change.new_start + head, change.new_end + head)
        for change in _between(runs, len(a), len(b))
    ]


def _between(runs: list[tuple[int, int, int]], old_size: int, new_size: int) -> Iterator[Change]:
    """What is left between the runs of lines that both have: (where in the old, where in the new, how many)."""
    old_at = new_at = 0
    for old_start, new_start, size in [*runs, (old_size, new_size, 0)]:
        if old_start > old_at or new_start > new_at:
            yield Change(old_at, old_start, new_at, new_start)
        old_at, new_at = old_start + size, new_start + size


def _shortest(a: list[int], b: list[int]) -> list[tuple[int, int, int]] | None:
    """The runs that both have when the fewest lines change; None if it takes too long to find out.

    `reach[k]` is how far in `a` one gets with so many edits on the diagonal `k`, which is where `x - y == k`.
    """
    most = min(len(a) + len(b), _MOST_EDITS)
    reach = [0] * (2 * most + 3)
    history: list[list[int]] = []
    steps = 0
    for edits in range(most + 1):
        history.append(reach[most - edits : most + edits + 3])  # Diagonals from -edits - 1 to edits + 1.
        for k in range(-edits, edits + 1, 2):
            down = k == -edits or (k != edits and reach[most + k] < reach[most + k + 2])
            x = reach[most + k + 2] if down else reach[most + k] + 1
            start = x
            while x < len(a) and x - k < len(b) and a[x] == b[x - k]:
                x += 1
            reach[most + k + 1] = x
            if x >= len(a) and x - k >= len(b):
                return _runs(history, len(a), len(b))
            steps += x - start
        if steps > _MOST_STEPS:
            break
    return None


def _runs(history: list[list[int]], x: int, y: int) -> list[tuple[int, int, int]]:
    """The way back from the end, through what was known before each edit."""
    runs: list[tuple[int, int, int]] = []
    for edits in range(len(history) - 1, -1, -1):
        reach, k = history[edits], x - y
        middle = edits + 1
        down = k == -edits or (k != edits and reach[middle + k - 1] < reach[middle + k + 1])
        start = reach[middle + k + 1] if down else reach[middle + k - 1] + 1
        if edits == 0:
            start = 0
        if x > start:
            runs.append((start, start - k, x - start))
        x = start if down else start - 1
        y = start - k - 1 if down else start - k
    return runs[::-1]


def _any(a: list[int], b: list[int]) -> list[tuple[int, int, int]]:
    from difflib import SequenceMatcher

    return [(match.a, match.b, match.size) for match in SequenceMatcher(None, a, b).get_matching_blocks()]
