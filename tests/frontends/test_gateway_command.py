"""`pisces gateway`: the local gateways as a user sees them, and what `pisces doctor` says about them."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psutil
import pytest

from pisces.kernels.gateway.record import GatewayFolder, GatewayRecord, gateway_folders
from pisces.settings.paths import Paths
from tests.fakes.hosts import gone
from tests.frontends.command import PATIENCE, Command

pytestmark = pytest.mark.usefixtures("elsewhere")

_HOLD = """\
import sys
from pathlib import Path
from pisces.kernels.gateway.lock_file import LockFile
lock = LockFile(Path(sys.argv[1]))
assert lock.try_acquire()
print("held", flush=True)
sys.stdin.readline()
"""


@pytest.fixture
def jupyter(jupyter_python: str, own_home: Path, no_process_is_left: None) -> Iterator[Command]:
    """`pisces`, whose interpreter has Jupyter; its gateways end with the test."""
    pisces = Command(jupyter_python)
    yield pisces
    if list(gateway_folders(Paths.locate(os.environ))):
        assert pisces("gateway", "stop", "--all").returncode == 0


def folder() -> GatewayFolder:
    (found,) = gateway_folders(Paths.locate(os.environ))
    return found


def record() -> GatewayRecord:
    found = folder().record()
    assert found is not None
    return found


def finding(pisces: Command, **variables: str) -> tuple[int, dict[str, Any]]:
    done = pisces("doctor", "--json", variables=variables)
    print(done.stdout)  # For the report of a test that fails.
    (found,) = [one for one in json.loads(done.stdout)["findings"] if one["name"] == "gateway"]
    return done.returncode, found


def test_without_a_gateway_the_status_says_so(pisces: Command) -> None:
    done = pisces("gateway", "status")
    assert (done.returncode, done.stdout) == (1, "No local gateway is running.\n")
    assert json.loads(pisces("gateway", "status", "--json").stdout) == {"gateways": []}
    assert pisces("gateway", "stop", "--all").stderr == "No local gateway is running.\n"


def test_a_gateway_is_started_shown_and_stopped(jupyter: Command, jupyter_python: str) -> None:
    started = jupyter("gateway", "start")
    assert started.returncode == 0
    assert started.stdout == (
        f"The gateway of {jupyter_python} has been started: {record().url}, process {record().pid}.\n"
    )
    assert "runs already" in jupyter("gateway", "start").stdout
    shown = jupyter("gateway", "status")
    assert shown.returncode == 0
    assert shown.stdout.startswith(f"{folder().path.name}  {record().url}  process {record().pid}  {jupyter_python}")
    assert shown.stdout.endswith("kernels: 0\n")
    told = json.loads(jupyter("gateway", "status", "--json").stdout)["gateways"]
    assert [(one["state"], one["pid"], one["python"]) for one in told] == [("running", record().pid, jupyter_python)]
    assert record().token not in str(told) + shown.stdout + started.stdout
    assert "is available at" in jupyter("gateway", "logs").stdout
    process = record().pid
    stopped = jupyter("gateway", "stop", folder().path.name[:4])
    assert stopped.stderr == f"The gateway of {jupyter_python} has been stopped.\n"
    gone(process)
    assert "No local gateway is running" in jupyter("gateway", "stop").stderr


def test_a_name_that_is_no_gateway_is_bad_use(pisces: Command) -> None:
    for action in ("stop", "logs"):
        done = pisces("gateway", action, "nonesuch")
        assert done.returncode == 2
        assert "There is no gateway with the id 'nonesuch'" in done.stderr
    assert pisces("gateway", "stop", "--all", "x").returncode == 2


def test_a_missing_log_is_told(pisces: Command) -> None:
    done = pisces("gateway", "logs")
    assert done.returncode == 1
    assert "There is no log" in done.stderr


def test_an_interpreter_without_jupyter_is_told_what_to_install(pisces: Command, plain_python: str) -> None:
    done = pisces("gateway", "start")
    assert done.returncode == 1
    assert f"Run: {plain_python} -m pip install jupyter_kernel_gateway ipykernel" in done.stderr


def test_a_log_can_be_followed(jupyter: Command) -> None:
    jupyter("gateway", "start")
    with folder().log.open("a", encoding="utf-8") as log:
        log.write("one\ntwo\n")
    following = jupyter.start("gateway", "logs", "-n", "1", "--follow")
    with following:
        assert following.stdout is not None
        assert following.stdout.readline() == b"two\n"
        with folder().log.open("a", encoding="utf-8") as log:
            log.write("three\n")
        assert following.stdout.readline() == b"three\n"
        following.send_signal(signal.SIGINT)
        assert following.wait(PATIENCE) == 130


def test_doctor_says_what_is_missing_and_that_native_kernels_need_none(pisces: Command, plain_python: str) -> None:
    code, found = finding(pisces)
    assert (code, found["status"]) == (0, "off")
    assert "kernel_gateway and ipykernel" in found["summary"]
    assert found["fix"] == f"{plain_python} -m pip install jupyter_kernel_gateway ipykernel"
    code, found = finding(pisces, PI_SET__python__backend="gateway")
    assert (code, found["status"], found["blocks"]) == (1, "problem", True)


@pytest.mark.heavy
def test_doctor_tells_a_gateway_that_runs_from_one_that_ended_hangs_or_has_a_broken_record(jupyter: Command) -> None:
    code, found = finding(jupyter)
    assert (code, found["status"]) == (0, "ok")
    assert found["summary"].startswith("not running")
    assert "kernel_gateway 3" in found["details"][0]
    jupyter("gateway", "start")
    code, found = finding(jupyter)
    assert found["summary"].startswith(f"running at {record().url}, process {record().pid}")
    assert record().token not in str(found)
    process = psutil.Process(record().pid)
    process.suspend()
    code, found = finding(jupyter)
    assert (code, found["status"]) == (0, "problem")
    assert "pisces gateway stop" in found["fix"]
    process.kill()
    process.wait(PATIENCE)
    code, found = finding(jupyter)
    assert found["status"] == "ok"
    assert any(f"process {process.pid}, which has ended" in line for line in found["details"])
    folder().record_file.write_bytes(b"{")
    code, found = finding(jupyter)
    assert any("cannot be read" in line for line in found["details"])


def test_doctor_names_who_holds_the_lock_and_since_when(jupyter: Command) -> None:
    jupyter("gateway", "start")
    command = [sys.executable, "-c", _HOLD, str(folder().lock_file)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as holder:
        assert holder.stdout is not None
        assert holder.stdout.readline() == b"held\n"
        _, found = finding(jupyter)
        assert any(f"held by process {holder.pid}, for" in line for line in found["details"])
        holder.communicate(b"\n", timeout=PATIENCE)


def test_doctor_checks_an_external_gateway(pisces: Command, jupyter: Command) -> None:
    jupyter("gateway", "start")
    url = record().url
    code, found = finding(pisces, PI_PYTHON_GATEWAY_URL=url, PI_PYTHON_GATEWAY_TOKEN=record().token)
    assert (code, found["status"]) == (0, "ok")
    assert found["summary"].startswith(f"external at {url}: Jupyter Kernel Gateway")
    assert "python3" in found["details"][0]
    code, found = finding(pisces, PI_PYTHON_GATEWAY_URL=url, PI_PYTHON_GATEWAY_TOKEN="no")
    assert (code, found["blocks"]) == (1, True)
    assert found["summary"] == f"External gateway at {url} requires authentication. Set PI_PYTHON_GATEWAY_TOKEN."
    jupyter("gateway", "stop")
    code, found = finding(pisces, PI_PYTHON_GATEWAY_URL=url)
    assert code == 1
    assert found["summary"].startswith(f"External gateway at {url} is not reachable")


def test_doctor_says_when_local_gateways_are_disabled(pisces: Command) -> None:
    code, found = finding(pisces, PI_SET__python__backend="gateway", PI_SET__python__sharedGateway="false")
    assert code == 1
    assert found["summary"] == "Shared Python gateway required; local gateways are disabled"
