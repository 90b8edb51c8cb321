"""Magics that measure: `%time` and `%timeit`, for a line and for a cell."""

from __future__ import annotations

import os
from time import perf_counter

from .magic_options import integer, split_options
from .tracebacks import UsageError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from .builtin_shell import BuiltinShell

_REPEAT = 7
_UNITS = (("s", 1.0), ("ms", 1e-3), ("μs", 1e-6), ("ns", 1e-9))


class TimeitResult:
    """What `%timeit -o` returns: `loops` and `repeat`, and `all_runs` in seconds per run."""

    def __init__(self, loops: int, runs: list[float]) -> None:
        self.loops = loops
        self.repeat = len(runs)
        self.all_runs = runs
        self.timings = [run / loops for run in runs]
        self.best = min(self.timings)
        self.worst = max(self.timings)
        self.average = sum(self.timings) / len(runs)
        self.stdev = (sum((one - self.average) ** 2 for one in self.timings) / len(runs)) ** 0.5

    def __str__(self) -> str:
        runs, loops = ("s" if number != 1 else "" for number in (self.repeat, self.loops))
        return (
            f"{_duration(self.average)} ± {_duration(self.stdev)} per loop "
            f"(mean ± std. dev. of {self.repeat} run{runs}, {self.loops:,} loop{loops} each)"
        )

    def __repr__(self) -> str:
        return f"<TimeitResult : {self}>"


def time(shell: BuiltinShell, line: str) -> Any:
    """Run a statement once and tell how long it took: `%time STATEMENT`."""
    return _timed(shell, "%time", line)


def time_cell(shell: BuiltinShell, line: str, cell: str) -> Any:
    """Run the cell once and tell how long it took: `%%time`."""
    if line.strip():
        raise UsageError(f"%%time times the lines below it and takes none on its own line, not {line.strip()!r}.")
    return _timed(shell, "%%time", cell)


def timeit(shell: BuiltinShell, line: str) -> TimeitResult | None:
    """Run a statement many times and tell how long it takes: `%timeit [-n LOOPS] [-r RUNS] [-q] [-o] STATEMENT`."""
    options, statement = _timeit_options("%timeit", line)
    if not statement:
        raise UsageError("%timeit needs a statement to measure: %timeit [-n LOOPS] [-r RUNS] [-q] [-o] STATEMENT")
    return _measured(shell, options, statement, "pass")


def timeit_cell(shell: BuiltinShell, line: str, cell: str) -> TimeitResult | None:
    """Measure the cell; the rest of the first line prepares it: `%%timeit [-n LOOPS] [-r RUNS] [-q] [-o] [SETUP]`."""
    options, setup = _timeit_options("%%timeit", line)
    return _measured(shell, options, cell, setup or "pass")


def _timed(shell: BuiltinShell, magic: str, code: str) -> Any:
    if not code.strip():
        raise UsageError(f"{magic} needs code to measure.")
    before, started = _processor_time(), perf_counter()
    try:
        value = shell.evaluate(code, "timed")
    finally:
        wall, after = perf_counter() - started, _processor_time()
        user, system = after[0] - before[0], after[1] - before[1]
        print(f"CPU times: user {_duration(user)}, sys: {_duration(system)}, total: {_duration(user + system)}")
        print(f"Wall time: {_duration(wall)}")
    return None if code.rstrip().endswith(";") else value


def _processor_time() -> tuple[float, float]:
    """Seconds of this process in user code and in the system; `os.times` would count in steps of 10 ms."""
    try:
        from resource import RUSAGE_SELF, getrusage
    except ImportError:
        return os.times()[:2]
    usage = getrusage(RUSAGE_SELF)
    return usage.ru_utime, usage.ru_stime


def _timeit_options(magic: str, line: str) -> tuple[dict[str, str], str]:
    return split_options(magic, line, flags=("q", "o"), valued=("n", "r"))


def _measured(shell: BuiltinShell, options: dict[str, str], statement: str, setup: str) -> TimeitResult | None:
    from timeit import Timer

    from .transform import transform_cell

    repeat = integer("%timeit", options, "r", _REPEAT)
    loops = integer("%timeit", options, "n", 0)
    timer = Timer(transform_cell(statement).strip(), transform_cell(setup).strip(), globals=shell.namespace)
    if not loops:
        loops, _ = timer.autorange()
    result = TimeitResult(loops, timer.repeat(repeat, loops))
    if "q" not in options:
        print(result)
    return result if "o" in options else None


def _duration(seconds: float) -> str:
    """Three significant digits in the unit that suits; minutes and hours spelled out."""
    if seconds >= 60:
        minutes, rest = divmod(round(seconds), 60)
        hours, minutes = divmod(minutes, 60)
        return f"{hours}h {minutes}min {rest}s" if hours else f"{minutes}min {rest}s"
    unit, factor = next((one for one in _UNITS if seconds >= one[1]), _UNITS[-1])
    return f"{seconds / factor:.3g} {unit}"
