"""Whom the system ends first when memory runs out: a live kernel, before what it can come back from."""

import os
from pathlib import Path

import psutil

from pisces.kernels.deadline import Deadline
from pisces.kernels.native.kernel import NativeKernel
from tests.fakes.drive import PATIENCE, eventually, ok, value

SCORES = """
import os, subprocess
def score(pid):
    with open(f"/proc/{pid}/oom_score_adj", encoding="ascii") as file:
        return int(file.read())
def child():
    process = subprocess.Popen(["sleep", "300"])
    try:
        return score(process.pid)
    finally:
        process.kill(); process.wait()
"""


def own_score() -> int:
    return score_of(os.getpid())


def score_of(pid: int) -> int:
    return int(Path(f"/proc/{pid}/oom_score_adj").read_text(encoding="ascii"))


def asleep_beside(kernel: int) -> list[int]:
    """The other children of the kernel's supervisor: the template, the copy of it for the next kernel, checkpoints."""
    supervisor = psutil.Process(kernel).parent()
    assert supervisor is not None
    return [child.pid for child in supervisor.children() if child.pid != kernel]


async def test_a_live_kernel_and_its_children_go_before_the_template_and_checkpoints(kernel: NativeKernel) -> None:
    usual, raised = own_score(), min(own_score() + 500, 1000)
    await ok(kernel, SCORES)
    pid = int(await value(kernel, "os.getpid()"))
    await eventually(lambda: [score_of(sleeper) for sleeper in asleep_beside(pid)] == [usual] * 2)
    assert await value(kernel, "score('self'), child()") == f"({raised}, {raised})"
    checkpoint = await kernel.checkpoint()
    await ok(kernel, "pass")
    await eventually(lambda: [score_of(sleeper) for sleeper in asleep_beside(pid)] == [usual] * 3)
    await kernel.restore(checkpoint, Deadline.after(PATIENCE))
    assert await value(kernel, "score('self'), child()") == f"({raised}, {raised})"
    pid = int(await value(kernel, "os.getpid()"))
    await eventually(lambda: [score_of(sleeper) for sleeper in asleep_beside(pid)] == [usual] * 3)
    checkpoint.drop()
