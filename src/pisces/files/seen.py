"""What each reader has seen of which version of a file: so that nobody writes over what they have not seen."""

import threading
from collections import OrderedDict
from collections.abc import Collection, Iterable, Mapping
from pathlib import Path
from typing import Final

import msgspec

from pisces.files.selector import joined
from pisces.files.version import FileVersion
from pisces.output.artifact_text import LineRange

MOST: Final = 1000
"""How many files are remembered, those of all readers together; who was not asked for longest goes first."""

Parts = Mapping[str, int]
"""By the names of parts of a file, what tells two states of each apart."""
Lines = tuple[LineRange, ...]
ALL: Final[Lines] = (LineRange(1),)
"""Every line, however many there are."""


class _Known(msgspec.Struct):
    version: FileVersion
    parts: dict[str, int]
    lines: dict[bool, Lines]
    """Lines of this version that were shown whole: of the file's own text, and under True of its other text."""
    cells: set[int]
    """Cells that were shown whole, each by its name, type and source. They stay known when the file changes."""


class SeenFiles:
    """What was read, by reader and real path. Threads may use it at once."""

    def __init__(self) -> None:
        self._known: OrderedDict[tuple[str, Path], _Known] = OrderedDict()
        self._notices: OrderedDict[tuple[str, str], None] = OrderedDict()
        self._lock = threading.Lock()

    def note(
        self,
        reader: str,
        path: Path,
        version: FileVersion,
        parts: Parts | None = None,
        *,
        lines: Iterable[LineRange] = (),
        total: int | None = None,
        of_view: bool = False,
        cells: Iterable[int] = (),
    ) -> Lines:
        """This reader has read that version, or only some parts of it: of its lines, and of its cells, these.

        Returns all lines that the reader has seen of this version; `ALL` once these are `total` lines.
        """
        with self._lock:
            before = self._known.get((reader, path))
            known = _Known(version, _joined(before, parts), {}, set())
            if before is not None:
                known.lines = before.lines if before.version == version else {}
                known.cells = before.cells
            now = joined([*known.lines.get(of_view, ()), *lines])
            whole = total == 0 or now == (LineRange(1, total),)
            known.lines[of_view] = now = ALL if whole else now
            known.cells.update(cells)
            self._remember(reader, path, known)
            return now

    def version(self, reader: str, path: Path) -> FileVersion | None:
        """The version that this reader knows, None for a file that it has not read."""
        with self._lock:
            found = self._known.get((reader, path))
            if found is None:
                return None
            self._known.move_to_end((reader, path))
            return found.version

    def part(self, reader: str, path: Path, name: str) -> int | None:
        """The state of a part that this reader knows, None where it did not read that by itself."""
        with self._lock:
            found = self._known.get((reader, path))
            return None if found is None else found.parts.get(name)

    def lines(self, reader: str, path: Path, *, of_view: bool = False) -> Lines:
        """The lines that this reader has seen whole, of the version that it knows."""
        with self._lock:
            found = self._known.get((reader, path))
            return () if found is None else found.lines.get(of_view, ())

    def cells(self, reader: str, path: Path) -> Collection[int]:
        """The cells that this reader has seen whole."""
        with self._lock:
            found = self._known.get((reader, path))
            return frozenset() if found is None else frozenset(found.cells)

    def wrote(
        self,
        reader: str,
        path: Path,
        version: FileVersion | None,
        parts: Parts | None = None,
        *,
        lines: Lines = (),
        cells: Iterable[int] = (),
    ) -> None:
        """This reader has written that version: it knows it, if it knew the file. Others who read it do not.

        `lines` are those that it knows of the new text, `cells` those that it knows besides the ones it knew. Without a
        version it knows these parts only: there is something in the file that it has not seen.
        """
        with self._lock:
            before = self._known.get((reader, path))
            if before is not None:
                shown = {False: lines} if version is not None else before.lines
                known = _Known(version or before.version, _joined(before, parts), shown, before.cells.union(cells))
                self._remember(reader, path, known)

    def noticed(self, reader: str, notice: str) -> None:
        """This reader got a notice beside what it read: a line that no file has."""
        with self._lock:
            self._notices[reader, notice] = None
            self._notices.move_to_end((reader, notice))
            if len(self._notices) > MOST:
                self._notices.popitem(last=False)

    def notice_in(self, reader: str, text: str) -> str | None:
        """The first line of a text that is a notice which this reader got, None for most texts."""
        lines = (line.rstrip("\r") for line in text.split("\n") if line.startswith(("[", "(")))
        with self._lock:
            return next((line for line in lines if (reader, line) in self._notices), None)

    def _remember(self, reader: str, path: Path, known: _Known) -> None:
        self._known[reader, path] = known
        self._known.move_to_end((reader, path))
        if len(self._known) > MOST:
            self._known.popitem(last=False)


def _joined(before: _Known | None, parts: Parts | None) -> dict[str, int]:
    """The parts that are known now. Who saw or made the whole in another way knows none by itself any more."""
    if parts is None:
        return {}
    return {**(before.parts if before is not None else {}), **parts}
