"""What took a while to make, kept for the next time: bounded in size, whatever is asked for."""

from collections import OrderedDict
from typing import Generic, TypeVar

_Key = TypeVar("_Key")
_Value = TypeVar("_Value")


class Kept(Generic[_Key, _Value]):
    """So much in all, by whichever measure. What was not asked for the longest goes first; the newest stays."""

    def __init__(self, most: int) -> None:
        self.size = 0
        """Of all that is kept."""
        self._most = most
        self._things: OrderedDict[_Key, tuple[_Value, int]] = OrderedDict()

    def __len__(self) -> int:
        return len(self._things)

    def get(self, key: _Key) -> _Value | None:
        """What is kept of that key."""
        found = self._things.get(key)
        if found is None:
            return None
        self._things.move_to_end(key)
        return found[0]

    def put(self, key: _Key, value: _Value, size: int) -> None:
        """Keep it, in place of what was kept of that key."""
        _, before = self._things.pop(key, (None, 0))
        self._things[key] = value, size
        self.size += size - before
        while self.size > self._most and len(self._things) > 1:
            _, (_, gone) = self._things.popitem(last=False)
            self.size -= gone
