"""What becomes of objects when a session goes back, beside Kishu, which keeps the state of notebooks too."""

import subprocess
from collections.abc import Mapping, Sequence
from typing import Literal

import msgspec

from bench.report import Check, Column, Measurement, Row, percentile
from bench.sandbox import Sandbox
from bench.state.host_process import run_host
from bench.state.objects.journey import Found, Way

Outcome = Literal["identical", "present", "missing", "not reported"]

_SECONDS = 3 * 3600.0
_PISCES, _KISHU = "Pisces", "Kishu"
_HOSTS = {_PISCES: "objects_of_pisces", _KISHU: "objects_of_kishu"}
_ROWS: tuple[tuple[str, Way, str], ...] = (
    (_PISCES, "back", "Pisces, undo"),
    (_PISCES, "anew", "Pisces, crash"),
    (_KISHU, "back", "Kishu, checkout"),
    (_KISHU, "anew", "Kishu, checkout in a new kernel"),
)
_BESIDE_POLARS = ", beside polars"
_AIM = "Pisces: no object is missing, differs or hangs without a report"
_MADE_BY = (
    "there is no environment with Kishu, which `scripts/make_environment.py .envs/kishu --requirements "
    "requirements/kishu.txt` makes"
)
_PACKAGES = ("kishu", "ipykernel", "numpy", "pandas", "scikit-learn", "torch")
_VERSIONS = f"""
from importlib.metadata import PackageNotFoundError, version
for name in {_PACKAGES!r}:
    try:
        print(name, version(name))
    except PackageNotFoundError:
        pass
"""
_COLUMNS = (
    Column("objects", "count"),
    Column("identical", "count"),
    Column("there, reported", "count"),
    Column("missing, reported", "count"),
    Column("not reported", "count"),
    Column("hung", "count"),
    Column("keeping, p50", "ms"),
    Column("going back, p50", "ms"),
    Column("kept for a cell, p50, KB"),
)

Results = Mapping[str, Sequence[Found]]
"""What each system made of the objects."""


def measure(sandbox: Sandbox) -> Measurement:
    if sandbox.kishu is None:
        return _measurement({}, "", Check(aim=_AIM, value=_MADE_BY, met=None))
    results = {
        system: msgspec.convert(run_host(sandbox, host, sandbox.kishu, seconds=_SECONDS)["found"], list[Found])
        for system, host in _HOSTS.items()
    }
    tried = tried_by_all(results)
    return _measurement(tried, _used(sandbox.kishu, results, tried), nothing_unreported(tried[_PISCES]))


def outcome(found: Found) -> Outcome:
    """Which of the four it is. An object that could not even be made without a hang is not reported."""
    if found.before is not None and found.after == found.before:
        return "identical"
    if not found.reported:
        return "not reported"
    return "present" if found.there else "missing"


def tried_by_all(results: Results) -> dict[str, list[Found]]:
    """Of each system those objects that every system could be tried with, or hung with."""
    able = [
        {(found.kind, found.name, found.way) for found in all_found if found.before is not None or found.hung}
        for all_found in results.values()
    ]
    common = set.intersection(*able)
    return {
        system: [found for found in all_found if (found.kind, found.name, found.way) in common]
        for system, all_found in results.items()
    }


def nothing_unreported(tried: Sequence[Found]) -> Check:
    """Whether all that is not identical was reported; the names of what was not."""
    ways = {way: title.partition(", ")[2] for system, way, title in _ROWS if system == _PISCES}
    wrong = [found for found in tried if outcome(found) == "not reported"]
    names = ", ".join(f"{found.kind}: {found.name} ({ways[found.way]})" for found in wrong)
    return Check(aim=_AIM, value=f"{len(wrong)} of {len(tried)}{names and f': {names}'}", met=not wrong)


def _measurement(tried: Results, used: str, check: Check) -> Measurement:
    return Measurement(
        title="Objects when a session goes back",
        how="An object is made in a cell, looked at in the next and changed in the one after; then the session goes "
        "back to before these two, and the object is looked at again. Once more, the kernel is killed after the "
        "object was made. Looking tells its value, what it does next, and what it shares with others; identical: it "
        "tells the same. What is there and not identical differs or fails. Reported: Pisces names the variable, or "
        "says that it cannot go back; for Kishu any text about an error counts. Keeping: what the cell that makes it "
        "and an empty one after it take beyond the code itself. Kept: the memory of a sleeping copy, and what Kishu "
        f"wrote down.{used}",
        columns=_COLUMNS,
        rows=tuple(
            row(f"{title}{group}", [one for one in tried[system] if one.way == way and _group_of(one) == group])
            for group in ("", _BESIDE_POLARS)
            for system, way, title in _ROWS
            if system in tried
        ),
        checks=(check,),
    )


def _group_of(found: Found) -> str:
    """Objects of sessions that use polars are counted apart: there Pisces brings the state back by value."""
    return _BESIDE_POLARS if found.kind.endswith("polars") else ""


def row(title: str, all_found: Sequence[Found]) -> Row:
    """The counts of a way, and its medians."""
    outcomes = [outcome(found) for found in all_found]
    kept = [found.kept_bytes / 1024 for found in all_found]
    return Row(
        title,
        (
            len(all_found),
            outcomes.count("identical"),
            outcomes.count("present"),
            outcomes.count("missing"),
            outcomes.count("not reported"),
            sum(found.hung for found in all_found),
            _median([found.keep_ms for found in all_found]),
            _median([found.back_ms for found in all_found]),
            _median(kept),
        ),
    )


def _median(figures: Sequence[float | None]) -> float | None:
    known = [figure for figure in figures if figure is not None]
    return percentile(known, 50) if known else None


def _used(interpreter: str, results: Results, tried: Results) -> str:
    """With which versions, and how many objects could not be tried."""
    done = subprocess.run([interpreter, "-c", _VERSIONS], capture_output=True, encoding="utf-8", timeout=60, check=True)
    objects = {(found.kind, found.name) for all_found in results.values() for found in all_found}
    left_out = len(objects - {(found.kind, found.name) for found in tried[_PISCES]})
    return (
        f" Of {len(objects)} objects {left_out} could not be made or changed by both, and are left out. "
        f"With {', '.join(done.stdout.split(chr(10))[:-1])}."
    )
