"""The line at the foot of the pager: where one is, how much there is, and what a search has found so far."""

import msgspec

from pisces.output.notice import format_size


class Facts(msgspec.Struct, frozen=True, kw_only=True):
    """What there is to say."""

    first: int
    """The number of the first line that can be seen, from 1."""
    last: int
    lines: int
    scanned: int
    """Bytes of the file that have been looked at."""
    size: int
    at_end: bool = False
    follows: bool = False
    wraps: bool = False
    column: int = 0
    """How far the view was moved to the right."""
    pattern: str = ""
    found: int = 0
    searched: int = 0
    """Bytes of the file that were searched."""
    searching: bool = False
    enough: bool = False
    """Whether the search stopped because so much was found."""
    failed: bool = False


def status_line(facts: Facts) -> str:
    """All of it, the most important first: a narrow screen cuts the rest."""
    if not facts.size:
        return "empty" + (" · following" if facts.follows else "")
    whole = facts.scanned >= facts.size
    parts = [f"line {facts.first}-{facts.last} of {facts.lines:,}{'' if whole else '+'}"]
    if facts.pattern:
        parts.append(_found(facts))
    parts.append("end" if facts.at_end and whole else f"{_percent(facts.last, facts.lines) if whole else '?'}%")
    parts.append(format_size(facts.size))
    parts += [] if whole else [f"reading {_percent(facts.scanned, facts.size)}%"]
    parts += ["following"] if facts.follows else []
    parts += ["wrapped"] if facts.wraps else []
    parts += [f"column {facts.column + 1}"] if facts.column else []
    return " · ".join(parts)


def _found(facts: Facts) -> str:
    count = f"{facts.found:,}{'+' if facts.enough else ''} found"
    if facts.searching:
        return f"/{facts.pattern}: {count}, searching {_percent(facts.searched, facts.size)}%"
    if facts.failed:
        return f"/{facts.pattern}: the search broke off, {count}"
    return f"/{facts.pattern}: {count}" if facts.found else f"/{facts.pattern}: not found"


def _percent(part: int, whole: int) -> int:
    return 100 * part // whole if whole else 100
