"""What a user waits for before anything happens: the import of the library, and a run from the command line."""

import subprocess
import sys
import time

from bench.report import Check, Column, Measurement, Row, percentile
from bench.sandbox import ROOT, Sandbox

_ROUNDS = 5
_IMPORT_AIM_MS = 100.0
_COMMAND_AIM_MS = 300.0
_SECONDS = 60


def measure(sandbox: Sandbox) -> Measurement:
    bare, imported = _import_times(sandbox)
    importing = (min(imported) - min(bare)) * 1e3
    command, problem = _command_times(sandbox)
    running = percentile(command, 50) * 1e3 if command else None
    return Measurement(
        title="Import and command line",
        how=f"New processes; the import is the best of {_ROUNDS} less the best of a bare Python, "
        f"the command the median of {_ROUNDS} after one that is not counted.",
        columns=(Column("time", "ms"),),
        rows=(
            Row("python -c pass", (min(bare) * 1e3,)),
            Row("from pisces import Runtime", (importing,)),
            Row(f"{' '.join(_launcher(short=True))} run -c 1+1", (running,)),
        ),
        checks=(
            Check(
                aim=f"from pisces import Runtime under {_IMPORT_AIM_MS:g} ms",
                value=f"{importing:.0f} ms",
                met=importing < _IMPORT_AIM_MS,
            ),
            Check(
                aim=f"pisces run -c 1+1, second time, under {_COMMAND_AIM_MS:g} ms",
                value=problem if running is None else f"{running:.0f} ms",
                met=None if running is None else running < _COMMAND_AIM_MS,
            ),
        ),
    )


def _import_times(sandbox: Sandbox) -> tuple[list[float], list[float]]:
    bare: list[float] = []
    imported: list[float] = []
    for _ in range(_ROUNDS):
        bare.append(_run(sandbox, [sys.executable, "-c", "pass"])[0])
        imported.append(_run(sandbox, [sys.executable, "-c", "from pisces import Runtime"])[0])
    return bare, imported


def _command_times(sandbox: Sandbox) -> tuple[list[float], str]:
    """Seconds of each run; or none, and why it could not be run."""
    command = [*_launcher(), "run", "-c", "1+1"]
    _, first = _run(sandbox, command, check=False)
    if first.returncode or first.stdout.strip() != "2":
        words = (first.stderr or first.stdout).strip().splitlines()
        return [], f"the command does not work here: {words[-1] if words else f'exit code {first.returncode}'}"
    return [_run(sandbox, command)[0] for _ in range(_ROUNDS)], ""


def _launcher(*, short: bool = False) -> list[str]:
    """The launcher where it has made its environment already: making one is not what is measured."""
    if (ROOT / ".venv").exists():
        return ["./pisces" if short else str(ROOT / "pisces")]
    return ["python" if short else sys.executable, "-m", "pisces"]


def _run(sandbox: Sandbox, command: list[str], *, check: bool = True) -> tuple[float, subprocess.CompletedProcess[str]]:
    began = time.perf_counter()
    done = subprocess.run(
        command,
        cwd=sandbox.root,
        env=sandbox.environ,
        check=check,
        capture_output=True,
        encoding="utf-8",
        timeout=_SECONDS,
    )
    return time.perf_counter() - began, done
