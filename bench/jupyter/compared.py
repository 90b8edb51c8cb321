"""Those that are compared wherever Jupyter kernels are, each in a host process of its own."""

import subprocess
import sys

from bench.jupyter.stock import UNLIMITED
from bench.sandbox import ROOT, Sandbox
from bench.subject_process import SubjectProcess

ZMQ = "Pisces, direct ZMQ"
LOCAL = "Pisces, local gateway"
EXTERNAL = "Pisces, stock gateway"
EXTERNAL_UNLIMITED = "Pisces, stock gateway, no limit"
STOCK = "stock client, stock gateway"
STOCK_UNLIMITED = "stock client, stock gateway, no limit"
IPYKERNEL = "ipykernel, jupyter_client"

NOT_THERE = "`make environments` has not made the environment with the gateway"


def open_process(sandbox: Sandbox, name: str) -> SubjectProcess:
    """The host process of one of them; the sandbox has an interpreter with Jupyter."""
    assert sandbox.jupyter is not None
    interpreter = sandbox.jupyter
    if name in (STOCK, STOCK_UNLIMITED):
        options = (UNLIMITED,) if name == STOCK_UNLIMITED else ()
        return SubjectProcess(sandbox, *options, host=(interpreter, "bench.jupyter.serve_stock"))
    subjects = {
        ZMQ: ("pisces", interpreter, "off", "zmq"),
        LOCAL: ("pisces", interpreter, "off", "gateway"),
        EXTERNAL: ("pisces-external", interpreter),
        EXTERNAL_UNLIMITED: ("pisces-external", interpreter, UNLIMITED),
        IPYKERNEL: ("ipykernel",),
    }
    return SubjectProcess(sandbox, *subjects[name])


def stop_local_gateway(sandbox: Sandbox) -> None:
    """The local gateway outlives the processes that use it."""
    command = [sys.executable, "-m", "pisces", "gateway", "stop", "--all"]
    subprocess.run(command, cwd=ROOT, env=sandbox.environ, check=True, capture_output=True, timeout=60)
