"""The shell needs nothing but an interpreter, and loads little before it is needed."""

import sys
from pathlib import Path

import pytest

from tests.unit.guest.guest_process import run_cells

pytestmark = pytest.mark.processes


def test_cells_run_in_an_interpreter_without_site_packages(tmp_path: Path) -> None:
    cells = [
        "x = 40",
        "x + 2",
        "await __import__('asyncio').sleep(0, 'slept')",
        "%%capture c\n!echo hi",
        "c.stdout",
        "1/0",
    ]
    report = run_cells(sys.executable, cells, "-I", "-S", "-W", "error", cwd=tmp_path)["cells"]
    assert [cell["status"] for cell in report] == ["ok"] * 5 + ["error"]
    shown = [event[1]["text/plain"] for cell in report for event in cell["events"]]
    assert shown == ["42", "'slept'", "'hi\\n'"]
    assert not [line for line in report[-1]["traceback"] if "guest" in line]


def test_a_plain_cell_loads_nothing_slow(tmp_path: Path) -> None:
    before = set(run_cells(sys.executable, [], "-I", "-S", cwd=tmp_path)["modules"])
    after = set(run_cells(sys.executable, ["1 + 1", "x = {'a': [1]}\nx"], "-I", "-S", cwd=tmp_path)["modules"])
    assert after == before
    unneeded = {"_pisces_guest.magics", "_pisces_guest.commands", "matplotlib", "timeit", "difflib", "pprint"}
    assert after.isdisjoint(unneeded)
