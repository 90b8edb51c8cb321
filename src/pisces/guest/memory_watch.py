"""Watching what each kernel and all it started use together, in the supervisor: it is never busy with anything else.

Counted is memory that only ends with its process: anonymous, shared between processes, and swapped out; not files that
are mapped. A look costs some 50 µs for each process. It may count pages twice that processes share, so only what is
certain leads to an end: that takes longer to find out (12 ms for 1 GB), and is therefore asked at most for a
twentieth of the time.
"""

from __future__ import annotations

import time

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection

_INTERVAL = 0.25
_PATIENCE = 20
_HELD = ("RssAnon", "RssShmem", "VmSwap")
_SHARE = ("Pss_Anon", "Pss_Shmem", "SwapPss")


class Allowance:
    """How much a kernel may use; nothing is watched when `mb` is 0. What a fresh kernel holds does not count."""

    def __init__(self, mb: int, fresh: int) -> None:
        self.mb = mb
        self._most = (mb << 20) + fresh
        self._look_again = 0.0

    def is_exceeded_by(self, pids: Collection[int]) -> bool:
        """Whether these processes certainly use more, as far as that may be found out now."""
        began = time.monotonic()
        if began < self._look_again or sum(map(held, pids)) <= self._most:
            return False
        exceeded = certainly_held(pids) > self._most
        ended = time.monotonic()
        self._look_again = ended + _PATIENCE * (ended - began)
        return exceeded


class MemoryWatch:
    """When to look, and at what."""

    def __init__(self) -> None:
        self._due = 0.0
        self._fresh = 0

    def allowance(self, mb: int, pid: int, *, fresh: bool) -> Allowance:
        """What a kernel may use that is about to begin as this process; `fresh` if no cell has run in it."""
        if fresh:
            self._fresh = held(pid)
        return Allowance(mb, self._fresh)

    def timeout(self) -> float:
        """How many seconds may pass until the next look."""
        return max(0.0, self._due - time.monotonic())

    def is_due(self) -> bool:
        """Whether it is time to look; if so, the next time is one interval later."""
        now = time.monotonic()
        if now < self._due:
            return False
        self._due = now + _INTERVAL
        return True


def held(pid: int) -> int:
    """The bytes that a process holds, pages that it shares with others included; 0 when it is gone."""
    sizes = _sizes(f"/proc/{pid}/status")
    return sum(sizes.get(name, 0) for name in _HELD)


def certainly_held(pids: Collection[int]) -> int:
    """The bytes that these processes hold together, at the least.

    Pages that all share with copies that sleep count for little in the first sum, as each is divided by the number of
    its holders; the second has all pages of the largest process, and those that the others have to themselves.
    """
    shares, holdings, own = 0, [0], [0]
    for pid in pids:
        all_it_holds = held(pid)
        details = _sizes(f"/proc/{pid}/smaps_rollup")
        shares += sum(details.get(name, 0) for name in _SHARE)
        holdings.append(all_it_holds)
        # What may not be looked into runs another program under another user: it shares nothing.
        own.append(min(details.get("Private_Dirty", 0), all_it_holds) if details else all_it_holds)
    largest = max(range(len(own)), key=holdings.__getitem__)
    return max(shares, holdings[largest] + sum(own) - own[largest])


def _sizes(path: str) -> dict[str, int]:
    """The lines of such a file that name a size, in bytes; none when the process is gone, or not ours to look into."""
    sizes: dict[str, int] = {}
    try:
        with open(path, "rb") as file:
            for line in file.read().splitlines():
                name, _, value = line.partition(b":")
                if value.endswith(b" kB"):
                    sizes[name.decode("ascii")] = int(value[:-3]) << 10
    except OSError:
        return {}
    return sizes
