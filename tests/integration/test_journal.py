"""Journals of sessions on real interpreters: what kernels see of them, and notebooks that run."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import nbformat

from pisces.journal.export import export_notebook
from pisces.journal.folder import list_journals
from pisces.journal.reader import read_journal
from pisces.runtime import Runtime
from pisces.settings.paths import Paths
from tests.fakes.runtimes import call, runtime_on

FIGURE = "import matplotlib.pyplot as plt\nplt.plot([1, 2])\nplt.show()"


def exported(runtime: Runtime, folder: Path) -> list[dict[str, Any]]:
    """The cells of the notebook of the newest session."""
    target = folder / "session.ipynb"
    export_notebook(list_journals(runtime.paths.journals)[0].path, target)
    made = json.loads(target.read_text(encoding="utf-8"))
    nbformat.validate(made, version=4, version_minor=5)
    cells: list[dict[str, Any]] = made["cells"]
    return cells


async def test_code_can_read_the_journal_of_its_own_session(plain_python: str, tmp_path: Path) -> None:
    async with runtime_on(plain_python, tmp_path) as runtime:
        result = await call(runtime, "import os; print(open(os.environ['PI_SESSION_FILE'], encoding='utf-8').read())")
    assert '"type":"SessionBegan"' in result.text
    assert "PI_SESSION_FILE" in result.text


async def test_a_notebook_has_texts_values_errors_and_pictures(ipython_python: str, tmp_path: Path) -> None:
    async with runtime_on(ipython_python, tmp_path) as runtime:
        await call(runtime, ["print('é'); 1 + 1", FIGURE])
        await call(runtime, "1 / 0")
        first, second, third = exported(runtime, tmp_path)
    assert [output["output_type"] for output in first["outputs"]] == ["stream", "execute_result"]
    assert first["outputs"][0]["text"] == "é\n"
    assert (first["execution_count"], first["outputs"][1]["data"]["text/plain"]) == (1, "2")
    pictures = [output["data"]["image/png"] for output in second["outputs"] if output["output_type"] == "display_data"]
    assert pictures[0].startswith("iVBORw0KGgo")
    assert third["outputs"][-1]["ename"] == "ZeroDivisionError"


async def test_a_notebook_run_from_top_to_bottom_leads_to_the_present_state(plain_python: str, tmp_path: Path) -> None:
    async with runtime_on(plain_python, tmp_path, checkpoint="always") as runtime:
        await call(runtime, "x = 40")
        await call(runtime, "x += 2")
        await call(runtime, "import os; os._exit(3)")
        cells = exported(runtime, tmp_path)
    to_run = [cell["source"] for cell in cells if "skip-execution" not in cell["metadata"].get("tags", [])]
    namespace: dict[str, Any] = {}
    for source in to_run:
        exec(source, namespace)
    assert namespace["x"] == 42
    assert cells[-1]["outputs"][-1]["evalue"] == "The kernel exited with code 3"


HOST = """
import anyio, sys
from pisces import Runtime
async def main():
    async with Runtime(cwd=sys.argv[1], settings={"python": {"interpreter": sys.argv[2]}}) as runtime:
        await runtime.python(code="a = 1")
        print("ran", flush=True)
        await runtime.python(code="print('begun', flush=True); import time; time.sleep(600)", timeout=600)
anyio.run(main)
"""


def test_a_host_that_is_killed_leaves_a_journal_that_can_be_exported(plain_python: str, tmp_path: Path) -> None:
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    with subprocess.Popen(
        [sys.executable, "-c", HOST, str(tmp_path), plain_python], stdout=subprocess.PIPE, env=environment
    ) as host:
        assert host.stdout is not None
        assert host.stdout.readline() == b"ran\n"
        host.send_signal(signal.SIGKILL)
        host.wait(60)
    (past,) = list_journals(Paths.locate(os.environ).journals)
    assert (past.session, past.ended) == ("default", None)
    assert past.cells >= 1
    assert read_journal(past.path).torn == 0
    made = export_notebook(past.path, tmp_path / "n.ipynb")
    assert made.cells == past.cells
