"""Going through all that is below a folder, in order, without what git would leave out."""

from __future__ import annotations

import os
from operator import attrgetter
from pathlib import Path

from . import ignore
from .arguments import located
from .globs import Glob
from .status import tell

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from .arguments import AnyPath
    from .globs import Match
    from .ignore import Ignoring

    Found = tuple[str, os.DirEntry[str], int]

_name = attrgetter("name")


def walk(path: AnyPath, *, glob_pattern: str = "*", hidden: bool = False) -> Iterator[Path]:
    """The plain files below a folder whose name, or relative path, matches; no links, and nothing git leaves out.

    Folders that cannot be read are counted in the event of the helper that runs. Raises as `Walk` does.
    """
    return Walk(located(path), Glob(glob_pattern, hidden=hidden, anywhere=True)).plain_files()


def is_file(entry: os.DirEntry[str]) -> bool:
    """Whether it is a file, or a link to one."""
    try:
        return entry.is_file()
    except OSError:  # Links in a circle.
        return False


def is_folder(entry: os.DirEntry[str]) -> bool:
    """Whether it is a folder, or a link to one."""
    try:
        return entry.is_dir()
    except OSError:  # Links in a circle.
        return False


def changed(entry: os.DirEntry[str]) -> int:
    """When it was last changed, in nanoseconds; of a link that leads nowhere, when the link was; 0 if it went away."""
    for follow in (True, False):
        try:
            return entry.stat(follow_symlinks=follow).st_mtime_ns
        except OSError:
            continue
    return 0


class _Level:
    """A folder that is being gone through."""

    __slots__ = ("entries", "ignoring", "match", "places", "prefix")

    def __init__(self, prefix: str, places: frozenset[int], ignoring: Ignoring, match: Match | None) -> None:
        self.entries: Iterator[os.DirEntry[str]] = iter(())
        self.prefix = prefix
        self.places = places
        self.ignoring = ignoring
        self.match = match


class Walk:
    """One walk through a folder: everything that matches a pattern, sorted by path. Links are not followed.

    Raises `FileNotFoundError`, `NotADirectoryError` or `PermissionError` for a folder that cannot be gone through. What
    cannot be read below it is counted, in the event of the helper that runs too.
    """

    def __init__(self, path: Path, glob: Glob, *, maxdepth: int | None = None) -> None:
        if not path.is_dir():
            os.stat(path)
            raise NotADirectoryError(f"{path} is a file, not a folder")
        self.unread: list[str] = []
        """What could not be read."""
        self._glob = glob
        self._deepest = maxdepth
        prefix = "" if str(path) == "." else os.path.join(path, "")
        ignoring = ignore.at(str(path), self.skip)
        self._top = _Level(prefix, glob.start, ignoring, glob.ending(glob.start))
        self._list(self._top, str(path), is_top=True)

    def skip(self, path: str) -> None:
        """Count something that could not be read."""
        self.unread.append(path)
        tell(skipped=len(self.unread))

    def plain_files(self) -> Iterator[Path]:
        """The plain files only."""
        for path, entry, _ in self:
            if entry.is_file(follow_symlinks=False):
                yield Path(path)

    def __iter__(self) -> Iterator[Found]:
        """What matches: its path, what it is, and how deep; 1 for what is in the folder itself."""
        levels = [] if self._deepest == 0 else [self._top]
        while levels:
            level = levels[-1]
            match, leaves_out, only_folders = level.match, level.ignoring.leaves_out, self._glob.only_folders
            for entry in level.entries:
                name = entry.name
                inner = entry.is_dir(follow_symlinks=False)
                matched = match is not None and match(name) and (inner or not only_folders)
                if not (matched or inner) or name == ".git" or leaves_out(name, inner):
                    continue
                if matched:
                    yield level.prefix + name, entry, len(levels)
                if inner and (self._deepest is None or len(levels) < self._deepest):
                    below = self._enter(level, entry)
                    if below is not None:
                        levels.append(below)
                        break
            else:
                levels.pop()

    def _enter(self, level: _Level, entry: os.DirEntry[str]) -> _Level | None:
        places = self._glob.after(level.places, entry.name)
        if not places:
            return None
        prefix = f"{level.prefix}{entry.name}/"
        below = _Level(prefix, places, level.ignoring.below(entry.name), self._glob.ending(places))
        try:
            self._list(below, entry.path)
        except FileNotFoundError:  # It went away meanwhile.
            return None
        except OSError:
            self.skip(prefix[:-1])
            return None
        return below

    def _list(self, level: _Level, path: str, *, is_top: bool = False) -> None:
        """Read what is in a folder, and the rules that are there; a repository in another has its own."""
        with os.scandir(path) as listing:
            entries = sorted(listing, key=_name)
        level.entries = iter(entries)
        names = {entry.name for entry in entries if entry.name.startswith(".git")}
        if ".git" in names and not is_top:
            level.ignoring = ignore.of_repository(path)
        if ".gitignore" in names:
            try:
                level.ignoring = level.ignoring.and_rules(os.path.join(path, ".gitignore"))
            except OSError:
                self.skip(f"{level.prefix}.gitignore")
