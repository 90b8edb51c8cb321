"""What a run of the benchmark found, as values, and the few statistics it needs."""

from collections.abc import Sequence
from typing import Literal

import msgspec

Unit = Literal["s", "ms", "µs", "MB", "", "count", "%", "yes/no"]


class Column(msgspec.Struct, frozen=True):
    """One kind of figure."""

    name: str
    unit: Unit = ""


class Row(msgspec.Struct, frozen=True):
    """The figures of one of those compared, one for each column; None where it has none."""

    subject: str
    figures: tuple[float | None, ...]


class Check(msgspec.Struct, frozen=True):
    """An aim, and what was measured of it. `met` is None when it could not be measured; `value` then says why."""

    aim: str
    value: str
    met: bool | None


class Measurement(msgspec.Struct, frozen=True, kw_only=True):
    """One measurement of all that are compared."""

    title: str
    how: str
    """What was done, how often, and which statistic the figures are."""
    columns: tuple[Column, ...]
    rows: tuple[Row, ...]
    checks: tuple[Check, ...] = ()


class Facts(msgspec.Struct, frozen=True, kw_only=True):
    """Under which circumstances the figures came about."""

    date: str
    cores: int
    system: str
    python: str
    versions: dict[str, str]
    load_before: float
    """Processes that wanted to run in the minute before: above zero, somebody else was at work too."""


class Report(msgspec.Struct, frozen=True, kw_only=True):
    """One run of the benchmark."""

    facts: Facts
    measurements: list[Measurement]
    seconds: float


def percentile(values: Sequence[float], percent: float) -> float:
    """The smallest value that at least that percentage of the values do not exceed."""
    ordered = sorted(values)
    rank = -(-len(ordered) * percent // 100)
    return ordered[max(0, int(rank) - 1)]
