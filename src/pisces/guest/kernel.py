"""Turning a process into a kernel: fresh from the template, or as its own first one; then the loop.

Above are the supervisor, which forks the processes, and `loop`, which comes here again when a checkpoint is woken.
"""

from __future__ import annotations

import sys

from . import forking, memory_limit, processes
from .stdlib import _socket as socket
from .stdlib import gc, os

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from .sleeper import Woken

own_variables = {processes.COOKIE_VARIABLE}
"""The environment variables that tell this kernel who it is; one that goes on from its state has its own."""


def run_template(message: dict[str, Any], host: socket.socket) -> None:
    """Be the process that all new kernels come from: everything imported, nothing of any user's. Then be one."""
    from .template import Template

    gc.disable()  # What is made now stays: looking for garbage in it would only take time.
    try:
        _prepare_process(message["open_files"])
        from . import preload
        from .loop import KernelLoop

        loop = KernelLoop()
        warnings = preload.import_modules(message["preload"])
        loop.warm_up()
    except BaseException as error:
        _tell_failure(host, error)
        raise
    forking.put_mark()
    gc.freeze()
    gc.enable()
    woken = Template(host, {"warnings": warnings}, loop.warm_up).sleep()
    become_kernel(woken.message)
    _begin(woken)
    loop.attach(woken)
    loop.run()
    _say_goodbye()


def run_first(woken: Woken) -> None:
    """Be a kernel without having slept: where processes cannot be forked from a template."""
    _prepare_process(woken.message["open_files"])
    from .loop import KernelLoop

    loop = KernelLoop()
    become_kernel(woken.message)
    _begin(woken)
    loop.attach(woken)
    loop.run()
    _say_goodbye()


def _prepare_process(open_files: int) -> None:
    """What every kernel has in common, whoever it is for."""
    import resource

    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if open_files < soft:  # Before anything of ours is opened, at a number that must be allowed.
        resource.setrlimit(resource.RLIMIT_NOFILE, (open_files, hard))
    null = os.open(os.devnull, os.O_RDWR)
    for target in (0, 1, 2):
        os.dup2(null, target, inheritable=True)
    os.close(null)
    resource.setrlimit(resource.RLIMIT_CORE, (0, resource.getrlimit(resource.RLIMIT_CORE)[1]))
    forking.expect_forks()
    processes.be_worth_keeping()  # As we are; but a kernel need not ask any more what that was (0.7 ms).
    if "" not in sys.path:
        sys.path.insert(0, "")  # The current folder, wherever a cell goes; as in an interactive Python.
    sys.argv = [""]


def become_kernel(message: dict[str, Any]) -> None:
    """Be a process of its own: it leads a session, ends with the supervisor, and can be told from all others."""
    os.setsid()
    processes.end_with(message["supervisor"])
    processes.hold_cookie(message["cookie"])
    processes.be_expendable()
    os.environ.update(message["env"])
    own_variables.update(message["env"])
    os.environ[processes.COOKIE_VARIABLE] = message["cookie"]
    memory_limit.set_limit(message["memory_limit_mb"])


def _begin(woken: Woken) -> None:
    """What only a kernel without a past does."""
    os.chdir(woken.message["cwd"])
    for name in ("random", "numpy.random"):
        module = sys.modules.get(name)
        if module is not None:
            module.seed()  # Or all kernels of this template would draw the same numbers.


def _tell_failure(host: socket.socket, error: BaseException) -> None:
    import json

    module = getattr(error, "module", "")
    reason = str(error) if module else f"{type(error).__name__}: {error}"
    host.sendall(json.dumps({"type": "failed", "reason": reason, "module": module}).encode("utf-8") + b"\n")


def _say_goodbye() -> None:
    """What a program does at its end: the user's atexit functions run, and what they print is flushed."""
    import atexit

    atexit._run_exitfuncs()
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except ValueError:
            pass  # The user closed it.
