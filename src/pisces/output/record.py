"""The whole stream, kept: in memory while it is small, in a file from the moment that something of it is cut."""

from collections.abc import Callable
from typing import Final, Protocol

from pisces.output.notice import format_size

HELD_LIMIT: Final = 262144
"""Bytes held before they go to the file even though nothing was cut, as under a progress bar that runs for hours."""


class Spill(Protocol):
    """A file that takes the whole output."""

    @property
    def id(self) -> str:
        """The name by which the file is read."""
        ...

    def write(self, data: bytes, /) -> None:
        """Append all of the data, or raise OSError."""
        ...

    @property
    def missing(self) -> str:
        """Which lines were more than the file may have, in words; empty if it has all."""
        ...

    @property
    def limit(self) -> int:
        """How many bytes the file may have."""
        ...

    def close(self) -> None:
        """Release the descriptor. It can be called more than once."""
        ...


class StreamRecord:
    """Sees every byte of a stream in order, and writes all of them to a file as soon as one is needed.

    A file that cannot be made or written does not end the run: `error` says what is missing and why.
    """

    def __init__(self, open_spill: Callable[[], Spill] | None) -> None:
        self._open_spill = open_spill
        self._held: list[bytes] = []
        self._held_bytes = 0
        self._written = 0
        self._spill: Spill | None = None
        self.id: str | None = None
        self.error: str | None = None

    def add(self, data: bytes, *, needed: bool) -> None:
        """Take the next bytes; `needed` says that something has been cut by now."""
        if self._spill is not None:
            self._write(data)
        elif self._open_spill is not None:
            self._held.append(data)
            self._held_bytes += len(data)
            if needed or self._held_bytes > HELD_LIMIT:
                self._open(self._open_spill)

    @property
    def missing(self) -> str:
        """What the file does not have because it would be too large, and why; empty if it has all."""
        if self._spill is None or not self._spill.missing:
            return ""
        return f"{self._spill.missing} ({format_size(self._spill.limit)} limit, `output.artifactLimitMb`)"

    def close(self) -> None:
        """Release the file's descriptor."""
        if self._spill is not None:
            self._spill.close()

    def _open(self, open_spill: Callable[[], Spill]) -> None:
        held = b"".join(self._held)
        self._held, self._held_bytes, self._open_spill = [], 0, None
        try:
            self._spill = open_spill()
        except OSError as error:
            self.error = f"The full output could not be kept: {error}"
            return
        self.id = self._spill.id
        self._write(held)

    def _write(self, data: bytes) -> None:
        if self._spill is None or self.error is not None:
            return
        try:
            self._spill.write(data)
        except OSError as error:
            without = f" without {self.missing}" if self.missing else ""
            self.error = f"Artifact {self.id} has only the first {self._written} bytes of the output{without}: {error}"
            self._spill.close()
        else:
            self._written += len(data)
