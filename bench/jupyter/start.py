"""How long a gateway takes to answer, and how long until it has given a first result: started for it, or up before."""

import subprocess
import sys
import time
from collections.abc import Callable

from bench.jupyter.compared import LOCAL, NOT_THERE, STOCK, ZMQ, stop_local_gateway
from bench.jupyter.stock import StockGateway
from bench.report import Check, Column, Measurement, Row, percentile
from bench.sandbox import ROOT, Sandbox
from bench.subject_process import end, read_line

_ROUNDS = 5
_AIM = 0.5
_SECONDS = 60.0

_OURS_UP = "our gateway answers"
_STOCK_UP = "the stock gateway answers"
_COLD, _WARM = "the gateway started for it", "the gateway up before"


def measure(sandbox: Sandbox) -> Measurement:
    seconds = _seconds(sandbox, sandbox.jupyter) if sandbox.jupyter is not None else {}
    medians = {name: percentile(taken, 50) for name, taken in seconds.items()}
    return Measurement(
        title="Start of a gateway, and the first result",
        how=f"Until it answers for the first time, from the start of its process; and from the start of a program to "
        f"the value of 1+1 that it prints. Median and best of {_ROUNDS} after one that is not counted, taking turns.",
        columns=(Column("median", "ms"), Column("best", "ms")),
        rows=tuple(Row(name, (medians[name] * 1e3, min(taken) * 1e3)) for name, taken in seconds.items()),
        checks=(_check(medians),),
    )


def _seconds(sandbox: Sandbox, interpreter: str) -> dict[str, list[float]]:
    """The programs of each round in an order in which each finds the local gateway up, or not, as it should."""
    ours = (sys.executable, "-m", "bench.programs.pisces_first", interpreter)
    stock = (interpreter, "-m", "bench.programs.stock_first")
    warm = StockGateway(interpreter)
    programs: dict[str, Callable[[], float]] = {
        _OURS_UP: lambda: _until_line(sandbox, (sys.executable, "-m", "bench.programs.local_gateway", interpreter)),
        f"{LOCAL}, {_WARM}": lambda: _until_line(sandbox, (*ours, "gateway")),
        f"{LOCAL}, {_COLD}": lambda: _without_gateway(sandbox, (*ours, "gateway")),
        ZMQ: lambda: _until_line(sandbox, (*ours, "zmq")),
        _STOCK_UP: lambda: _until_stock_answers(interpreter),
        f"{STOCK}, {_WARM}": lambda: _until_line(sandbox, (*stock, warm.url, warm.token)),
        f"{STOCK}, {_COLD}": lambda: _until_line(sandbox, stock),
    }
    seconds: dict[str, list[float]] = {name: [] for name in programs}
    try:
        for number in range(_ROUNDS + 1):
            stop_local_gateway(sandbox)
            for name, program in programs.items():
                taken = program()
                if number:
                    seconds[name].append(taken)
    finally:
        warm.stop()
        stop_local_gateway(sandbox)
    return seconds


def _until_line(sandbox: Sandbox, command: tuple[str, ...]) -> float:
    """Seconds until the program has printed its answer: the value, or how long it measured itself."""
    began = time.perf_counter()
    process = subprocess.Popen(
        command, cwd=ROOT, env=sandbox.environ, stdin=subprocess.PIPE, stdout=subprocess.PIPE, encoding="utf-8"
    )
    try:
        answer = read_line(process, _SECONDS)
        taken = time.perf_counter() - began
    finally:
        end(process)
    if answer == "2\n":
        return taken
    return float(answer)


def _without_gateway(sandbox: Sandbox, command: tuple[str, ...]) -> float:
    stop_local_gateway(sandbox)
    return _until_line(sandbox, command)


def _until_stock_answers(interpreter: str) -> float:
    began = time.perf_counter()
    gateway = StockGateway(interpreter)
    taken = time.perf_counter() - began
    gateway.stop()
    return taken


def _check(medians: dict[str, float]) -> Check:
    aim = f"our gateway answers in at most {_AIM:g} of the time of the stock one"
    if not medians:
        return Check(aim=aim, value=NOT_THERE, met=None)
    share = medians[_OURS_UP] / medians[_STOCK_UP]
    return Check(aim=aim, value=f"{share:.2f} of it", met=share <= _AIM)
