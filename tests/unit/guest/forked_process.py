"""Code in a real interpreter of its own, with the guest loaded as the kernel loads it."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

from tests.unit.guest.guest_process import GUEST

LOAD_GUEST = """
import importlib.util, json, os, signal, sys, threading, types
folder, arguments = json.loads(sys.argv[1])
init = folder + "/__init__.py"
spec = importlib.util.spec_from_file_location("_pisces_guest", init, submodule_search_locations=[folder])
package = importlib.util.module_from_spec(spec)
sys.modules["_pisces_guest"] = package
spec.loader.exec_module(package)
def report(value):
    print("report:" + json.dumps(value), flush=True)
"""
_IN_A_COPY = """
from _pisces_guest import fork_losses, fork_revivals, fork_safety
def in_a_copy(function):
    "What the function returns in a forked process, within ten seconds."
    fork_safety.before_fork()
    fork_revivals.note_threads()
    read, write = os.pipe()
    pid = os.fork()
    if pid == 0:
        signal.alarm(10)
        os.write(write, json.dumps(function()).encode("utf-8"))
        os._exit(0)
    os.close(write)
    with open(read, "rb") as file:
        data = file.read()
    status = os.waitpid(pid, 0)[1]
    assert status == 0, status
    return json.loads(data)
"""
_BY_VALUE = """
from _pisces_guest import by_value
cells, limits, check, without, prepare = arguments
for name in without:
    sys.modules[name] = None
def fresh_main():
    main = sys.modules["__main__"] = types.ModuleType("__main__")
    main.__dict__["__builtins__"] = __builtins__
    return main.__dict__
namespace = fresh_main()
exec(cells, namespace)
read, write = os.pipe()
import random
state = random.getstate()
pid = os.fork()
if pid == 0:
    code = 1
    try:
        random.setstate(state)  # Python gives each forked process a new seed.
        os.close(read)
        by_value.save(namespace, {"__builtins__"}, write, **limits)
        code = 0
    finally:
        os._exit(code)
os.close(write)
namespace = fresh_main()
exec(prepare)
os.environ["PI_KERNEL_COOKIE"] = "new"
missing = by_value.load(namespace, read)
os.waitpid(pid, 0)
checks = {"missing": missing}
exec(check, namespace, checks)
report({name: value for name, value in checks.items() if isinstance(value, (bool, int, str, list))})
"""


def run_forking(program: str, *, interpreter: str = sys.executable, cwd: Path) -> Any:
    """What the program hands to `report`; it has `in_a_copy`, `fork_safety` and `fork_losses`."""
    return _run(LOAD_GUEST + _IN_A_COPY + program, [], interpreter, cwd)


def saved_and_loaded(
    cells: str,
    check: str,
    *,
    cwd: Path,
    without: list[str] | None = None,
    interpreter: str = sys.executable,
    prepare: str = "",
    **limits: float,
) -> dict[str, Any]:
    """Run the cells, save their variables, load them in a fresh namespace and run the check there.

    Returns the plain variables that the check set, and `missing`. `without`: modules that cannot be imported.
    `prepare` is run before the variables are loaded: a fresh interpreter has not what the cells did to modules.
    """
    result: dict[str, Any] = _run(
        LOAD_GUEST + _BY_VALUE, [cells, limits, check, without or [], prepare], interpreter, cwd
    )
    return result


def _run(program: str, arguments: list[Any], interpreter: str, cwd: Path) -> Any:
    done = subprocess.run(
        [interpreter, "-c", program, json.dumps([str(GUEST), arguments])],
        cwd=cwd,
        env={"PATH": "/usr/bin:/bin", "HOME": str(cwd)},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        encoding="utf-8",
        timeout=60,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout.rpartition("report:")[2])
