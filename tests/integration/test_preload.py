"""Modules of `python.preload`: imported once for all kernels of an interpreter, and left out where that cannot be."""

from pathlib import Path

import pytest

from pisces.runtime import Runtime
from tests.fakes.runtimes import call, runtime_on

pytestmark = pytest.mark.processes

SHARED = "import os, sys\nimported = 'shared' in sys.modules\nimport shared\n(imported, shared.PID == os.getpid())"
BEFORE = "(True, False)"
MODULES = {
    "shared": "import os\nPID = os.getpid()\n",
    "threaded": "from threading import *\nThread(target=Event().wait, name='beside', daemon=True).start()\n",
    "deadly": "import os\nos._exit(3)\n",
}


def preloading(python: str, folder: Path, *names: str) -> Runtime:
    """A runtime whose kernels find the modules above, and have these preloaded."""
    for name, source in MODULES.items():
        (folder / f"{name}.py").write_text(source, encoding="utf-8")
    return runtime_on(python, folder, environ={"PYTHONPATH": str(folder)}, preload=list(names))


async def test_a_preloaded_module_is_there_before_a_cell_imports_it_in_every_kernel(
    ipython_python: str, tmp_path: Path
) -> None:
    async with preloading(ipython_python, tmp_path, "shared") as runtime:
        first = await call(runtime, SHARED)
        fresh = await call(runtime, SHARED, reset=True)
        other = await call(runtime, SHARED, session="other")
    own = [first.text, fresh.text.splitlines()[0], other.text.partition("\n\n")[2]]
    assert own == [BEFORE] * 3, "a reset says what it dropped, and a new session that it is new"


@pytest.mark.parametrize(
    ("module", "why"),
    [
        ("missing", "missing could not be imported (ModuleNotFoundError: No module named 'missing')"),
        ("threaded", "threaded cannot be shared by kernels and was left out: it starts a thread (beside)"),
    ],
)
async def test_a_module_that_cannot_be_preloaded_is_told_once_and_costs_no_other(
    module: str, why: str, plain_python: str, tmp_path: Path
) -> None:
    async with preloading(plain_python, tmp_path, "shared", module) as runtime:
        first = await call(runtime, SHARED)
        fresh = await call(runtime, SHARED, reset=True)
    assert first.text == f"{BEFORE}\n\npython.preload: {why}"
    assert fresh.text.startswith(f"{BEFORE}\n\nThe reset dropped 1 variable: imported.")


async def test_a_module_that_ends_the_process_costs_what_was_to_be_preloaded_and_nothing_else(
    plain_python: str, tmp_path: Path
) -> None:
    async with preloading(plain_python, tmp_path, "shared", "deadly") as runtime:
        first = await call(runtime, SHARED)
    value, note = first.text.split("\n\n")
    assert value == "(False, True)"
    assert note.startswith("python.preload: shared, deadly cannot be shared by kernels and was left out: ")
