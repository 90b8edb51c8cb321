"""Which version of a file each owner has read: so that nobody writes over what they have not seen."""

import threading
from collections import OrderedDict
from collections.abc import Mapping
from pathlib import Path
from typing import Final

import msgspec

from pisces.files.version import FileVersion

MOST: Final = 1000
"""How many files are remembered, those of all owners together; who was not asked for longest goes first."""

Parts = Mapping[str, int]
"""By the names of parts of a file, what tells two states of each apart."""


class _Known(msgspec.Struct):
    version: FileVersion
    parts: dict[str, int]


class SeenFiles:
    """What was read, by owner and real path. Threads may use it at once."""

    def __init__(self) -> None:
        self._known: OrderedDict[tuple[str, Path], _Known] = OrderedDict()
        self._lock = threading.Lock()

    def note(self, owner: str, path: Path, version: FileVersion, parts: Parts | None = None) -> None:
        """This owner has read that version, or only some parts of it."""
        with self._lock:
            before = self._known.get((owner, path))
            self._known[owner, path] = _Known(version, _joined(before, parts))
            self._known.move_to_end((owner, path))
            if len(self._known) > MOST:
                self._known.popitem(last=False)

    def version(self, owner: str, path: Path) -> FileVersion | None:
        """The version that this owner knows, None for a file that it has not read."""
        with self._lock:
            found = self._known.get((owner, path))
            if found is None:
                return None
            self._known.move_to_end((owner, path))
            return found.version

    def part(self, owner: str, path: Path, name: str) -> int | None:
        """The state of a part that this owner knows, None where it did not read that by itself."""
        with self._lock:
            found = self._known.get((owner, path))
            return None if found is None else found.parts.get(name)

    def wrote(self, owner: str, path: Path, version: FileVersion | None, parts: Parts | None = None) -> None:
        """This owner has written that version: it knows it, if it knew the file. Others who read it do not.

        Without a version it knows these parts only: there is something in the file that it has not seen.
        """
        with self._lock:
            before = self._known.get((owner, path))
            if before is not None:
                self._known[owner, path] = _Known(version or before.version, _joined(before, parts))
                self._known.move_to_end((owner, path))


def _joined(before: _Known | None, parts: Parts | None) -> dict[str, int]:
    """The parts that are known now. Who saw or made the whole in another way knows none by itself any more."""
    if parts is None:
        return {}
    return {**(before.parts if before is not None else {}), **parts}
