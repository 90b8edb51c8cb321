"""For how long a checkpoint blocks the kernel."""

from bench.report import Check, Column, Measurement, Row, percentile
from bench.sandbox import Sandbox
from bench.state.host_process import run_in_turns

_ROUNDS = 2
_COUNT = {"small": 50, "block": 8, "objects": 8, "numpy": 8}
_TITLES = {
    "small": "small heap",
    "block": "1 GB, one block",
    "objects": "1 GB, a million objects",
    "numpy": "1 GB, a numpy array",
}
_SMALL_AIM_MS = 1.5
_TIMES_AIM = 1.5


def measure(sandbox: Sandbox) -> Measurement:
    interpreters = dict.fromkeys(("small", "block", "objects"), sandbox.ipython)
    if sandbox.numpy is not None:
        interpreters["numpy"] = sandbox.numpy
    programs = [("blocked", interpreter, heap, str(_COUNT[heap])) for heap, interpreter in interpreters.items()]
    samples = run_in_turns(sandbox, _ROUNDS, *programs)
    return Measurement(
        title="How long a checkpoint blocks the kernel",
        how="As the kernel tells it, IPython loaded, beside os.fork() in a cell of the same kernel, taking turns; "
        f"{_COUNT['small'] * _ROUNDS} times with a small heap, {_COUNT['block'] * _ROUNDS} times with 1 GB.",
        columns=(
            Column("p50", "ms"),
            Column("p95", "ms"),
            Column("bare os.fork(), p50", "ms"),
            Column("times os.fork()"),
        ),
        rows=tuple(_row(heap, samples) for heap in interpreters),
        checks=tuple(_check(heap, samples) if heap in interpreters else _unmeasured(heap) for heap in _TITLES),
    )


def _row(heap: str, samples: dict[str, list[float]]) -> Row:
    blocked, forked = samples[f"{heap} blocked"], percentile(samples[f"{heap} forked"], 50)
    return Row(
        _TITLES[heap], (percentile(blocked, 50), percentile(blocked, 95), forked, percentile(blocked, 50) / forked)
    )


def _check(heap: str, samples: dict[str, list[float]]) -> Check:
    blocked, forked = (percentile(samples[f"{heap} {kind}"], 50) for kind in ("blocked", "forked"))
    if heap == "small":
        aim = f"{_TITLES[heap]}: p50 at most {_SMALL_AIM_MS:g} ms"
        return Check(aim=aim, value=f"{blocked:.2f} ms", met=blocked <= _SMALL_AIM_MS)
    return Check(aim=_aim(heap), value=f"{blocked / forked:.2f} times", met=blocked <= _TIMES_AIM * forked)


def _aim(heap: str) -> str:
    return f"{_TITLES[heap]}: within {_TIMES_AIM:g} times os.fork()"


def _unmeasured(heap: str) -> Check:
    return Check(aim=_aim(heap), value="there is no environment with numpy: `make environments` makes it", met=None)
