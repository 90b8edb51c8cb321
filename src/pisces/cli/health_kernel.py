"""The part of the examination that starts a kernel: does it run code, with which shell, and how well is it guarded?"""

import json
import time
from collections.abc import Mapping
from typing import Any, Final

import anyio

from pisces.cli.findings import Finding
from pisces.cli.health_state import examine_checkpoints
from pisces.errors import KernelStartError, PiscesError
from pisces.kernels.base import ExecuteRequest, Kernel, LaunchSpec
from pisces.kernels.deadline import Deadline
from pisces.kernels.native.kernel import NativeKernel
from pisces.kernels.native.zygotes import ZygotePool
from pisces.model.events import Done, Error, Result, Stream
from pisces.model.mime import TEXT_PLAIN
from pisces.settings.load import LoadedSettings

_ASK: Final = """\
import json, os
try:
    import IPython
    version = IPython.__version__
except Exception:
    version = None
try:
    os.close(os.pidfd_open(os.getpid()))
    pidfd = True
except (AttributeError, OSError):
    pidfd = False
print(json.dumps({"ipython": version, "pidfd": pidfd}))
"""


async def examine_kernel(spec: LaunchSpec, loaded: LoadedSettings, deadline: Deadline) -> list[Finding]:
    """Start a native kernel, run 1+1 in it, and ask it about itself. Nothing of it is left afterwards."""
    zygotes = ZygotePool(idle=deadline.remaining())
    kernel = NativeKernel(spec, zygotes)
    try:
        with deadline.scope():
            works = await try_kernel(kernel, deadline)
            if works.status != "ok":
                return [works]
            answers: dict[str, Any] = json.loads(await run_code(kernel, _ASK))
            zygote = await zygotes.get(spec, deadline)
            guards = {"subreaper": zygote.keeps_orphans, "pidfd": answers["pidfd"]}
            checkpoints = await examine_checkpoints(kernel, run_code, loaded.settings, deadline)
            return [works, _shell(kernel, answers["ipython"]), _supervisor(guards), checkpoints]
        return [broken("It did not answer in time", "")]
    except (PiscesError, ValueError) as error:
        return [broken(str(error), getattr(error, "hint", ""))]
    finally:
        with anyio.CancelScope(shield=True):
            await kernel.shutdown()
            await zygotes.aclose()


async def try_kernel(kernel: Kernel, deadline: Deadline) -> Finding:
    """Start it and run 1+1 in it. Raises what its start raises."""
    began = time.perf_counter()
    await kernel.start(deadline)
    up = time.perf_counter()
    sum_ = await run_code(kernel, "1+1")
    done = time.perf_counter()
    if sum_ != "2":
        return broken(f"1+1 gave {sum_!r}", "")
    times = f"started in {(up - began) * 1000:.0f} ms, 1+1 in {(done - up) * 1000:.0f} ms"
    return Finding(name="kernel", status="ok", summary=f"{kernel.backend}; {times}")


async def run_code(kernel: Kernel, code: str) -> str:
    """What the code printed or had for its value; the error that it raised, if it did."""
    execution = await kernel.execute(ExecuteRequest(code=code))
    said = ""
    while True:
        for event in await execution.receive():
            match event:
                case Stream(name="stdout"):
                    said += event.text
                case Result():
                    said += str(event.bundle.get(TEXT_PLAIN, ""))
                case Error():
                    said += f"{event.ename}: {event.evalue}"
                case Done():
                    return said
                case _:
                    pass


def broken(why: str, hint: str) -> Finding:
    """The finding about a kernel that does not work."""
    fix = hint or KernelStartError.REMEDY
    return Finding(name="kernel", status="problem", summary=f"does not work: {why}", fix=fix, blocks=True)


def _shell(kernel: NativeKernel, version: str | None) -> Finding:
    if version is not None and kernel.shell == "ipython":
        return Finding(name="IPython", status="ok", summary=f"{version}; its shell runs the cells")
    if version is not None:
        note = f" ({kernel.shell_note})" if kernel.shell_note else ""
        return Finding(name="IPython", status="problem", summary=f"{version} is there, but not used{note}")
    return Finding(
        name="IPython",
        status="off",
        summary="not installed there; the built-in shell is used, which has the common magics",
        fix=f"{kernel.interpreter} -m pip install ipython",
    )


def _supervisor(guards: Mapping[str, bool]) -> Finding:
    missing = [name for name, there in guards.items() if not there]
    if not missing:
        return Finding(name="supervisor", status="ok", summary=f"uses {', '.join(guards)}: no process is left behind")
    return Finding(
        name="supervisor",
        status="off",
        summary=f"without {', '.join(missing)}, which this system or Python does not have",
        details=("Processes that a cell starts in a session of their own may outlive it.",),
    )
