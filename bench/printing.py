"""Printing much: seconds, growth of the host's memory, and whether every byte is there afterwards."""

import hashlib
from collections.abc import Iterable
from typing import Any

import msgspec

from bench.report import Check, Column, Measurement, Row, percentile
from bench.sandbox import Sandbox
from bench.subject_process import SubjectProcess

_GROWTH_AIM = 32.0
_PIPE = "bare pipe, 64 KiB buffer"
_WARM_UP = 5


class Printing(msgspec.Struct, frozen=True, kw_only=True):
    """A measurement of printing: the code that prints, and what it prints."""

    title: str
    code: str
    printed: "Printed"
    rounds: int
    pipe_aim: float | None = None
    """How many times as long as the bare pipe it may take."""


class Printed(msgspec.Struct, frozen=True):
    """What the code is known to print."""

    size: int
    sha256: str

    @classmethod
    def lines(cls, lines: Iterable[str]) -> "Printed":
        size, digest = 0, hashlib.sha256()
        for line in lines:
            data = line.encode() + b"\n"
            size += len(data)
            digest.update(data)
        return cls(size, digest.hexdigest())


def measure_printing(sandbox: Sandbox, printing: Printing) -> Measurement:
    """Each subject prints the same, in a fresh host process each time, taking turns."""
    subjects = {
        "Pisces, IPython's shell": ("pisces", sandbox.ipython),
        "Pisces, built-in shell": ("pisces", sandbox.plain),
        "ipykernel, jupyter_client": ("ipykernel",),
        _PIPE: ("pipe", "65536"),
        "bare pipe, 8 KiB (Python's own)": ("pipe", "8192"),
    }
    answers: dict[str, list[dict[str, Any]]] = {name: [] for name in subjects}
    for _ in range(printing.rounds):
        for name, subject in subjects.items():
            with SubjectProcess(sandbox, *subject) as process:
                process.round_trips(_WARM_UP)
                answers[name].append(process.output(printing.code))
    seconds = {name: percentile([answer["seconds"] for answer in given], 50) for name, given in answers.items()}
    rows = tuple(
        Row(name, (seconds[name], seconds[name] / seconds[_PIPE], _growth(given), float(_complete(given, printing))))
        for name, given in answers.items()
    )
    return Measurement(
        title=printing.title,
        how=f"{printing.printed.size:,} bytes, a fresh host process each time, taking turns; "
        f"median seconds and largest growth of {printing.rounds}.",
        columns=(
            Column("time", "s"),
            Column("times the bare pipe"),
            Column("growth of the host", "MB"),
            Column("complete", "yes/no"),
        ),
        rows=rows,
        checks=tuple(_checks(rows, printing)),
    )


def _growth(answers: list[dict[str, Any]]) -> float:
    return max(float(answer["growth_mb"]) for answer in answers)


def _complete(answers: list[dict[str, Any]], printing: Printing) -> bool:
    """Every byte came; and where the host keeps the text, it is the same text."""
    printed = printing.printed
    return all(answer["size"] == printed.size and answer["sha256"] in (None, printed.sha256) for answer in answers)


def _checks(rows: tuple[Row, ...], printing: Printing) -> Iterable[Check]:
    for row in rows:
        if not row.subject.startswith("Pisces"):
            continue
        _, times, growth, complete = row.figures
        if times is None or growth is None:
            continue
        if printing.pipe_aim is not None:
            aim = f"{row.subject}: within {printing.pipe_aim:g} times the bare pipe"
            yield Check(aim=aim, value=f"{times:.2f} times", met=times <= printing.pipe_aim)
        aim = f"{row.subject}: host growth under {_GROWTH_AIM:g} MB"
        yield Check(aim=aim, value=f"{growth:.1f} MB", met=growth < _GROWTH_AIM)
        value = "size and SHA-256 agree" if complete else "the artifact differs from what was printed"
        yield Check(aim=f"{row.subject}: no byte missing in the artifact", value=value, met=bool(complete))
