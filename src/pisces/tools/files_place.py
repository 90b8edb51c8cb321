"""Which file a call means: the path as it was given, where it leads to, and how much of it is wanted."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

import msgspec

from pisces.errors import InvalidCall
from pisces.files.failures import explained
from pisces.files.line_window import Limits
from pisces.files.selector import Selection, split_selector
from pisces.tools.base import CallContext, Services

ARTIFACT: Final = "artifact://"
"""How an address begins that is no path: that of an output that is kept."""
_NOTICE: Final = 2000
"""Bytes that are left for the notice below a text, where the caller has a limit for both."""


class FilePlace(msgspec.Struct, frozen=True):
    """A file, there or not."""

    given: str
    """As the caller calls it, without a selector."""
    path: Path
    """Absolute; symbolic links are not followed."""
    selection: Selection

    @property
    def real(self) -> Path:
        """Where it is, symbolic links followed."""
        return Path(os.path.realpath(self.path))


def place_of(services: Services, given: str) -> FilePlace:
    """The file of a path that may have a selector. Raises `FileError` for a bad one, and `InvalidCall` for `~who`."""
    name, selection = split_selector(given, lambda text: os.path.lexists(absolute(services, text)))
    return FilePlace(name, absolute(services, name), selection)


def whole_place_of(services: Services, given: str, tool: str) -> FilePlace:
    """The file of a path to write to. Raises `InvalidCall` for one that selects lines, and for an artifact."""
    if given.startswith(ARTIFACT):
        raise InvalidCall(
            f"`{tool}` cannot change {given}: artifacts are kept as they were made; give the path of a file"
        )
    place = place_of(services, given)
    if place.selection.lines:
        raise InvalidCall(f"`{tool}` takes a file without a selection of lines: give `{place.given}`, not `{given}`")
    return place


def limits_of(services: Services, context: CallContext) -> Limits:
    """How much a result may show."""
    output = services.settings.output
    most = None if context.max_text is None else max(0, context.max_text - _NOTICE)
    return Limits(output.max_bytes, output.max_lines, most)


def absolute(services: Services, given: str) -> Path:
    """Where a path leads from the working folder. Raises `InvalidCall` for `~who`."""
    home = services.environ.get("HOME")
    if home and (given == "~" or given.startswith("~/")):
        given = home + given[1:]
    try:
        return Path(services.cwd, Path(given).expanduser())
    except RuntimeError as error:
        raise InvalidCall(f"{given!r} cannot be the path of a file ({error})") from None


@contextmanager
def folders_of(path: Path) -> Iterator[None]:
    """Make the folders that are missing above a file; on an error those that were made go again."""
    made: list[Path] = []
    try:
        with explained(path, "written"):
            for folder in reversed([parent for parent in path.parents if not parent.exists()]):
                folder.mkdir(exist_ok=True)
                made.append(folder)
        yield
    except BaseException:
        for folder in reversed(made):
            try:
                folder.rmdir()
            except OSError:
                break
        raise
