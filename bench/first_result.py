"""From nothing to the first result: how long after its start a program has the value of `1+1`."""

import subprocess
import sys
import time

from bench.report import Column, Measurement, Row, percentile
from bench.sandbox import ROOT, Sandbox
from bench.subject_process import end, read_line

_ROUNDS = 7
_SECONDS = 60.0


def measure(sandbox: Sandbox) -> Measurement:
    programs = {
        "Pisces, IPython's shell": ["-m", "bench.programs.pisces_first", sandbox.ipython],
        "Pisces, built-in shell": ["-m", "bench.programs.pisces_first", sandbox.plain],
        "ipykernel, jupyter_client": ["-m", "bench.programs.ipykernel_first"],
        "python -c, no session": ["-c", "print(1+1, flush=True)"],
    }
    seconds: dict[str, list[float]] = {name: [] for name in programs}
    for round_number in range(_ROUNDS + 1):
        for name, program in programs.items():
            taken = _until_first_line(sandbox, program)
            if round_number:  # The first round fills the caches of the file system and of the interpreters' probes.
                seconds[name].append(taken)
    return Measurement(
        title="From nothing to the first result",
        how=f"A new process each time, until it has printed 1+1; median and best of {_ROUNDS}, taking turns.",
        columns=(Column("median", "ms"), Column("best", "ms")),
        rows=tuple(Row(name, (percentile(taken, 50) * 1e3, min(taken) * 1e3)) for name, taken in seconds.items()),
    )


def _until_first_line(sandbox: Sandbox, program: list[str]) -> float:
    began = time.perf_counter()
    process = subprocess.Popen(
        [sys.executable, *program], cwd=ROOT, env=sandbox.environ, stdout=subprocess.PIPE, encoding="utf-8"
    )
    try:
        answer = read_line(process, _SECONDS)
        taken = time.perf_counter() - began
    finally:
        end(process)
    if answer != "2\n":
        raise RuntimeError(f"{' '.join(program)} printed {answer!r} for 1+1")
    return taken
