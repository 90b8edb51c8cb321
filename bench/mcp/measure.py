"""What a client waits for: the first result of a server that it launches, and each further one."""

from collections.abc import Callable, Sequence

from bench.mcp.compared import FEWER, PAUSE, STARTS, TURN, TURNS, Figures, compare
from bench.mcp.servers import NOTHING, OURS, PEERS, servers, versions
from bench.report import Check, Column, Measurement, Row, percentile
from bench.sandbox import Sandbox

_AIM = 1.5
_Part = Callable[[Figures], Sequence[float]]
_PARTS: dict[str, _Part] = {
    "from launch to the first result": lambda figures: figures.starts,
    "1+1, calls at once": lambda figures: figures.at_once,
    f"1+1, {PAUSE * 1e3:g} ms between calls": lambda figures: figures.paused,
}


def measure(sandbox: Sandbox) -> Measurement:
    all_servers = servers(sandbox)
    figures, problems = compare(all_servers)
    return Measurement(
        title="1+1 over MCP",
        how=_how([name for name in PEERS if name in figures]),
        columns=(
            Column("launch to first result", "ms"),
            Column("× nothing"),
            Column("at once p50", "ms"),
            Column("p95", "ms"),
            Column("× nothing"),
            Column(f"after {PAUSE * 1e3:g} ms p50", "ms"),
            Column("p95", "ms"),
            Column("× nothing"),
            Column("value missing", "count"),
        ),
        rows=tuple(_row(figures.get(name), figures[NOTHING], name) for name in all_servers),
        checks=(
            *(_aim(what, part, figures) for what, part in _PARTS.items()),
            Check(aim="no value is missing", value=str(figures[OURS].lost), met=figures[OURS].lost == 0),
            *(Check(aim=f"{name} beside it", value=why, met=None) for name, why in problems.items()),
        ),
    )


def _how(peers: Sequence[str]) -> str:
    with_peers = f" With {'; '.join(versions(name) for name in peers)}." if peers else ""
    return (
        f"The official client over standard streams. Launch: median of {STARTS} after one that is not counted, until "
        "the answer is there; with JupyterLab started too where it is needed, as the manual says. Round trips: "
        f"{TURN * TURNS} with each call as soon as the one before is done, and {TURN * TURNS} with pauses as agents "
        f"make them; a {FEWER}th of them where one takes longer than 0.1 s. All take turns. × nothing: how many times "
        f"as long as a server on the same SDK whose tool does nothing. Value missing: answers with nothing in them, of "
        f"{STARTS + 2 * TURN * TURNS} and those that are not timed.{with_peers}"
    )


def _row(found: Figures | None, nothing: Figures, name: str) -> Row:
    if found is None:
        return Row(name, (None,) * 9)
    start, at_once, paused = (_median(part, found) for part in _PARTS.values())
    ratios = [_median(part, found) / _median(part, nothing) for part in _PARTS.values()]
    return Row(
        name,
        (
            start * 1e3,
            ratios[0],
            at_once * 1e3,
            percentile(found.at_once, 95) * 1e3,
            ratios[1],
            paused * 1e3,
            percentile(found.paused, 95) * 1e3,
            ratios[2],
            found.lost,
        ),
    )


def _aim(what: str, part: _Part, figures: dict[str, Figures]) -> Check:
    ours = _median(part, figures[OURS])
    times = ours / _median(part, figures[NOTHING])
    beside = [f"{name} takes {_median(part, figures[name]) / ours:.1f} times ours" for name in PEERS if name in figures]
    return Check(
        aim=f"{what}: at most {_AIM:g} times the server that does nothing",
        value=", ".join((f"{times:.2f} times", *beside)),
        met=times <= _AIM,
    )


def _median(part: _Part, figures: Figures) -> float:
    return percentile(part(figures), 50)
