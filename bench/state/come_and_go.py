"""Whether anything is left of sessions that have been closed, and how fast they come and go."""

from bench.report import Check, Column, Measurement, Row
from bench.sandbox import Sandbox
from bench.state.host_process import run_host

_SESSIONS = 1000
_AT_A_TIME = 16
_WHEN = {"while up": "sessions closed, runtime up", "afterwards": "runtime left"}


def measure(sandbox: Sandbox) -> Measurement:
    figures = run_host(sandbox, "come_and_go", sandbox.ipython, str(_SESSIONS), str(_AT_A_TIME))
    each_ms = figures["seconds"] / _SESSIONS * 1e3
    rows = tuple(_row(title, figures[when], each_ms if when == "while up" else None) for when, title in _WHEN.items())
    return Measurement(
        title=f"{_SESSIONS:,} sessions come and go",
        how=f"Each is started, runs 1+1 and is closed, {_AT_A_TIME} at a time; time of all, divided by their number. "
        "What is left: more than there was after a few sessions, and more than there was before the runtime.",
        columns=(
            Column("time of each", "ms"),
            Column("processes left", "count"),
            Column("descriptors left", "count"),
            Column("temporary files left", "count"),
        ),
        rows=rows,
        checks=tuple(_check(title, figures[when]) for when, title in _WHEN.items()),
    )


def _row(title: str, left: dict[str, int], each_ms: float | None) -> Row:
    return Row(title, (each_ms, left["processes"], left["descriptors"], left["files"]))


def _check(title: str, left: dict[str, int]) -> Check:
    remains = ", ".join(f"{count} {what}" for what, count in left.items() if count > 0)
    return Check(
        aim=f"{title}: no process, descriptor or temporary file left", value=remains or "none", met=not remains
    )
