"""Which version of a file each owner has read: so that nobody writes over what they have not seen."""

import threading
from collections import OrderedDict
from pathlib import Path
from typing import Final

from pisces.files.version import FileVersion

MOST: Final = 1000
"""How many files are remembered, those of all owners together; who was not asked for longest goes first."""


class SeenFiles:
    """What was read, by owner and real path. Threads may use it at once."""

    def __init__(self) -> None:
        self._versions: OrderedDict[tuple[str, Path], FileVersion] = OrderedDict()
        self._lock = threading.Lock()

    def note(self, owner: str, path: Path, version: FileVersion) -> None:
        """This owner has read that version."""
        with self._lock:
            self._put(owner, path, version)

    def version(self, owner: str, path: Path) -> FileVersion | None:
        """The version that this owner knows, None for a file that it has not read."""
        with self._lock:
            found = self._versions.get((owner, path))
            if found is not None:
                self._versions.move_to_end((owner, path))
            return found

    def wrote(self, owner: str, path: Path, version: FileVersion) -> None:
        """This owner has written that version: it knows it, if it knew the file. Others who read it do not."""
        with self._lock:
            if (owner, path) in self._versions:
                self._put(owner, path, version)

    def _put(self, owner: str, path: Path, version: FileVersion) -> None:
        self._versions[owner, path] = version
        self._versions.move_to_end((owner, path))
        if len(self._versions) > MOST:
            self._versions.popitem(last=False)
