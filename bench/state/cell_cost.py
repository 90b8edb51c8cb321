"""What checkpoints cost the cells that run beside them."""

from bench.report import Column, Measurement, Row, percentile
from bench.sandbox import Sandbox
from bench.state.host_process import run_in_turns

_ROUNDS = 2
_COUNT = 200
_MODES = ("off", "auto", "always")


def measure(sandbox: Sandbox) -> Measurement:
    samples = run_in_turns(sandbox, _ROUNDS, ("cells", sandbox.ipython, str(_COUNT)))

    def p50(kind: str, mode: str) -> float:
        return percentile(samples[f"{kind} {mode}"], 50)

    return Measurement(
        title="What checkpoints cost a cell",
        how="Calls of the whole tool, IPython's shell, medians, taking turns: 1+1 as soon as the one before is done, "
        "when the checkpoint of after it is still being made; 1+1 after a pause of 20 ms; and a cell that rewrites "
        "100 MB which it held before, where every page has to be copied if a checkpoint lies beneath.",
        columns=(
            Column("1+1 at once", "µs"),
            Column("1+1 after a pause", "µs"),
            Column("100 MB rewritten", "ms"),
            Column("times as long as off"),
        ),
        rows=tuple(
            Row(
                f"python.checkpoint = {mode}",
                (
                    p50("at once", mode) * 1e6,
                    p50("paused", mode) * 1e6,
                    p50("rewrite", mode) * 1e3,
                    p50("rewrite", mode) / p50("rewrite", "off"),
                ),
            )
            for mode in _MODES
        ),
    )
