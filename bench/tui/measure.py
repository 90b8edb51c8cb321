"""From a key to its letter on the screen: with little to show, with much, and while more comes."""

import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import msgspec

from bench.report import Check, Column, Measurement, Row, percentile
from bench.sandbox import ROOT, Sandbox
from bench.tui.long_journal import add_cells
from bench.tui.terminal import Terminal

_KEYS = 60
_CELLS = 10_000
_FLOOD = "any(print('x' * 99) for _ in range(1_000_000)); open({over!r}, 'w').close()"
"""Prints 100 MB, and leaves a file when it has."""
_PAGE_UP = b"\x1b[5~"
_TO_THE_HISTORY = b"\x1b[Z"
_AIM_MS = 50.0
_AIM_MB = 250.0
_LONGEST = 120.0


class _Figures(msgspec.Struct, frozen=True):
    seconds: list[float]
    memory: float | None = None


def measure(sandbox: Sandbox) -> Measurement:
    found: dict[str, _Figures] = {}
    with _floor(sandbox) as terminal:
        found["a TextArea alone"] = _Figures(_keys(terminal), terminal.memory)
    with _ui(sandbox, "short") as terminal:
        found["an empty session"] = _Figures(_keys(terminal), terminal.memory)
    add_cells(_journal(sandbox, "long"), _CELLS)
    with _ui(sandbox, "long") as terminal:
        found[f"{_CELLS:,} cells"] = _Figures(_keys(terminal), terminal.memory)
        terminal.send(_TO_THE_HISTORY)
        terminal.quiet()
        scrolled = [terminal.press(_PAGE_UP) for _ in range(_KEYS)]
        found["scrolling them, a page a key"] = _Figures(scrolled, terminal.memory)
    with _ui(sandbox, "long") as terminal:
        typed = _keys_in_floods(sandbox, terminal, lambda: terminal.paste(_flood(sandbox)))
        found["while one's own cell prints 100 MB"] = _Figures(typed, terminal.memory)
    with _ui(sandbox, "watched") as terminal:
        typed = _keys_in_floods(sandbox, terminal, lambda: _flood_by_another(sandbox, "watched"))
        found["while another program's cell does"] = _Figures(typed, terminal.memory)
    _pisces(sandbox, "host", "stop", "--force")
    return Measurement(
        title="Keys in the terminal UI",
        how=f"The UI in a terminal of 100x30: {_KEYS} letters typed into the editor one at a time, each timed until it "
        f"is on the screen; for scrolling, until the screen begins to change. The history has {_CELLS:,} cells where "
        "it says so, and while 100 MB are printed.",
        columns=(Column("p50", "ms"), Column("p95", "ms"), Column("worst", "ms"), Column("memory", "MB")),
        rows=tuple(_row(name, figures) for name, figures in found.items()),
        checks=tuple(_checks(found)),
    )


def _row(name: str, figures: _Figures) -> Row:
    times = [1e3 * percentile(figures.seconds, percent) for percent in (50, 95, 100)]
    return Row(name, (*times, None if figures.memory is None else figures.memory / 1e6))


def _checks(found: dict[str, _Figures]) -> Iterator[Check]:
    for name, figures in list(found.items())[1:]:
        late = 1e3 * percentile(figures.seconds, 95)
        yield Check(aim=f"{name}: p95 at most {_AIM_MS:g} ms", value=f"{late:.1f} ms", met=late <= _AIM_MS)
    most = max(figures.memory or 0.0 for figures in found.values()) / 1e6
    yield Check(aim=f"memory at most {_AIM_MB:g} MB", value=f"{most:.0f} MB", met=most <= _AIM_MB)


def _keys(terminal: Terminal) -> list[float]:
    return [terminal.type_one(number) for number in range(_KEYS)]


def _keys_in_floods(sandbox: Sandbox, terminal: Terminal, begin: Callable[[], object]) -> list[float]:
    """Keys that were typed while a cell printed, over as many such cells as it takes."""
    seconds: list[float] = []
    over = sandbox.root / "over"
    while len(seconds) < _KEYS:
        over.unlink(missing_ok=True)
        begin()
        until = time.monotonic() + _LONGEST
        while not over.exists():
            seconds.append(terminal.type_one(len(seconds)))
            if time.monotonic() > until:
                raise TimeoutError("the cell that prints never ended")
        terminal.quiet(0.5, 10.0)
    return seconds


@contextmanager
def _floor(sandbox: Sandbox) -> Iterator[Terminal]:
    with Terminal((sys.executable, "-m", "bench.tui.floor"), sandbox.environ, str(ROOT)) as terminal:
        terminal.until(b"ready")
        terminal.quiet()
        yield terminal


@contextmanager
def _ui(sandbox: Sandbox, session: str) -> Iterator[Terminal]:
    """The UI, with a session that has had a cell."""
    _journal(sandbox, session)
    command = (sys.executable, "-m", "pisces", "ui", "--session", session)
    with Terminal(command, sandbox.environ, str(sandbox.root)) as terminal:
        terminal.until(session.encode())
        terminal.quiet(1.0, 20.0)
        yield terminal


def _journal(sandbox: Sandbox, session: str) -> Path:
    """Where what happens in a session is written down; it is made if need be."""
    root = Path(sandbox.environ["HOME"]) / ".pisces"
    if not list(root.glob(f"**/{session}/*.jsonl")):
        _pisces(sandbox, "run", "--session", session, "-c", "print('first')")
    return max(root.glob(f"**/{session}/*.jsonl"))


def _flood(sandbox: Sandbox) -> str:
    return _FLOOD.format(over=str(sandbox.root / "over"))


def _flood_by_another(sandbox: Sandbox, session: str) -> None:
    """It goes on in the host, as a job."""
    _pisces(sandbox, "run", "--session", session, "--background", "--timeout", "100", "-c", _flood(sandbox))


def _pisces(sandbox: Sandbox, *arguments: str) -> None:
    command = (sys.executable, "-m", "pisces", *arguments)
    subprocess.run(command, env=sandbox.environ, cwd=sandbox.root, check=True, capture_output=True, timeout=_LONGEST)
