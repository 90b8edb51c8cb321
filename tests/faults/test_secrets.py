"""What a cell can find out about the processes that hold the secrets of the user and of Pisces.

Root may look into every process, so these tests run Pisces as another user where they are run by root.
"""

import json
import os
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.fakes.hosts import end_host
from tests.fakes.mcp_wire import text_of, wired
from tests.frontends.command import Command

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="only Linux has /proc")

NOBODY = 65534
SECRET = f"sk-the-key-of-the-user-in-{os.getpid()}"
"""Not that of another worker, whose processes these tests would find."""
HELD = {"OPENAI_API_KEY": SECRET, "PI_PYTHON_GATEWAY_TOKEN": SECRET}

LOOK = """
import ctypes, json, os, subprocess

def can_read(pid, name):
    try:
        with open(f"/proc/{pid}/{name}", "rb") as file:
            return name == "mem" or bool(file.read())
    except OSError:
        return False

def parent(pid):
    with open(f"/proc/{pid}/stat") as file:
        return int(file.read().rpartition(")")[2].split()[1])

def holds_the_secret(pid):
    try:
        with open(f"/proc/{pid}/environ", "rb") as file:
            return b"THE-SECRET" in file.read()
    except OSError:
        return False

above, pid = [], os.getppid()
while pid > 1 and str(pid) != os.environ["PI_TEST_TOP"]:
    above.append(pid)
    pid = parent(pid)
me = os.getpid()
open_to_a_child = subprocess.run(["cat", f"/proc/{me}/environ"], stdout=subprocess.DEVNULL).returncode == 0
print(json.dumps({
    "above": len(above),
    "readable": [[pid, name] for pid in above for name in ("environ", "mem") if can_read(pid, name)],
    "holders": [pid for pid in os.listdir("/proc") if pid.isdigit() and holds_the_secret(pid)],
    "own": [can_read(me, "environ"), can_read(me, "mem"), open_to_a_child, ctypes.CDLL(None).prctl(3, 0, 0, 0, 0) == 1],
    "expendable": int(open("/proc/self/oom_score_adj").read()),
}))
""".replace("THE-SECRET", SECRET)

Look = Callable[..., "dict[str, Any]"]


class AsAnother(Command):
    """Pisces of a user who may read all files, since those of the interpreters may be root's, and is not root else."""

    def __init__(self, interpreter: str) -> None:
        shim = Path("python")  # Whether a file can be run is asked without those rights, and of this one it is true.
        shim.write_text(f'#!/bin/sh\nexec {interpreter} "$@"\n', encoding="utf-8")
        shim.chmod(0o755)
        super().__init__(str(shim.resolve()))

    def _command(self, arguments: tuple[str, ...]) -> list[str]:
        user = [f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups"]
        reading = ["--inh-caps=+dac_read_search", "--ambient-caps=+dac_read_search"]
        return ["setpriv", *user, *reading, *super()._command(arguments)]


@pytest.fixture
def home(monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A home that another user can have: the folders of pytest are closed to everyone else."""
    with tempfile.TemporaryDirectory() as folder:
        if os.getuid() == 0:
            os.chown(folder, NOBODY, NOBODY)
        for name, value in {"HOME": folder, "PISCES_HOME": f"{folder}/.pisces", "TMPDIR": folder}.items():
            monkeypatch.setenv(name, value)
        monkeypatch.chdir(folder)
        yield Path(folder)


@pytest.fixture
def command(home: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], Command]:
    monkeypatch.setenv("PI_TEST_TOP", str(os.getpid()))
    if os.getuid() != 0:
        return Command
    if shutil.which("setpriv") is None:
        pytest.skip("root looks into every process, and there is no setpriv to be another user")
    return AsAnother


@pytest.fixture
def pisces(command: Callable[[str], Command], plain_python: str) -> Iterator[Command]:
    pisces = command(plain_python)
    yield pisces
    end_host(pisces)


def assert_nothing_is_open(seen: dict[str, Any], *, expendable: bool = True) -> None:
    assert seen["above"] >= 2
    assert seen["readable"] == []
    assert seen["holders"] == []
    assert seen["own"] == [True] * 4, "user code must be able to look into its own process"
    assert (seen["expendable"] >= 500) is expendable


def look(pisces: Command, *arguments: str, **variables: str) -> dict[str, Any]:
    done = pisces("run", *arguments, "-c", LOOK, variables={**HELD, **variables})
    assert done.returncode == 0, done.stdout + done.stderr
    found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return found


def test_a_cell_cannot_look_into_the_processes_that_run_it(pisces: Command) -> None:
    assert_nothing_is_open(look(pisces))


def test_a_cell_cannot_look_into_the_background_host_nor_what_it_comes_back_from(pisces: Command) -> None:
    assert_nothing_is_open(look(pisces, "--session", "s"))
    died = pisces("run", "--session", "s", "-c", "import os, signal; os.kill(os.getpid(), signal.SIGKILL)")
    assert "restored" in died.stdout + died.stderr
    assert_nothing_is_open(look(pisces, "--session", "s"))


def test_a_kernel_that_lets_nobody_look_into_it_can_be_restored(pisces: Command) -> None:
    closed = "import ctypes, os, signal; ctypes.CDLL(None).prctl(4, 0, 0, 0, 0)"  # PR_SET_DUMPABLE
    assert pisces("run", "--session", "s", "-c", closed, "-c", "x = 1", "-c", "x = 2").returncode == 0
    died = pisces("run", "--session", "s", "-c", "os.kill(os.getpid(), signal.SIGKILL)")
    assert "restored exactly" in died.stdout + died.stderr
    assert pisces("run", "--session", "s", "-c", "x").stdout.split() == ["2"]


def test_a_cell_cannot_look_into_the_mcp_server(pisces: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in {**HELD, "PISCES_MCP_TOKEN": SECRET}.items():
        monkeypatch.setenv(name, value)
    with wired(pisces) as wire:
        assert_nothing_is_open(json.loads(text_of(wire.run(LOOK)).splitlines()[0]))
        wire.hang_up()
        wire.wait()


@pytest.mark.parametrize("backend", ["zmq", "gateway"])
def test_a_cell_cannot_look_into_what_holds_a_jupyter_kernel(
    command: Callable[[str], Command], jupyter_python: str, backend: str
) -> None:
    pisces = command(jupyter_python)
    try:
        variables = {"PI_SET__python__backend": backend}
        assert_nothing_is_open(look(pisces, **variables), expendable=backend == "zmq")
    finally:
        pisces("gateway", "stop", "--all")


def test_a_command_cannot_look_into_what_holds_it(pisces: Command, plain_python: str, home: Path) -> None:
    script = home / "look.py"
    script.write_text(LOOK, encoding="utf-8")
    done = pisces("bash", "-c", f"{plain_python} {script}", variables=HELD)
    seen = json.loads(done.stdout.splitlines()[0])
    assert seen["above"] >= 2
    assert seen["readable"] == [], seen
    assert seen["holders"] == []
