"""A kernel ends with its supervisor, not with the process that happened to fork it, which ends a moment later."""

import subprocess
import sys

import pytest

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="only Linux tells a process of the end of its parent")

# The process between stays until the kernel has said who its parent is, or has long had the time to.
KERNEL_OF_A_SLOW_PROCESS = """
import os, select
from pisces.guest import processes

supervisor = os.getpid()
assert processes.become_subreaper()
told, tell = os.pipe()
if not os.fork():
    if os.fork():
        select.select([told], [], [], 0.5)
        os._exit(0)
    processes.end_with(supervisor)
    os.write(tell, b"supervisor" if os.getppid() == supervisor else b"process between")
    os._exit(0)
os.close(tell)
print(os.read(told, 100).decode() or "it was killed")
"""
LATE = (
    "from pisces.guest import processes\nprocesses._ORPHAN_SECONDS = 0.1\nprocesses.end_with(1 << 30)\nprint('went on')"
)


def test_it_waits_until_the_supervisor_is_its_parent() -> None:
    assert run(KERNEL_OF_A_SLOW_PROCESS).stdout == "supervisor\n"


def test_one_whose_supervisor_has_gone_ends_at_once() -> None:
    ran = run(LATE)
    assert (ran.returncode, ran.stdout) == (1, "")


def run(code: str) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, encoding="utf-8", check=False, timeout=60
    )
