"""What a user waits for before anything happens: the import of the library, and a run from the command line."""

import os
import subprocess
import sys
import time
from collections.abc import Mapping

from bench.report import Check, Column, Measurement, Row, percentile
from bench.sandbox import ROOT, Sandbox

_ROUNDS = 5
_IMPORT_AIM_MS = 100.0
_COMMAND_AIM_MS = 300.0
_SECONDS = 60


def measure(sandbox: Sandbox) -> Measurement:
    bare, importing = _import_ms(sandbox)
    rows = [Row("python -c pass", (bare,)), Row("from pisces import Runtime", (importing,))]
    checks = [
        Check(
            aim=f"from pisces import Runtime under {_IMPORT_AIM_MS:g} ms",
            value=f"{importing:.0f} ms",
            met=importing < _IMPORT_AIM_MS,
        )
    ]
    for whose, environ in _environments(sandbox).items():
        name = f"{_launcher_name()} run -c 1+1, {whose}"
        taken, problem = _command_ms(sandbox, environ)
        rows.append(Row(name, (taken,)))
        checks.append(_command_check(name, taken, problem))
    return Measurement(
        title="Import and command line",
        how=f"New processes; the import is the best of {_ROUNDS} less the best of a bare Python, "
        f"the command the median of {_ROUNDS} after one that is not counted.",
        columns=(Column("time", "ms"),),
        rows=tuple(rows),
        checks=tuple(checks),
    )


def _environments(sandbox: Sandbox) -> dict[str, Mapping[str, str]]:
    """By whose Python is found first. The last is the command as a user of this machine has it: the others tell what
    of its time is ours, and what is the import of whatever IPython that Python has.
    """

    def finding(interpreter: str) -> Mapping[str, str]:
        path = os.pathsep.join((os.path.dirname(interpreter), sandbox.environ["PATH"]))
        return {**sandbox.environ, "PATH": path}

    return {
        "IPython's shell": finding(sandbox.ipython),
        "built-in shell": finding(sandbox.plain),
        "first Python on PATH": sandbox.environ,
    }


def _command_check(name: str, taken: float | None, problem: str) -> Check:
    return Check(
        aim=f"{name}, second time, under {_COMMAND_AIM_MS:g} ms",
        value=problem if taken is None else f"{taken:.0f} ms",
        met=None if taken is None else taken < _COMMAND_AIM_MS,
    )


def _import_ms(sandbox: Sandbox) -> tuple[float, float]:
    """What a bare Python takes, and what the import adds."""
    bare: list[float] = []
    imported: list[float] = []
    for _ in range(_ROUNDS):
        bare.append(_run([sys.executable, "-c", "pass"], sandbox, sandbox.environ)[0])
        imported.append(_run([sys.executable, "-c", "from pisces import Runtime"], sandbox, sandbox.environ)[0])
    return min(bare) * 1e3, (min(imported) - min(bare)) * 1e3


def _command_ms(sandbox: Sandbox, environ: Mapping[str, str]) -> tuple[float | None, str]:
    """The median; or none, and why the command could not be run."""
    command = [*_launcher(), "run", "-c", "1+1"]
    _, first = _run(command, sandbox, environ, check=False)
    if first.returncode or first.stdout.strip() != "2":
        words = (first.stderr or first.stdout).strip().splitlines()
        return None, f"the command does not work here: {words[-1] if words else f'exit code {first.returncode}'}"
    return percentile([_run(command, sandbox, environ)[0] for _ in range(_ROUNDS)], 50) * 1e3, ""


def _launcher() -> list[str]:
    """The launcher where it has made its environment already: making one is not what is measured."""
    return [str(ROOT / "pisces")] if (ROOT / ".venv").exists() else [sys.executable, "-m", "pisces"]


def _launcher_name() -> str:
    return "./pisces" if (ROOT / ".venv").exists() else "python -m pisces"


def _run(
    command: list[str], sandbox: Sandbox, environ: Mapping[str, str], *, check: bool = True
) -> tuple[float, subprocess.CompletedProcess[str]]:
    began = time.perf_counter()
    done = subprocess.run(
        command,
        cwd=sandbox.root,
        env=environ,
        check=check,
        capture_output=True,
        encoding="utf-8",
        timeout=_SECONDS,
    )
    return time.perf_counter() - began, done
