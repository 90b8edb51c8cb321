"""Running a host program to its end and reading what it measured."""

import subprocess
import sys
from typing import Any

import msgspec

from bench.sandbox import ROOT, Sandbox

_SECONDS = 120.0


def run_host(sandbox: Sandbox, name: str, *arguments: str, seconds: float = _SECONDS) -> dict[str, Any]:
    """What the program of that name in `bench.state.hosts` printed; its own errors go where ours do."""
    done = subprocess.run(
        [sys.executable, "-m", f"bench.state.hosts.{name}", *arguments],
        cwd=ROOT,
        env=sandbox.environ,
        stdout=subprocess.PIPE,
        encoding="utf-8",
        timeout=seconds,
        check=True,
    )
    figures: dict[str, Any] = msgspec.json.decode(done.stdout)
    return figures


def run_in_turns(sandbox: Sandbox, rounds: int, *programs: tuple[str, ...]) -> dict[str, list[float]]:
    """Run each program once in every round; the samples of all rounds, by the name that the program gave them.

    Programs that are compared take turns, so that a busy moment of the machine hits all of them.
    """
    samples: dict[str, list[float]] = {}
    for _ in range(rounds):
        for program in programs:
            for name, values in run_host(sandbox, *program).items():
                samples.setdefault(name, []).extend(values)
    return samples
