"""How long undo and branch take, and on what that depends."""

from bench.report import Check, Column, Measurement, Row, percentile
from bench.sandbox import Sandbox
from bench.state.host_process import run_host

_COUNT = 20
_AIM = 1.5
_STATES = {"small": "a variable", "worked": "a variable that 2 s of work went into", "big": "100 MB"}


def measure(sandbox: Sandbox) -> Measurement:
    samples = run_host(sandbox, "undo_and_branch", sandbox.ipython, str(_COUNT))

    def p50(kind: str, state: str) -> float:
        return percentile(samples[f"{kind} {state}"], 50) * 1e3

    times = p50("branch", "worked") / p50("branch", "small")
    return Measurement(
        title="Undo and branch",
        how="Calls of the session tool, IPython's shell, above a state that consists of what the row says; undo takes "
        f"back a cell that came after. Medians of {_COUNT}, taking turns.",
        columns=(Column("undo", "ms"), Column("branch", "ms"), Column("branch and its first result", "ms")),
        rows=tuple(
            Row(title, (p50("undo", state), p50("branch", state), p50("used", state)))
            for state, title in _STATES.items()
        ),
        checks=(
            Check(
                aim=f"a branch does not wait for what was computed: within {_AIM:g} times of one without work",
                value=f"{times:.2f} times",
                met=times <= _AIM,
            ),
        ),
    )
