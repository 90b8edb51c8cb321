"""The part of the examination about state: does it come through a crash, and is there a host that keeps it?"""

import time
from collections.abc import Awaitable, Callable, Mapping

from pisces.cli.findings import Finding
from pisces.errors import PiscesError
from pisces.host.start import find_host
from pisces.kernels.base import Checkpointing, Kernel
from pisces.kernels.deadline import Deadline
from pisces.settings.schema import Settings


async def examine_checkpoints(
    kernel: Kernel, run: Callable[[Kernel, str], Awaitable[str]], settings: Settings, deadline: Deadline
) -> Finding:
    """Keep the state of the kernel, kill it, and see whether the state comes back."""
    name = "checkpoints"
    if settings.python.checkpoint == "off":
        return Finding(name=name, status="off", summary="turned off by python.checkpoint: a crash loses the state")
    if not isinstance(kernel, Checkpointing):
        return Finding(name=name, status="off", summary="this kind of kernel has none: a crash loses the state")
    obstacle = kernel.outlook().obstacle
    if obstacle:
        return Finding(name=name, status="off", summary=f"not here: {obstacle}; a crash loses the state")
    await run(kernel, "kept = 41")
    try:
        checkpoint = await kernel.checkpoint()
        await run(kernel, "kept = 0")  # Runs after the checkpoint has been made.
        await kernel.kill()
        began = time.perf_counter()
        await kernel.restore(checkpoint, deadline)
        value = await run(kernel, "kept + 1")
    except PiscesError as error:
        return _failed(str(error))
    if value != "42":
        return _failed(f"a variable came back as {value!r}")
    took = (time.perf_counter() - began) * 1000
    return Finding(name=name, status="ok", summary=f"a kernel that was killed was back with its state in {took:.0f} ms")


def examine_host(environ: Mapping[str, str]) -> Finding:
    """Whether a background host runs, and whether this version can talk to it."""
    name = "host"
    try:
        client = find_host(environ)
    except (PiscesError, OSError) as error:
        fix = getattr(error, "hint", "")
        return Finding(name=name, status="problem", summary=f"cannot be talked to: {error}", fix=fix)
    if client is None:
        return Finding(name=name, status="ok", summary="not running; `pisces run --session NAME` starts it")
    client.close()
    hello = client.hello
    sessions = tuple(f"session {line.name} in {line.cwd}" for line in hello.sessions)
    summary = f"running as process {hello.pid}, version {hello.version}, sessions: {len(sessions)}"
    if client.is_of_this_version or not sessions:  # One without sessions is replaced when it is needed.
        return Finding(name=name, status="ok", summary=summary, details=sessions)
    fix = "`pisces host stop` ends it and its sessions; a new one is started on demand."
    return Finding(name=name, status="problem", summary=f"{summary}; not this version", details=sessions, fix=fix)


def _failed(why: str) -> Finding:
    return Finding(
        name="checkpoints",
        status="problem",
        summary=f"do not work: {why}",
        details=("Code runs, but a crash loses the state.",),
        fix="Set python.checkpoint to off to do without them, and please report it.",
    )
