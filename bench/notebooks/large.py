"""What is done to a notebook of 50 MB: one cell edited, one put in, all of it read and written as text."""

import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import get_args

from bench.notebooks.compared import NOT_THERE, OURS, THEIRS, Figures, folder_of, run_program, versions
from bench.notebooks.samples import Kind, edited_source, write_large
from bench.report import Check, Column, Measurement, Row
from bench.sandbox import Sandbox

_ROUNDS = 5
_COUNT = 2
_AIM = 5.0
_PISCES, _NBFORMAT, _JSON, _FILE = "pisces", "nbformat", "json", "file"
_NAMES = {
    _PISCES: "Pisces",
    _NBFORMAT: "nbformat",
    _JSON: "json, nothing checked or synced",
    _FILE: "the bare file, synced, nothing edited",
}
_KINDS: dict[Kind, str] = {"pictures": "ten pictures", "lines": "1.2 million lines"}
_OTHERS = {"insert": "insert a cell", "read": "read as text", "write": "write as text"}
_COLUMNS = (Column("median", "ms"), Column("best", "ms"), Column("times nbformat's speed"), Column("growth", "MB"))
_HOW = (
    f"50 MB in Jupyter's layout; {_ROUNDS} processes of each, taking turns, which do it {_COUNT} times after once with "
    "a small notebook. Growth is the most that the peak of the process's memory rose at the first time. Before each "
    "time the disk has been synced. Pisces replaces the file in one step and syncs it within the time; nbformat does "
    "neither."
)


def measure_edit(sandbox: Sandbox) -> Measurement:
    rows: list[Row] = []
    checks: list[Check] = []
    for kind, name in _KINDS.items():
        figures = _figures(sandbox, "edit", kind, tuple(_NAMES))
        rows += _rows(figures, name)
        checks.append(_check(figures, name))
    return Measurement(
        title="One cell edited in a notebook of 50 MB",
        how=f"The `notebook` tool beside nbformat's read, change and write. {_HOW}{_versions(sandbox)}",
        columns=_COLUMNS,
        rows=tuple(rows),
        checks=tuple(checks),
    )


def measure_others(sandbox: Sandbox) -> Measurement:
    rows: list[Row] = []
    for operation, done in _OTHERS.items():
        for kind, name in _KINDS.items():
            rows += _rows(_figures(sandbox, operation, kind, (_PISCES, _NBFORMAT)), f"{done}, {name}")
    return Measurement(
        title="A notebook of 50 MB: a new cell, and its text",
        how="The `notebook`, `read` and `write` tools. Beside `read`, nbformat reads and joins the sources; beside "
        f"`write`, it reads, sets every source and writes. {_HOW}{_versions(sandbox)}",
        columns=_COLUMNS,
        rows=tuple(rows),
    )


def _figures(sandbox: Sandbox, operation: str, kind: Kind, subjects: Sequence[str]) -> dict[str, Figures]:
    """By subject. Each has a file of its own; none is left."""
    if sandbox.notebooks is None:
        return {}
    assert kind in get_args(Kind)
    folder = folder_of(sandbox)
    original = folder / "original.ipynb"
    write_large(original, kind)
    files = {subject: folder / f"{subject}.ipynb" for subject in subjects}
    for path in files.values():
        shutil.copyfile(original, path)
    figures = {subject: Figures() for subject in subjects}
    try:
        for _ in range(_ROUNDS):
            for subject, path in files.items():
                command = OURS if subject == _PISCES else (sandbox.notebooks, *THEIRS, subject)
                figures[subject].add(run_program(sandbox, *command, operation, kind, str(path), str(_COUNT)))
        for subject in set(subjects) - {_FILE}:
            _must_have_changed(original, files[subject], changes=operation != "read")
    finally:
        shutil.rmtree(folder)
    return figures


def _must_have_changed(original: Path, path: Path, *, changes: bool) -> None:
    """Raises `RuntimeError` when a file is not what it must be after what was measured."""
    data = path.read_bytes()
    new = edited_source(_COUNT - 1).splitlines()[1].encode()
    if not changes and data != original.read_bytes():
        raise RuntimeError(f"reading {path.name} changed it")
    if changes and (new not in data or abs(len(data) - original.stat().st_size) > 10_000):
        raise RuntimeError(f"{path.name} does not have the change that was measured")


def _rows(figures: dict[str, Figures], what: str) -> list[Row]:
    return [
        Row(
            f"{what}: {_NAMES[subject]}",
            (
                found.median * 1e3,
                min(found.seconds) * 1e3,
                figures[_NBFORMAT].median / found.median,
                found.growth_mb,
            ),
        )
        for subject, found in figures.items()
    ]


def _check(figures: dict[str, Figures], what: str) -> Check:
    aim = f"{what}: an edit at least {_AIM:g} times faster than with nbformat"
    if not figures:
        return Check(aim=aim, value=NOT_THERE, met=None)
    times = figures[_NBFORMAT].median / figures[_PISCES].median
    return Check(aim=aim, value=f"{times:.1f} times", met=times >= _AIM)


def _versions(sandbox: Sandbox) -> str:
    return "" if sandbox.notebooks is None else f" With {versions(sandbox.notebooks)}."
