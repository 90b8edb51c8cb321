"""Put every object of the catalogue through crashes, and write what became of it into docs/state.md.

    python -m scripts.state_table [--check] [--update] [--jobs N] [LIBRARY…]

Each library has sessions of its own, in the environment that has it: its objects are made and used, the kernel is
killed, and they are used again. Then the same once more for each kind of work, while a thread does it. A library that
takes too long is cut short, and the run goes on.

What is not as the catalogue expects is listed, and the exit code is 1. The page gets what was found of the libraries
with which nothing was unexpected; of the others it keeps what it has. With --update the catalogue is brought in line
with the run first; what hung, or was wrong and not named, is still listed, and so is what could not be made at all.
"""

import argparse
import itertools
import re
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import anyio

from scripts.state_expectations import NEEDS_WHAT_IS_GONE, Expectation, write_expectations
from tests.source_tree import ROOT
from tests.state.catalogue import LIBRARIES, Entry, Library, Way
from tests.state.catalogue.entry import NO_VALUE
from tests.state.environment_of import interpreter_for, missing_modules
from tests.state.survival import Beside, CameBack, Finding, Outcome, outcome_for
from tests.state.working_threads import WORKS

PAGE = ROOT / "docs" / "state.md"
BEGIN = "<!-- table: written by `make state-table` -->"
END = "<!-- end of table -->"
WORDS: dict[Way, str] = {"exact": "exactly", "by_value": "by value", "not": "no"}
NOT_TRIED = "not tried"
BESIDE_WORDS: dict[CameBack, str] = {
    "exact": "exactly",
    "by_value": "by value",
    "older": "as some cells before",
    "not": "no",
}


class Row(NamedTuple):
    """One class of objects in the table."""

    library: str
    name: str
    way: Way
    because: str


def expected_rows() -> list[Row]:
    """The table as the catalogue has it."""
    return [
        Row(library.name, entry.name, library.expected(entry), reason_on_page(entry, entry.because))
        for library in LIBRARIES
        for entry in library.entries
    ]


def rows_with(outcomes: Iterable[Outcome]) -> list[Row]:
    """The table with what a run found of these libraries, and of the others as the catalogue has it."""
    found = {
        (finding.library.name, finding.entry.name): (
            finding.way,
            reason_on_page(finding.entry, expectation_of(finding).because),
        )
        for outcome in outcomes
        for finding in outcome.findings
    }
    return [
        Row(row.library, row.name, *found.get((row.library, row.name), (row.way, row.because)))
        for row in expected_rows()
    ]


def reason_on_page(entry: Entry, because: str) -> str:
    """Why an object does not come back, and why the result does not name it, if it does not."""
    return f"{because}, and is not named, because {entry.untold}" if because and entry.untold else because


def expectation_of(found: Finding) -> Expectation:
    """What the catalogue has to say of an entry that fared like this."""
    if found.way != "not":
        return Expectation(found.way)
    return Expectation("not", found.entry.because or (NO_VALUE if found.how == "by_value" else NEEDS_WHAT_IS_GONE))


def beside_words(found: Sequence[Beside]) -> str:
    """How the state of a library came back that was kept while threads worked, as the table has it."""
    works: dict[str, list[str]] = {word: [] for word in BESIDE_WORDS.values()}
    for one in found:
        works[BESIDE_WORDS[one.came_back]].append(one.work.name)
    said = {word: names for word, names in works.items() if names} or {NOT_TRIED: []}
    if len(said) == 1:
        return next(iter(said))
    return "; ".join(f"{word}: {', '.join(names)}" for word, names in said.items())


def beside_on(page: str) -> dict[str, str]:
    """That column of the page, by the names of the libraries."""
    table = page.partition(BEGIN)[2].partition(END)[0]
    rows = re.findall(r"^\| (?!library|---)(.+?) \| (?:exactly|by value|no) \| (.+?) \| .* \|$", table, re.MULTILINE)
    return {library: beside for library, beside in rows if beside != "〃"}


def replaced(page: str, rows: Sequence[Row], beside: Mapping[str, str]) -> str:
    """The page with this table between its markers. Raises ValueError when the markers are not there."""
    before, begin, rest = page.partition(BEGIN)
    _, end, after = rest.partition(END)
    if not begin or not end:
        raise ValueError(f"{PAGE.name} lacks one of its markers: {BEGIN} and {END}")
    return f"{before}{BEGIN}\n{rendered(rows, beside)}\n{END}{after}"


