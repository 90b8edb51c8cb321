"""From a crash to the next result."""

from bench.report import Check, Column, Measurement, Row, percentile
from bench.sandbox import Sandbox
from bench.state.host_process import run_in_turns

_ROUNDS = 3
_COUNT = 15
_RESTARTS = 2
_AIM_MS = 20.0
_ROWS = {
    "both": "Pisces, crash to the next result, state kept",
    "crash": "of it the call that crashes, until restored",
    "next": "of it the next call",
    "ipykernel": "ipykernel, started again, state gone",
}


def measure(sandbox: Sandbox) -> Measurement:
    samples = run_in_turns(
        sandbox, _ROUNDS, ("crash", sandbox.ipython, str(_COUNT)), ("ipykernel_crash", str(_RESTARTS))
    )
    p50 = percentile(samples["both"], 50) * 1e3
    return Measurement(
        title="Crash to the next result",
        how="From the call of a cell that ends its process with SIGSEGV to the result of the next call, which needs a "
        f"variable of before; small heap, checkpoint auto, {_ROUNDS * _COUNT} times. ipykernel is started again "
        f"without waiting until anybody has noticed, {_ROUNDS * _RESTARTS} times, taking turns.",
        columns=(Column("p50", "ms"), Column("p95", "ms")),
        rows=tuple(
            Row(title, (percentile(samples[name], 50) * 1e3, percentile(samples[name], 95) * 1e3))
            for name, title in _ROWS.items()
        ),
        checks=(Check(aim=f"p50 at most {_AIM_MS:g} ms", value=f"{p50:.1f} ms", met=p50 <= _AIM_MS),),
    )
