"""The process that looks for a pattern in a file: `python -m pisces.tui.pager.search_process`.

A process of its own, because a regular expression may take for ever and nothing but the end of its process stops it.
It reads what to look for from its standard input, and writes a line for each row that matches.
"""

import re
import signal
import sys
from collections.abc import Iterator
from typing import Final

import msgspec

from pisces.tui.pager.rows import Parts, pages, shown

MOST: Final = 500_000
"""Rows that match; then it stops, and says so."""
MOST_SPANS: Final = 64
"""Matches of one row."""


class Wanted(msgspec.Struct, frozen=True):
    """What to look for, in which open file, from which page on."""

    pattern: str
    parts: Parts
    start: int = 0
    first_row: int = 0
    seconds: float = 60.0
    """For one page; then the process ends itself, as its UI cannot end it when that was killed."""


def compiled(pattern: str) -> re.Pattern[str]:
    """The expression; upper and lower case are one as long as all of it is in lower case. Raises `re.error`."""
    try:
        return re.compile(pattern, 0 if any(map(str.isupper, pattern)) else re.IGNORECASE)
    except (OverflowError, RecursionError) as error:  # `a{99999999999}`, or a thousand brackets.
        raise re.error(str(error)) from None


def found(wanted: Wanted) -> Iterator[str]:
    """A line for each row that matches: its number, then where each match begins and ends. After each page, a dot."""
    search = compiled(wanted.pattern)
    needle = _literal(wanted.pattern)
    count = 0
    for page in pages(wanted.parts, wanted.start, wanted.first_row):
        rows = page.rows if needle is None or needle in b"".join(page.rows).lower() else ()
        for number, row in enumerate(rows, page.first_row):
            text = shown(row)
            if search.search(text) is None:
                continue
            spans = [f"{match.start()} {match.end()}" for match in search.finditer(text) if match.end() > match.start()]
            yield f"{number} {' '.join(spans[:MOST_SPANS])}\n"
            count += 1
            if count == MOST:
                yield "enough\n"
                return
        yield f". {page.start + page.size}\n"
    yield "end\n"


def _literal(pattern: str) -> bytes | None:
    """The bytes, in lower case, that every page with a match has in it; None where that is not sure."""
    plain = pattern.isascii() and pattern.replace(" ", "").replace("_", "").isalnum()
    # Of these, and of these only, a capital or small form is no ASCII: the Kelvin sign, the long s, the dotted i.
    return pattern.lower().encode() if plain and not set("ksi").intersection(pattern.lower()) else None


def main() -> None:
    """Read, look, and write."""
    wanted = msgspec.json.decode(sys.stdin.buffer.read(), type=Wanted)
    signal.setitimer(signal.ITIMER_REAL, wanted.seconds)
    for line in found(wanted):
        sys.stdout.write(line)
        if line[0] == ".":
            sys.stdout.flush()
            signal.setitimer(signal.ITIMER_REAL, wanted.seconds)
    sys.stdout.flush()


if __name__ == "__main__":
    main()
