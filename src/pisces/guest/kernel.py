"""Turning a freshly forked process into a kernel: descriptors, limits, environment, folder, then the loop."""

from __future__ import annotations

import os
import sys

from . import processes

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


def run_kernel(message: dict[str, Any], fds: list[int]) -> None:
    """Run a kernel until the host asks for its end. `fds`: control, frames, stdout, stderr, trace, slate."""
    control, frames, stdout, stderr, trace, slate = fds
    null = os.open(os.devnull, os.O_RDWR)
    for source, target in ((null, 0), (stdout, 1), (stderr, 2)):
        os.dup2(source, target, inheritable=True)
    os.close(null)
    _no_core_dumps()
    cookie = processes.cookie_file(message["cookie"])
    os.environ.clear()
    os.environ.update(message["env"])
    os.environ[processes.COOKIE_VARIABLE] = message["cookie"]
    os.chdir(message["cwd"])
    if "" not in sys.path:
        sys.path.insert(0, "")  # The current folder, wherever a cell goes; as in an interactive Python.
    sys.argv = [""]
    from .loop import KernelLoop

    loop = KernelLoop(control_fd=control, frames_fd=frames, trace_fd=trace, slate_fd=slate, nonce=message["nonce"])
    for fd in fds:
        os.close(fd)
    del cookie  # The descriptor stays open on purpose: it is how forked daemons are recognised.
    loop.run()
    _say_goodbye()


def _say_goodbye() -> None:
    """What a program does at its end: the user's atexit functions run, and what they print is flushed."""
    import atexit

    atexit._run_exitfuncs()
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except ValueError:
            pass  # The user closed it.


def _no_core_dumps() -> None:
    import resource

    resource.setrlimit(resource.RLIMIT_CORE, (0, resource.getrlimit(resource.RLIMIT_CORE)[1]))
