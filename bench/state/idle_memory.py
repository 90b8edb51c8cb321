"""What a session costs that nobody uses at the moment."""

from bench.report import Check, Column, Measurement, Row
from bench.sandbox import Sandbox
from bench.state.host_process import run_host

_SESSIONS = 50
_IPYKERNELS = 5
_AIM_MB = 8.0
_MB = 1e6


def measure(sandbox: Sandbox) -> Measurement:
    rows = [
        _row(f"Pisces, checkpoint {mode}", _SESSIONS, run_host(sandbox, "idle_sessions", *_arguments(sandbox, mode)))
        for mode in ("auto", "off")
    ]
    each = rows[0].figures[0]
    assert each is not None
    rows.append(_row("ipykernel", _IPYKERNELS, run_host(sandbox, "idle_ipykernels", str(_IPYKERNELS))))
    return Measurement(
        title=f"{_SESSIONS} idle sessions",
        how="After one cell each, IPython loaded: the proportional set size of every process below the host (the "
        f"supervisor, the template, kernels and checkpoints), divided by the sessions; {_IPYKERNELS} of ipykernel.",
        columns=(Column("memory of each", "MB"), Column("processes of each")),
        rows=tuple(rows),
        checks=(
            Check(
                aim=f"at most {_AIM_MB:g} MB for each session, checkpoint auto",
                value=f"{each:.1f} MB",
                met=each <= _AIM_MB,
            ),
        ),
    )


def _arguments(sandbox: Sandbox, mode: str) -> tuple[str, ...]:
    return sandbox.ipython, str(_SESSIONS), mode


def _row(title: str, count: int, figures: dict[str, list[float]]) -> Row:
    return Row(title, (figures["pss"][0] / _MB / count, figures["processes"][0] / count))
