"""From the call to the first result of a fresh Python, when everything else is up."""

from bench.report import Check, Column, Measurement, Row, percentile
from bench.sandbox import Sandbox
from bench.state.host_process import run_in_turns

_ROUNDS = 3
_COUNT = 20
_STARTS = 2
_AIM_MS = 10.0
_TIMES_AIM = 50.0

_FRESH = {"new": "Pisces, new session", "reset": "Pisces, reset: true", "per-call": "Pisces, per-call mode"}
_OTHERS = {
    "close": "Pisces, closing a session",
    "bare fork": "bare fork, IPython loaded",
    "ipykernel": "ipykernel, jupyter_client",
}


def measure(sandbox: Sandbox) -> Measurement:
    samples = run_in_turns(
        sandbox,
        _ROUNDS,
        ("new_session", sandbox.ipython, str(_COUNT)),
        ("bare_fork", sandbox.ipython, str(_COUNT)),
        ("ipykernel_start", str(_STARTS)),
    )
    p50 = {name: percentile(taken, 50) * 1e3 for name, taken in samples.items()}
    times = {name: p50["ipykernel"] / p50[name] for name in p50}
    rows = tuple(
        Row(title, (p50[name], percentile(samples[name], 95) * 1e3, None if name == "close" else times[name]))
        for name, title in {**_FRESH, **_OTHERS}.items()
    )
    return Measurement(
        title="A fresh Python, warm",
        how=f"From the call to the result of 1+1, IPython's shell; {_ROUNDS * _COUNT} each after some that are not "
        f"counted, {_ROUNDS * _STARTS} of ipykernel, taking turns. `reset` "
        "ends the kernel of before within that time, and per-call mode its own.",
        columns=(Column("p50", "ms"), Column("p95", "ms"), Column("times faster than ipykernel")),
        rows=rows,
        checks=tuple(check for name in _FRESH for check in _checks(_FRESH[name], p50[name], times[name])),
    )


def _checks(title: str, p50: float, times: float) -> tuple[Check, ...]:
    return (
        Check(aim=f"{title}: p50 at most {_AIM_MS:g} ms", value=f"{p50:.1f} ms", met=p50 <= _AIM_MS),
        Check(
            aim=f"{title}: at least {_TIMES_AIM:g} times faster than ipykernel",
            value=f"{times:.0f} times",
            met=times >= _TIMES_AIM,
        ),
    )
