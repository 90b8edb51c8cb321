"""Cells in the built-in shell of a real interpreter, loaded as the kernel loads it and isolated from all else."""

import json
import subprocess
from pathlib import Path
from typing import Any

from tests.source_tree import ROOT

GUEST = ROOT / "src" / "pisces" / "guest"
PROGRAM = """
import asyncio, importlib.util, json, sys, types
folder, cells = json.loads(sys.argv[1])
init = folder + "/__init__.py"
spec = importlib.util.spec_from_file_location("_pisces_guest", init, submodule_search_locations=[folder])
package = importlib.util.module_from_spec(spec)
sys.modules["_pisces_guest"] = package
spec.loader.exec_module(package)
from _pisces_guest.builtin_shell import BuiltinShell

class Channel:
    def __init__(self):
        self.events = []
    def display(self, data, metadata, display_id, update):
        self.events.append(["display", data])
    def result(self, data, metadata, execution_count):
        self.events.append(["result", data])
    def clear_output(self, wait):
        self.events.append(["clear", {}])
    def run_async(self, coroutine):
        return asyncio.run(coroutine)

channel = Channel()
main = sys.modules["__main__"] = types.ModuleType("__main__")
shell = BuiltinShell(main.__dict__, channel)
report = []
for cell in cells:
    channel.events = []
    outcome = shell.run_cell(cell, silent=False, store_history=True)
    report.append({"status": outcome.status, "traceback": outcome.traceback, "events": channel.events})
print("report:" + json.dumps({"cells": report, "modules": sorted(sys.modules)}))
"""


def run_cells(interpreter: str, cells: list[str], *flags: str, cwd: Path) -> dict[str, Any]:
    """Run the cells in a fresh process: status, traceback and events of each, and the modules loaded in the end."""
    done = subprocess.run(
        [interpreter, *flags, "-c", PROGRAM, json.dumps([str(GUEST), cells])],
        cwd=cwd,
        env={"PATH": "/usr/bin:/bin", "MPLBACKEND": "Agg", "HOME": str(cwd)},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        encoding="utf-8",
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    report: dict[str, Any] = json.loads(done.stdout.rpartition("report:")[2])
    return report
