"""What can be asked of each of those that are compared."""

import hashlib
from pathlib import Path
from typing import Protocol

import msgspec


class Received(msgspec.Struct, frozen=True):
    """What the host has of an output afterwards; the hash only where it keeps the text."""

    size: int
    sha256: str | None = None


class Subject(Protocol):
    """A Python that is run by this process. One call at a time."""

    async def start(self) -> None:
        """Be ready for code."""
        ...

    async def evaluate(self, code: str) -> str:
        """The representation of an expression's value."""
        ...

    async def print_much(self, code: str) -> None:
        """Run code that prints, until all it printed has been received."""
        ...

    def received(self) -> Received:
        """What came of the last `print_much`; asked for after the clock has been stopped."""
        ...

    async def stop(self) -> None:
        """End what was started."""
        ...


def of_file(path: Path) -> Received:
    """A file as it is now."""
    with path.open("rb") as file:
        digest = hashlib.file_digest(file, "sha256")
        return Received(file.tell(), digest.hexdigest())
