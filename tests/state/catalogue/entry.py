"""What an entry of the catalogue is: an object, how it is made, how it is used, and what should become of it."""

from dataclasses import dataclass
from typing import Literal

Way = Literal["exact", "by_value", "not"]
"""How an object comes back after a crash: as it was, made again from its value, or in no usable form."""

Environment = Literal["plain", "data", "heavy", "state", "catalogue"]
"""The interpreter of the tests that has the library. Each of the first three has what those before it have; `state` is
small, `catalogue` has several GB and is made for the table only."""

SETTING = "it is a setting inside a library"
"""Why nobody sees that it is as after an import, where variables come back by value."""

NO_VALUE = "it cannot be written down as a value"
"""Why an object does not come back where variables come back by value."""

GONE = "its thread is gone"
OLD_LOOP = "its event loop is gone"
DEAD_CHANNEL = "its other end is outside the process"
OWN_CHILD = "a child belongs to the process that started it"
"""Why an object does not come back where the process goes on as a copy."""


@dataclass(frozen=True)
class Entry:
    """One class of objects.

    `make` is code that binds `x`. `use` is an expression that computes something with `x`, in as many threads as the
    library likes; it is evaluated before the crash and after it, so it may change `x`, and must depend on nothing
    that differs from one run to the next. `because` says why an object does not come back. The restore then names the
    variable that held it, unless `untold` says why it cannot; so it does for an object that comes back exactly, and
    not where a thread works and the state comes back by value.
    """

    name: str
    make: str
    use: str
    back: Way | None = None
    because: str = ""
    untold: str = ""


@dataclass(frozen=True)
class Library:
    """Objects that are made in one session, and lost in one crash."""

    name: str
    entries: tuple[Entry, ...]
    setup: str = ""
    """Code that runs first; what it imports and defines has to be back as well."""
    environment: Environment = "plain"
    back: Way = "exact"
    """What becomes of an entry that does not say it."""
    modules: tuple[str, ...] = ()
    """What has to be importable; an environment without one of them is passed over."""
    note: str = ""
    """What a user should know besides, as a sentence."""

    def expected(self, entry: Entry) -> Way:
        """What should become of this entry."""
        return entry.back or self.back
