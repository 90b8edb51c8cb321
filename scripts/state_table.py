"""Put every object of the catalogue through a crash, and write what became of it into docs/state.md.

    python -m scripts.state_table [--check] [LIBRARY…]

Each library has a session of its own, in the environment that has it: its objects are made and used, the kernel is
killed, and they are used again. Objects that fare otherwise than the catalogue expects are listed, and the exit code
is 1. The page is written only when the whole catalogue was run and nothing was unexpected.
"""

import argparse
import itertools
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import NamedTuple

import anyio

from tests.source_tree import ROOT
from tests.state.catalogue import LIBRARIES, Library, Way
from tests.state.environment_of import interpreter_for, missing_modules
from tests.state.survival import Finding, findings_for

PAGE = ROOT / "docs" / "state.md"
BEGIN = "<!-- table: written by `make state-table` -->"
END = "<!-- end of table -->"
WORDS: dict[Way, str] = {"exact": "exactly", "by_value": "by value", "not": "no"}


class Row(NamedTuple):
    """One line of the table."""

    library: str
    name: str
    way: Way
    because: str


def expected_rows() -> list[Row]:
    """The table as the catalogue has it."""
    return [
        Row(library.name, entry.name, library.expected(entry), entry.because)
        for library in LIBRARIES
        for entry in library.entries
    ]


def found_rows(findings: Iterable[Finding]) -> list[Row]:
    """The table as a run found it."""
    return [Row(found.library.name, found.entry.name, found.way, found.entry.because) for found in findings]


def replaced(page: str, rows: Sequence[Row]) -> str:
    """The page with this table between its markers. Raises ValueError when the markers are not there."""
    before, begin, rest = page.partition(BEGIN)
    _, end, after = rest.partition(END)
    if not begin or not end:
        raise ValueError(f"{PAGE.name} lacks one of its markers: {BEGIN} and {END}")
    return f"{before}{BEGIN}\n{rendered(rows)}\n{END}{after}"


def rendered(rows: Sequence[Row]) -> str:
    """Markdown: the counts, one line per library and way, and what there is to know besides."""
    counts = Counter(row.way for row in rows)
    ways = f"{counts['exact']} come back exactly, {counts['by_value']} by value and {counts['not']} not"
    lines = [
        f"Of {len(rows)} classes of objects, {ways}.",
        "",
        "| library | comes back | objects |",
        "| --- | --- | --- |",
    ]
    for library, of_library in itertools.groupby(rows, key=lambda row: row.library):
        in_order = sorted(of_library, key=lambda row: list(WORDS).index(row.way))
        for way, of_way in itertools.groupby(in_order, key=lambda row: row.way):
            lines.append(f"| {library} | {WORDS[way]} | {_objects(list(of_way))} |")
    notes = [f"- {library.name}: {library.note}" for library in LIBRARIES if library.note]
    return "\n".join([*lines, "", *notes])


def _objects(rows: Sequence[Row]) -> str:
    """The names, those with the same reason together, after it."""
    reasons: dict[str, list[str]] = {}
    for row in rows:
        reasons.setdefault(row.because, []).append(row.name.replace("|", "\\|"))
    return "; ".join((f"{reason}: " if reason else "") + ", ".join(names) for reason, names in reasons.items())


async def tried(libraries: Iterable[Library]) -> list[Finding]:
    """Run the catalogue, one library after the other, and say how each went."""
    findings: list[Finding] = []
    for library in libraries:
        interpreter = interpreter_for(library)
        missing = missing_modules(library, interpreter)
        if missing:
            print(f"{library.name}: passed over, {missing} cannot be imported")
            continue
        started = time.monotonic()
        with tempfile.TemporaryDirectory() as folder:
            found = await findings_for(library, interpreter, Path(folder))
        ways = Counter(finding.way for finding in found)
        told = ", ".join(f"{ways[way]} {word}" for way, word in WORDS.items())
        print(f"{library.name}: {told} ({time.monotonic() - started:.1f} s)", flush=True)
        findings += found
    return findings


def main() -> int:
    """Run, report, and write the page if there is nothing to report."""
    parser = argparse.ArgumentParser(description="Make the table of what comes back after a crash.")
    parser.add_argument("libraries", nargs="*", metavar="LIBRARY", help="only those whose name has this in it")
    parser.add_argument("--check", action="store_true", help="do not write the page")
    arguments = parser.parse_args()
    wanted: list[str] = arguments.libraries
    chosen = [library for library in LIBRARIES if not wanted or any(part in library.name for part in wanted)]
    findings = anyio.run(tried, chosen)
    problems = [finding.problem for finding in findings if finding.problem]
    for problem in problems:
        print(problem, file=sys.stderr)
    if problems:
        return 1
    rows = found_rows(findings)
    if not arguments.check and len(rows) == len(expected_rows()):
        PAGE.write_text(replaced(PAGE.read_text(encoding="utf-8"), rows), encoding="utf-8")
        print(f"{PAGE.relative_to(ROOT)} has the table of {len(rows)} classes")
    return 0


if __name__ == "__main__":
    sys.exit(main())
