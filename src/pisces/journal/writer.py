"""The file of a journal: whole lines appended, private to its owner, and never a reason for a cell to fail."""

import logging
import os
from pathlib import Path

from pisces.output.holding import hold
from pisces.settings.paths import make_private

_log = logging.getLogger(__name__)


class JournalFile:
    """Appends lines to one file, which is made with the first of them.

    What cannot be written is not: `trouble` says why, in a sentence, and every later line is tried again.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.trouble = ""
        self._descriptor: int | None = None
        self._torn = False

    @property
    def size(self) -> int:
        """How long the file is now."""
        return 0 if self._descriptor is None else os.fstat(self._descriptor).st_size

    def append(self, lines: bytes) -> bool:
        """Add whole lines, in one write: the system appends them in one piece, whoever else writes to the file.

        False if they could not be written.
        """
        try:
            self._write(b"\n" + lines if self._torn else lines)
        except OSError as error:
            if not self.trouble:
                self.trouble = f"The journal of this session is incomplete: {error}."
                _log.warning("the journal %s could not be written: %s", self.path, error)
            return False
        return True

    def close(self) -> None:
        """Release the descriptor; a later line opens the file again."""
        if self._descriptor is not None:
            os.close(self._descriptor)
            self._descriptor = None

    def _write(self, data: bytes) -> None:
        if self._descriptor is None:
            self._descriptor = self._open()
        written = os.write(self._descriptor, data)
        while written < len(data):  # The disk is full, or the data is more than the system takes at once.
            self._torn = True
            written += os.write(self._descriptor, memoryview(data)[written:])
        self._torn = False

    def _open(self) -> int:
        make_private(self.path.parent)
        try:
            return self._open_private()
        except FileNotFoundError:  # pruning took the empty folder away just now
            make_private(self.path.parent)
            return self._open_private()

    def _open_private(self) -> int:
        descriptor = os.open(self.path, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o600)
        hold(descriptor)
        return descriptor
