"""Calls of the host's tools from a cell: a thousand at once, and one by one; beside a server that does nothing else."""

import json
import subprocess
import sys
from typing import Any

from bench.report import Check, Column, Measurement, Row, percentile
from bench.sandbox import ROOT, Sandbox
from bench.subject_process import end, read_line

_ROUNDS = 5
_CALLS = 1000
_SECONDS = 300.0
_START_SECONDS = 30.0
_TITLES = {"bridge": "Pisces, a tool of the host", "bare": "bare HTTP server, a thread for each connection"}


def measure(sandbox: Sandbox) -> Measurement:
    figures = _figures(sandbox)
    lost = figures["bridge"]["lost"]
    return Measurement(
        title=f"{_CALLS:,} calls of a tool at once from a cell",
        how=f"A thread for each call, over at most 16 connections; median of {_ROUNDS}, taking turns. The client is "
        "the same code in the same cell. The bare server is `http.server` in a process of its own; it keeps "
        "connections.",
        columns=(
            Column("all calls", "ms"),
            Column("calls each second", "count"),
            Column("one call, p50", "µs"),
            Column("one call, p95", "µs"),
            Column("lost or wrong", "count"),
        ),
        rows=tuple(_row(title, figures[who]) for who, title in _TITLES.items()),
        checks=(Check(aim="no call is lost", value=f"{lost} of {_CALLS * (_ROUNDS + 1):,}", met=lost == 0),),
    )


def _figures(sandbox: Sandbox) -> dict[str, Any]:
    server = subprocess.Popen(
        [sys.executable, "-m", "bench.programs.bare_http"],
        cwd=ROOT,
        env=sandbox.environ,
        stdout=subprocess.PIPE,
        encoding="utf-8",
    )
    try:
        url = f"http://127.0.0.1:{read_line(server, _START_SECONDS).strip()}"
        done = subprocess.run(
            [sys.executable, "-m", "bench.programs.bridge_calls", sandbox.plain, url, str(_ROUNDS)],
            cwd=ROOT,
            env=sandbox.environ,
            stdout=subprocess.PIPE,
            encoding="utf-8",
            timeout=_SECONDS,
            check=True,
        )
    finally:
        end(server)
    figures: dict[str, Any] = json.loads(done.stdout)
    return figures


def _row(title: str, figure: dict[str, Any]) -> Row:
    median, single = percentile(figure["seconds"], 50), figure["single"]
    return Row(
        title,
        (median * 1e3, _CALLS / median, percentile(single, 50) * 1e6, percentile(single, 95) * 1e6, figure["lost"]),
    )
