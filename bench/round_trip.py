"""`1+1` in a session that is up: through the whole tool, through jupyter_client, through a bare pipe."""

from contextlib import ExitStack

from bench.report import Check, Column, Measurement, Row, percentile
from bench.sandbox import Sandbox
from bench.subject_process import SubjectProcess

_WARM_UP = 50
_TURN = 25
_TURNS = 20
_AIM = 15.0

_PISCES = "Pisces, IPython's shell"
_PISCES_OFF = "Pisces, IPython's shell, checkpoint off"
_IPYKERNEL = "ipykernel, jupyter_client"


def measure(sandbox: Sandbox) -> Measurement:
    subjects = {
        _PISCES: ("pisces", sandbox.ipython),
        _PISCES_OFF: ("pisces", sandbox.ipython, "off"),
        "Pisces, built-in shell": ("pisces", sandbox.plain),
        _IPYKERNEL: ("ipykernel",),
        "bare pipe": ("pipe", "65536"),
    }
    seconds: dict[str, list[float]] = {name: [] for name in subjects}
    with ExitStack() as stack:
        processes = {name: stack.enter_context(SubjectProcess(sandbox, *subject)) for name, subject in subjects.items()}
        for process in processes.values():
            process.round_trips(_WARM_UP)
        for _ in range(_TURNS):
            for name, process in processes.items():
                seconds[name] += process.round_trips(_TURN)
    medians = {name: percentile(taken, 50) for name, taken in seconds.items()}
    rows = tuple(
        Row(name, (medians[name] * 1e6, percentile(taken, 95) * 1e6, medians[_IPYKERNEL] / medians[name]))
        for name, taken in seconds.items()
    )
    return Measurement(
        title="1+1 through the whole tool",
        how=f"{_TURN * _TURNS} after {_WARM_UP} each, taking turns every {_TURN}. Each call comes as soon as the one "
        "before is done, while the checkpoint of after it is still being made.",
        columns=(Column("p50", "µs"), Column("p95", "µs"), Column("times faster than ipykernel")),
        rows=rows,
        checks=tuple(_check(name, medians[_IPYKERNEL] / medians[name]) for name in (_PISCES, _PISCES_OFF)),
    )


def _check(name: str, times_faster: float) -> Check:
    return Check(
        aim=f"{name}: at least {_AIM:g} times faster than ipykernel",
        value=f"{times_faster:.1f} times",
        met=times_faster >= _AIM,
    )
