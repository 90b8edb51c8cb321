"""One deadline for a whole call, made in the tool and handed down to every wait."""

import math
import time

import anyio
import msgspec


class Deadline(msgspec.Struct, frozen=True):
    """A point in monotonic time; every wait below takes the smaller of its own cap and what is left of it."""

    at: float
    seconds: float
    """How long the call was given: what a timeout message names."""

    @classmethod
    def after(cls, seconds: float) -> "Deadline":
        """A deadline that many seconds from now."""
        return cls(at=time.monotonic() + seconds, seconds=seconds)

    @classmethod
    def never(cls) -> "Deadline":
        """A deadline that does not come."""
        return cls(at=math.inf, seconds=math.inf)

    def remaining(self, cap: float = math.inf) -> float:
        """Seconds left, at most `cap`, never below zero."""
        return max(0.0, min(cap, self.at - time.monotonic()))

    @property
    def expired(self) -> bool:
        """Whether it has passed."""
        return time.monotonic() >= self.at

    def scope(self, cap: float = math.inf, *, slack: float = 0.0) -> anyio.CancelScope:
        """A cancel scope that ends the waits inside it when the deadline, or the cap, comes; `slack` seconds later."""
        remaining = self.remaining(cap)
        at = math.inf if remaining == math.inf else anyio.current_time() + remaining + slack
        return anyio.CancelScope(deadline=at)
