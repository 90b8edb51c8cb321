"""`1+1` on a Jupyter kernel that is up: directly, through our gateway, through the stock one."""

from contextlib import ExitStack

from bench.jupyter.compared import EXTERNAL, IPYKERNEL, LOCAL, NOT_THERE, STOCK, ZMQ, open_process, stop_local_gateway
from bench.report import Check, Column, Measurement, Row, percentile
from bench.sandbox import Sandbox

_WARM_UP = 50
_TURN = 25
_TURNS = 16
_AIM = 1.3
_COMPARED = (ZMQ, LOCAL, EXTERNAL, IPYKERNEL, STOCK)


def measure(sandbox: Sandbox) -> Measurement:
    seconds = _seconds(sandbox) if sandbox.jupyter is not None else {}
    medians = {name: percentile(taken, 50) for name, taken in seconds.items()}
    return Measurement(
        title="1+1 on a Jupyter kernel",
        how=f"{_TURN * _TURNS} after {_WARM_UP} each, taking turns every {_TURN}. With Pisces through the whole tool, "
        "else until the reply and the idle status have both come.",
        columns=(Column("p50", "µs"), Column("p95", "µs"), Column("times Pisces, direct ZMQ")),
        rows=tuple(
            Row(name, (medians[name] * 1e6, percentile(taken, 95) * 1e6, medians[name] / medians[ZMQ]))
            for name, taken in seconds.items()
        ),
        checks=(_check(medians),),
    )


def _seconds(sandbox: Sandbox) -> dict[str, list[float]]:
    seconds: dict[str, list[float]] = {name: [] for name in _COMPARED}
    try:
        with ExitStack() as stack:
            processes = {name: stack.enter_context(open_process(sandbox, name)) for name in _COMPARED}
            for process in processes.values():
                process.round_trips(_WARM_UP)
            for _ in range(_TURNS):
                for name, process in processes.items():
                    seconds[name] += process.round_trips(_TURN)
    finally:
        stop_local_gateway(sandbox)
    return seconds


def _check(medians: dict[str, float]) -> Check:
    aim = f"{LOCAL}: within {_AIM:g} times direct ZMQ"
    if not medians:
        return Check(aim=aim, value=NOT_THERE, met=None)
    times = medians[LOCAL] / medians[ZMQ]
    return Check(aim=aim, value=f"{times:.2f} times", met=times <= _AIM)