def rendered(rows: Sequence[Row], beside: Mapping[str, str]) -> str:
    """Markdown: the counts, one line per library and way, and what there is to know besides."""
    counts = Counter(row.way for row in rows)
    ways = f"{counts['exact']} come back exactly, {counts['by_value']} by value and {counts['not']} not"
    lines = [
        f"Of {len(rows)} classes of objects, {ways}.",
        "",
        "| library | comes back | while a thread works | objects |",
        "| --- | --- | --- | --- |",
    ]
    for library, of_library in itertools.groupby(rows, key=lambda row: row.library):
        in_order = sorted(of_library, key=lambda row: list(WORDS).index(row.way))
        column = beside.get(library, NOT_TRIED)
        for way, of_way in itertools.groupby(in_order, key=lambda row: row.way):
            lines.append(f"| {library} | {WORDS[way]} | {column} | {_objects(list(of_way))} |")
            column = "〃"
    notes = [f"- {library.name}: {library.note}" for library in LIBRARIES if library.note]
    unnamed = [
        f"{library.name}: {entry.name} ({entry.untold})"
        for library in LIBRARIES
        for entry in library.entries
        if entry.untold and library.expected(entry) != "not"
    ]
    changed = "Not as they were, and not named, where the state comes back by value while a thread works"
    return "\n".join([*lines, "", *notes, f"- {changed}: {'; '.join(unnamed)}."])


def _objects(rows: Sequence[Row]) -> str:
    """The names, those with the same reason together, after it."""
    reasons: dict[str, list[str]] = {}
    for row in rows:
        reasons.setdefault(row.because, []).append(row.name.replace("|", "\\|"))
    return "; ".join((f"{reason}: " if reason else "") + ", ".join(names) for reason, names in reasons.items())


async def try_all(libraries: Sequence[Library], jobs: int, finish: Callable[[Outcome], None]) -> None:
    """Run the catalogue, some libraries at once, and say how each went; those that cannot be imported are left out."""
    limiter = anyio.CapacityLimiter(jobs)

    async def try_one(library: Library) -> None:
        async with limiter:
            outcome = await _outcome_of(library)
            if outcome is not None:
                finish(outcome)

    async with anyio.create_task_group() as group:
        for library in libraries:
            group.start_soon(try_one, library)


async def _outcome_of(library: Library) -> Outcome | None:
    interpreter = await anyio.to_thread.run_sync(interpreter_for, library)
    missing = missing_modules(library.modules, interpreter)
    if missing:
        print(f"{library.name}: passed over, {missing} cannot be imported")
        return None
    works = [work for work in WORKS if not missing_modules(work.modules, interpreter)]
    started = time.monotonic()
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        outcome = await outcome_for(library, interpreter, Path(folder), works)
    ways = Counter(finding.way for finding in outcome.findings)
    told = ", ".join(f"{ways[way]} {word}" for way, word in WORDS.items())
    beside = f"while a thread works {beside_words(outcome.beside)}"
    print(f"{library.name}: {told}; {beside} ({time.monotonic() - started:.1f} s)", flush=True)
    return outcome


class Report:
    """What is written of each library as soon as it was tried, so that a run that is stopped is not for nothing."""

    def __init__(self, *, update: bool, check: bool) -> None:
        self._update = update
        self._check = check
        self.outcomes: list[Outcome] = []
        self.problems: list[str] = []

    def add(self, outcome: Outcome) -> None:
        """Say what is wrong, bring the catalogue in line, and write the page."""
        problems = outcome.grave_problems if self._update else outcome.problems
        for problem in problems:
            print(f"    {problem}", flush=True)
        self.problems += problems
        if self._update:
            update_catalogue(outcome)
        if not problems:
            self.outcomes.append(outcome)
            if not self._check:
                write_page(self.outcomes)


def update_catalogue(outcome: Outcome) -> None:
    """Bring the entries of a library in line if its objects fared otherwise than expected, and name the file."""
    if any(finding.is_otherwise for finding in outcome.findings):
        found = {finding.entry.name: expectation_of(finding) for finding in outcome.findings}
        for path in write_expectations({outcome.library.name: found}):
            print(f"    {path.relative_to(ROOT)} is brought in line with what was found", flush=True)


def write_page(outcomes: Sequence[Outcome]) -> None:
    """Write the table with what was found of these libraries; the others stay as they are on the page."""
    page = PAGE.read_text(encoding="utf-8")
    beside = beside_on(page) | {outcome.library.name: beside_words(outcome.beside) for outcome in outcomes}
    PAGE.write_text(replaced(page, rows_with(outcomes), beside), encoding="utf-8")


def main() -> int:
    """Run, report, and write the page."""
    parser = argparse.ArgumentParser(description="Make the table of what comes back after a crash.")
    parser.add_argument("libraries", nargs="*", metavar="LIBRARY", help="only those whose name has this in it")
    parser.add_argument("--check", action="store_true", help="do not write the page")
    parser.add_argument("--update", action="store_true", help="bring the catalogue in line with what is found")
    parser.add_argument("--jobs", type=int, default=2, help="how many libraries are tried at once (default: 2)")
    arguments = parser.parse_args()
    wanted: list[str] = arguments.libraries
    chosen = [library for library in LIBRARIES if not wanted or any(part in library.name for part in wanted)]
    report = Report(update=arguments.update, check=arguments.check)
    anyio.run(try_all, chosen, arguments.jobs, report.add)
    print(f"{len(report.outcomes)} libraries without a problem, {len(report.problems)} problems")
    for problem in report.problems:
        print(problem, file=sys.stderr)
    return 1 if report.problems else 0


if __name__ == "__main__":
    sys.exit(main())
