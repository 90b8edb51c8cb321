"""What an entry of the catalogue is: an object, how it is made, how it is used, and what should become of it."""

from dataclasses import dataclass
from typing import Literal

Way = Literal["exact", "by_value", "not"]
"""How an object comes back after a crash: as it was, made again from its value, or in no usable form."""

Environment = Literal["plain", "data", "heavy"]
"""The interpreter of the tests that has the library; each has what the ones before it have."""

NO_VALUE = "it cannot be written down as a value"
"""Why an object does not come back where variables come back by value."""


@dataclass(frozen=True)
class Entry:
    """One class of objects.

    `make` is code that binds `x`. `use` is an expression that computes something with `x`, in as many threads as the
    library likes; it is evaluated before the crash and after it, so it may change `x`, and must depend on nothing
    that differs from one run to the next. `because` says why an object does not come back. The restore then names the
    variable that held it, unless `untold` says why it cannot.
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
