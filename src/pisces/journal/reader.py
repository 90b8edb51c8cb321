"""Reading a journal: its own entries, or those of the sessions that it is a branch of too."""

from pathlib import Path

import msgspec

from pisces.errors import JournalError
from pisces.journal.entries import AnyEntry, BranchPoint, SessionBegan
from pisces.journal.line import decode_line

_MAX_ORIGINS = 100
"""How many branches of branches are followed; more can only be a circle."""


class Reading(msgspec.Struct, frozen=True):
    """What a journal has to say, and what of it could not be understood."""

    entries: tuple[AnyEntry, ...]
    torn: int = 0
    """Lines that are damaged. A last line without its end is not counted: it may still be on its way."""
    unknown: int = 0
    """Lines of kinds that this version does not know."""
    missing: tuple[str, ...] = ()
    """Journals of sessions that this one is a branch of, and that are no longer there."""


def read_journal(path: Path, *, end: int | None = None) -> Reading:
    """The entries of a journal, up to the last whole line that ends no later than at byte `end`.

    Raises `JournalError` when there is no such file, or it cannot be read.
    """
    entries: list[AnyEntry] = []
    torn = unknown = offset = 0
    try:
        with path.open("rb") as file:
            for line in file:
                if not line.endswith(b"\n") or (end is not None and offset + len(line) > end):
                    break
                offset += len(line)
                try:
                    entries.append(decode_line(line))
                except msgspec.ValidationError:
                    unknown += 1
                except msgspec.DecodeError:
                    torn += line != b"\n"  # An empty line is where a writer began anew after a line that it tore.
    except OSError as error:
        raise JournalError(
            f"The journal {path} cannot be read: {error.strerror or error}",
            hint="Journals are kept for `output.keepDays` days, and begin with the first cell of a session.",
        ) from error
    return Reading(tuple(entries), torn, unknown)


def read_with_origins(path: Path) -> Reading:
    """The entries of a journal behind those of the sessions that it is a branch of, each up to its branch point.

    An origin that is no longer there is named in `missing`.
    """
    reading = read_journal(path)
    point = _branch_point(reading)
    for _ in range(_MAX_ORIGINS):
        if point is None:
            break
        try:
            origin = read_journal(Path(point.journal), end=point.offset)
        except JournalError:
            return msgspec.structs.replace(reading, missing=(point.journal,))
        reading = Reading(
            origin.entries + reading.entries, origin.torn + reading.torn, origin.unknown + reading.unknown
        )
        point = _branch_point(origin)
    return reading


def _branch_point(reading: Reading) -> BranchPoint | None:
    first = next(iter(reading.entries), None)
    return first.branched_from if isinstance(first, SessionBegan) else None
