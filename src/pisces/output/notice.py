"""The line under an output that was cut: what is shown, and where the rest is."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from pisces.output.sink import Dump

_UNITS: Final = ("B", "KiB", "MiB", "GiB", "TiB")


def truncation_notice(dump: "Dump", read_with: str = "Read artifact://{id}") -> str:
    """The notice for a dump, on a line of its own after a blank one; empty when nothing was cut.

    `read_with` is the way to the whole output that the reader at hand has, with `{id}` for the artifact's id.
    """
    if not dump.truncated and dump.artifact_error is None:
        return ""
    sentences = []
    if dump.truncated:
        sentences.append(_shown(dump))
    if dump.artifact_error is not None:
        sentences.append(dump.artifact_error)
    elif dump.artifact_id is not None:
        what = f"all but {dump.artifact_missing}" if dump.artifact_missing else "full output"
        sentences.append(f"{read_with.format(id=dump.artifact_id)} for {what}")
    return f"\n\n[{'. '.join(sentences)}]"


def format_size(size: int) -> str:
    """A number of bytes for a reader: `812 B`, `50 KiB`, `1.5 MiB`."""
    step = min(max(size.bit_length() - 1, 0) // 10, len(_UNITS) - 1)
    return f"{size / 1024**step:.1f}".removesuffix(".0") + f" {_UNITS[step]}"


def listed(names: Sequence[str], most: int) -> str:
    """The first names, and how many more there are: `a, b and 3 more`."""
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return f"{', '.join(names[:most])}{more}"


def _shown(dump: "Dump") -> str:
    ranges = " and ".join(f"{first}-{last}" for first, last in dump.ranges)
    limit = f" ({dump.limit} limit)" if dump.limit else ""
    clamped = ", with long lines cut" if dump.clamped_lines else ""
    return f"Showing lines {ranges} of {dump.total_lines}{limit}{clamped}"
