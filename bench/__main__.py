"""Run the measurements one after the other, show them as a table and keep them as JSON."""

import argparse
import sys
import time
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

import msgspec

from bench import big_output, bridge, first_result, many_prints, round_trip, start_up
from bench.facts import gather_facts
from bench.jupyter import output as jupyter_output
from bench.jupyter import round_trip as jupyter_round_trip
from bench.jupyter import start as jupyter_start
from bench.mcp import measure as mcp
from bench.notebooks import large as notebook_large
from bench.notebooks import run_all as notebook_run
from bench.report import Measurement, Report
from bench.sandbox import Sandbox
from bench.state import blocked, cell_cost, come_and_go, crash, idle_memory, new_session, undo_and_branch
from bench.state.objects import measure as objects
from bench.table import render_facts, render_measurement, render_summary
from bench.tui import measure as tui

_RESULTS = Path(__file__).parent / "results"

MEASUREMENTS: dict[str, Callable[[Sandbox], Measurement]] = {
    "first-result": first_result.measure,
    "round-trip": round_trip.measure,
    "big-output": big_output.measure,
    "many-prints": many_prints.measure,
    "start-up": start_up.measure,
    "tool-calls": bridge.measure,
    "new-session": new_session.measure,
    "checkpoint": blocked.measure,
    "cell-cost": cell_cost.measure,
    "crash": crash.measure,
    "undo-branch": undo_and_branch.measure,
    "objects": objects.measure,
    "idle-memory": idle_memory.measure,
    "come-and-go": come_and_go.measure,
    "jupyter-round-trip": jupyter_round_trip.measure,
    "jupyter-output": jupyter_output.measure,
    "jupyter-messages": jupyter_output.measure_messages,
    "jupyter-start": jupyter_start.measure,
    "notebook-edit": notebook_large.measure_edit,
    "notebook-text": notebook_large.measure_others,
    "notebook-run": notebook_run.measure,
    "mcp": mcp.measure,
    "tui": tui.measure,
}


def main(arguments: list[str]) -> int:
    options = _parse(arguments)
    began = time.monotonic()
    facts = gather_facts()
    print(render_facts(facts), flush=True)
    measured: list[Measurement] = []
    with Sandbox() as sandbox:
        for name in options.only or MEASUREMENTS:
            measured.append(MEASUREMENTS[name](sandbox))
            print(f"\n{render_measurement(measured[-1])}", flush=True)
    report = Report(facts=facts, measurements=measured, seconds=round(time.monotonic() - began, 1))
    path = _keep(report, options.results)
    print(f"\n{render_summary(report)}\nKept as {path}")
    return 0


def _parse(arguments: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m bench", description=__doc__)
    parser.add_argument(
        "only", nargs="*", metavar="NAME", help=f"which to run, all by default: {', '.join(MEASUREMENTS)}"
    )
    parser.add_argument("--results", type=Path, default=_RESULTS, metavar="FOLDER", help="where to keep the JSON")
    options = parser.parse_args(arguments)
    unknown = [name for name in options.only if name not in MEASUREMENTS]
    if unknown:
        parser.error(f"there is no measurement {unknown[0]!r}; there are: {', '.join(MEASUREMENTS)}")
    return options


def _keep(report: Report, folder: Path) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{datetime.now(UTC):%Y%m%dT%H%M%SZ}.json"
    path.write_bytes(msgspec.json.format(msgspec.json.encode(report)) + b"\n")
    return path


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
