"""Those that are compared where notebooks are, and running the program of one of them."""

import subprocess
import sys
import time
from pathlib import Path

import msgspec

from bench.report import percentile
from bench.sandbox import ROOT, Sandbox

NOT_THERE = "`make environments` has not made the environment with nbformat and nbclient"
OURS = (sys.executable, "-m", "bench.notebooks.ours")
THEIRS = ("-m", "bench.notebooks.theirs")
_SECONDS = 300.0


class Figures(msgspec.Struct):
    """What a program measured; of all rounds together once they have been added up."""

    seconds: list[float] = []
    growth_mb: float = 0.0

    def add(self, other: "Figures") -> None:
        self.seconds += other.seconds
        self.growth_mb = max(self.growth_mb, other.growth_mb)

    @property
    def median(self) -> float:
        return percentile(self.seconds, 50)


def run_program(sandbox: Sandbox, *command: str) -> Figures:
    """What the program printed. Raises `RuntimeError` as `time_process` does."""
    return msgspec.json.decode(_run(sandbox, command), type=Figures)


def time_process(sandbox: Sandbox, *command: str) -> Figures:
    """How long the process lives. Raises `RuntimeError` when it fails, with the last line of what it said."""
    began = time.perf_counter()
    _run(sandbox, command)
    return Figures([time.perf_counter() - began])


def _run(sandbox: Sandbox, command: tuple[str, ...]) -> str:
    done = subprocess.run(
        command, cwd=ROOT, env=sandbox.environ, capture_output=True, encoding="utf-8", timeout=_SECONDS, check=False
    )
    if done.returncode:
        words = (done.stderr or done.stdout).strip().splitlines()
        raise RuntimeError(words[-1] if words else f"exit code {done.returncode}")
    return done.stdout


def versions(interpreter: str) -> str:
    """The versions of what is compared with, in words."""
    names = ("nbformat", "nbclient", "ipykernel")
    code = f"from importlib.metadata import version; print(', '.join(f'{{n}} {{version(n)}}' for n in {names!r}))"
    done = subprocess.run([interpreter, "-c", code], capture_output=True, encoding="utf-8", timeout=60, check=True)
    return done.stdout.strip()


def folder_of(sandbox: Sandbox) -> Path:
    """Where the notebooks are, while they are."""
    folder = sandbox.root / "notebooks"
    folder.mkdir(exist_ok=True)
    return folder
