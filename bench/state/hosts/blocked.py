"""For how long a checkpoint blocks the live kernel, beside a bare `os.fork()` of the same process.

The library does not tell this figure, so a kernel is driven by its contract here, without the tool around it.

python -m bench.state.hosts.blocked INTERPRETER HEAP COUNT
"""

import os
import sys

import anyio
import msgspec

from bench.state.hosts.timing import hand_over
from pisces.kernels.base import Checkpointing, ExecuteRequest, Kernel, LaunchSpec
from pisces.kernels.deadline import Deadline
from pisces.kernels.native.backend import NativeBackend
from pisces.model.events import Done, Stream

_HEAPS = {
    "small": "",
    "block": "held = b'x' * 10**9",
    "objects": "held = [bytes(1000) for _ in range(10**6)]",
    "numpy": "import numpy; held = numpy.ones(10**9 // 8)",
}
_WARM_UP = 2
_SECONDS = 60.0
_PAUSE_SECONDS = 0.1
_FORK = """
import os, time
def fork():
    began = time.perf_counter()
    pid = os.fork()
    if pid == 0:
        os._exit(0)
    taken = time.perf_counter() - began
    os.waitpid(pid, 0)
    return taken
"""


async def _main(interpreter: str, heap: str, count: int) -> None:
    backend = NativeBackend(idle=_SECONDS)
    kernel = backend.kernel(LaunchSpec(interpreter, cwd="/", env=dict(os.environ)))
    try:
        await kernel.start(Deadline.after(_SECONDS))
        await _run(kernel, _HEAPS[heap] + _FORK)
        pairs = [(await _blocked_ms(kernel), await _forked_ms(kernel)) for _ in range(_WARM_UP + count)][_WARM_UP:]
    finally:
        await backend.aclose()
    hand_over({f"{heap} blocked": [pair[0] for pair in pairs], f"{heap} forked": [pair[1] for pair in pairs]})


async def _blocked_ms(kernel: Kernel) -> float:
    """One checkpoint, given up again: nothing of it is there when the next figure is taken."""
    assert isinstance(kernel, Checkpointing)
    checkpoint = await kernel.checkpoint()
    await _run(kernel, "")
    checkpoint.drop()
    await anyio.sleep(_PAUSE_SECONDS)
    if checkpoint.blocked_ms is None:
        raise RuntimeError("the kernel has not told for how long the checkpoint blocked it")
    return checkpoint.blocked_ms


async def _forked_ms(kernel: Kernel) -> float:
    return float(await _run(kernel, "print(fork() * 1e3)"))


async def _run(kernel: Kernel, code: str) -> str:
    """What a cell printed. Raises `RuntimeError` when it failed."""
    printed = ""
    execution = await kernel.execute(ExecuteRequest(code, store_history=False))
    while True:
        for event in await execution.receive():
            if isinstance(event, Stream):
                printed += event.text
            elif isinstance(event, Done):
                if event.status != "ok":
                    raise RuntimeError(f"a cell that is measured ended so: {msgspec.to_builtins(event)}")
                return printed


if __name__ == "__main__":
    anyio.run(_main, sys.argv[1], sys.argv[2], int(sys.argv[3]))
