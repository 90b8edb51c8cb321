"""A kernel and all it started end with the process that owns it, however that ends: here hosts are killed."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

from tests.fakes.drive import eventually, plain_environment
from tests.integration.native.processes import FAMILY, alive
from tests.integration.zmq.conftest import InstallKernel
from tests.leftovers import COOKIE
from tests.source_tree import ROOT

HOST = """
import anyio, json, os, sys
from pisces.kernels.base import LaunchSpec
from pisces.kernels.deadline import Deadline
from pisces.kernels.zmq.transport import ZmqTransport
from tests.integration.native.processes import pids_in
from tests.integration.zmq.raw import RawClient, text

async def main():
    kernelspec, family = sys.argv[1:]
    transport = ZmqTransport(LaunchSpec(sys.executable, '/', dict(os.environ), kernelspec=kernelspec))
    await transport.open(Deadline.after(30))
    client = RawClient(transport)
    await client.meet()
    pids = pids_in(text(await client.run(family)))
    if os.fork() == 0:
        import time
        time.sleep(600)  # A child of the host, which holds all that the host has open.
    print(json.dumps([transport.pid, *pids]), flush=True)
    await anyio.sleep_forever()

anyio.run(main)
"""


@pytest.fixture(params=["", "through-a-shell"])
def host(
    request: pytest.FixtureRequest, tmp_path: Path, temporary: Path, install_kernel: InstallKernel
) -> Iterator["subprocess.Popen[bytes]"]:
    """A process of its own that owns a kernel, which has a family."""
    argv = ["sh", "-c", 'exec "$0" -m ipykernel_launcher -f "$1"', sys.executable, "{connection_file}"]
    install_kernel("through-a-shell", argv)
    variables = {name: os.environ[name] for name in ("JUPYTER_PATH", COOKIE)}
    env = plain_environment(HOME=str(tmp_path), PYTHONPATH=f"{ROOT / 'src'}:{ROOT}", TMPDIR=str(temporary), **variables)
    command = [sys.executable, "-c", HOST, request.param, FAMILY]
    with subprocess.Popen(command, stdout=subprocess.PIPE, env=dict(env), start_new_session=True) as process:
        yield process
        for child in psutil.process_iter():
            if child.pid != process.pid and _session(child.pid) == process.pid:
                child.kill()
        process.kill()


def _session(pid: int) -> int:
    try:
        return os.getsid(pid)
    except ProcessLookupError:
        return -1


async def test_nothing_of_a_kernel_outlives_a_host_that_is_killed(
    host: "subprocess.Popen[bytes]", temporary: Path
) -> None:
    assert host.stdout is not None
    pids = json.loads(host.stdout.readline())
    assert len(alive(pids)) == len(pids)
    host.send_signal(signal.SIGKILL)
    await eventually(lambda: alive(pids) == [], within=10)  # Two seconds are promised, five times over.
    await eventually(lambda: list(temporary.iterdir()) == [])
