"""Much output of a Jupyter kernel: 100 MB in lines of 1 KB, and many small messages."""

from collections.abc import Iterable
from typing import Any

import msgspec

from bench.jupyter.compared import (
    EXTERNAL,
    EXTERNAL_UNLIMITED,
    IPYKERNEL,
    LOCAL,
    NOT_THERE,
    STOCK,
    STOCK_UNLIMITED,
    ZMQ,
    open_process,
    stop_local_gateway,
)
from bench.printing import Printed
from bench.report import Check, Column, Measurement, Row, percentile
from bench.sandbox import Sandbox

_LINES = 102_400
_PAD = "x" * 1015
_FLUSHES = 20_000
_GROWTH_AIM = 32.0
_WARM_UP = 5
_COMPARED = (ZMQ, LOCAL, EXTERNAL, EXTERNAL_UNLIMITED, IPYKERNEL, STOCK, STOCK_UNLIMITED)


class _Load(msgspec.Struct, frozen=True, kw_only=True):
    """What is printed, and what is aimed at."""

    title: str
    code: str
    printed: Printed
    rounds: int
    zmq_aim: float | None = None
    """How many times as long as direct ZMQ the local gateway may take."""


def measure(sandbox: Sandbox) -> Measurement:
    load = _Load(
        title="100 MB of output of a Jupyter kernel",
        code=f"pad = 'x' * 1015\nfor i in range({_LINES}): print(f'{{i:08d}}{{pad}}')",
        printed=Printed.lines(f"{number:08d}{_PAD}" for number in range(_LINES)),
        rounds=3,
        zmq_aim=4.0,
    )
    return _measure(sandbox, load)


def measure_messages(sandbox: Sandbox) -> Measurement:
    load = _Load(
        title="20,000 messages of a Jupyter kernel",
        code=f"for i in range({_FLUSHES}): print(i, flush=True)",
        printed=Printed.lines(str(number) for number in range(_FLUSHES)),
        rounds=1,
    )
    return _measure(sandbox, load)


def _measure(sandbox: Sandbox, load: _Load) -> Measurement:
    answers = _answers(sandbox, load) if sandbox.jupyter is not None else {}
    rows = tuple(_row(name, given, answers[ZMQ], load) for name, given in answers.items())
    return Measurement(
        title=load.title,
        how=f"{load.printed.size:,} bytes, a fresh host process each time, taking turns; median seconds, largest "
        f"growth and smallest share of {load.rounds}. The stock client without a limit: once. One without figures had "
        "not ended after a minute.",
        columns=(
            Column("time", "s"),
            Column("times Pisces, direct ZMQ"),
            Column("growth of the host", "MB"),
            Column("of all bytes came", "%"),
        ),
        rows=rows,
        checks=tuple(_checks(rows, load)) if rows else (Check(aim=load.title, value=NOT_THERE, met=None),),
    )


def _answers(sandbox: Sandbox, load: _Load) -> dict[str, list[dict[str, Any]]]:
    answers: dict[str, list[dict[str, Any]]] = {name: [] for name in _COMPARED}
    try:
        for number in range(load.rounds):
            for name in _COMPARED:
                if number and name == STOCK_UNLIMITED:
                    continue  # It takes half a minute.
                with open_process(sandbox, name) as process:
                    process.round_trips(_WARM_UP)
                    try:
                        answers[name].append(process.output(load.code))
                    except TimeoutError:
                        continue
    finally:
        stop_local_gateway(sandbox)
    return answers


def _row(name: str, given: list[dict[str, Any]], direct: list[dict[str, Any]], load: _Load) -> Row:
    if not given:
        return Row(name, (None, None, None, None))
    seconds = _median(given)
    growth = max(float(answer["growth_mb"]) for answer in given)
    return Row(name, (seconds, seconds / _median(direct) if direct else None, growth, _share(given, load)))


def _median(answers: list[dict[str, Any]]) -> float:
    return percentile([float(answer["seconds"]) for answer in answers], 50)


def _share(answers: list[dict[str, Any]], load: _Load) -> float:
    """In percent. Where the host keeps the text, all of it means the same text."""
    printed = load.printed
    shares = [min(float(answer["size"]) / printed.size, 1.0) for answer in answers]
    differs = any(
        answer["size"] == printed.size and answer["sha256"] not in (None, printed.sha256) for answer in answers
    )
    return 0.0 if differs else min(shares) * 100


def _checks(rows: tuple[Row, ...], load: _Load) -> Iterable[Check]:
    for row in rows:
        if row.subject not in (ZMQ, LOCAL):
            continue
        _, times, growth, share = row.figures
        if growth is None or share is None:
            yield Check(aim=f"{row.subject}: every byte came", value="it did not get to the end", met=False)
            continue
        if load.zmq_aim is not None and times is not None and row.subject == LOCAL:
            aim = f"{row.subject}: within {load.zmq_aim:g} times direct ZMQ"
            yield Check(aim=aim, value=f"{times:.2f} times", met=times <= load.zmq_aim)
        aim = f"{row.subject}: host growth under {_GROWTH_AIM:g} MB"
        yield Check(aim=aim, value=f"{growth:.1f} MB", met=growth < _GROWTH_AIM)
        yield Check(aim=f"{row.subject}: every byte came", value=f"{share:.1f} %", met=share == 100.0)
