"""The kernels of the local gateway: which there are, how they are started, and that nothing of them is left.

Imported only where Jupyter's packages are. What is changed of theirs: the `python3` kernel is always that of this
interpreter; a kernel that dies is said to be dead, at once, and is not replaced by an empty one under the same id; and
the end of a kernel is the end of all that it started.
"""

from __future__ import annotations

import asyncio
import errno
import os
import secrets
import sys
import time
from collections import OrderedDict
from importlib.util import find_spec
from typing import Any

from jupyter_client.kernelspec import KernelSpec, KernelSpecManager
from kernel_gateway.services.kernels.manager import KernelGatewayIOLoopKernelManager

from . import processes
from .gateway_quick import KernelManagerBase
from .gateway_words import LastWords

PYTHON = "python3"
_ROUNDS = 50
_MAX_SOCKET_PATH = 100
_ROOM = 64
"""Descriptors that a kernel and its client take here, with some to spare."""
_REMEMBERED = 200
_LAST_WORDS_SECONDS = 0.05
"""What a kernel sent before it died may still be on its way when its end is known."""


class OwnPython(KernelSpecManager):
    """Kernelspecs as ever, but `python3` is the Python that runs this, whatever the user has installed elsewhere."""

    def find_kernel_specs(self) -> dict[str, str]:
        return {**super().find_kernel_specs(), PYTHON: _resources()}

    def get_kernel_spec(self, kernel_name: str) -> KernelSpec:
        if kernel_name.lower() != PYTHON:
            return super().get_kernel_spec(kernel_name)
        return KernelSpec(
            argv=[sys.executable, "-m", "ipykernel_launcher", "-f", "{connection_file}"],
            display_name="Python 3 (ipykernel)",
            language="python",
            resource_dir=_resources(),
        )


def _resources() -> str:
    spec = find_spec("ipykernel")
    folders = list(spec.submodule_search_locations or ()) if spec else []
    return os.path.join(folders[0], "resources") if folders else ""


class Kernel(KernelGatewayIOLoopKernelManager):  # type: ignore[misc]  # untyped
    """One kernel and all that it starts: everything carries its cookie."""

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self._cookie = secrets.token_hex(8)
        self._watched = -1
        self._at_once = False
        self.kernel_pid = 0
        self.words: LastWords | None = None

    def use_files(self, folder: str, kernel_id: str) -> None:
        """Talk to it over sockets in a private folder, where that can be named in so few characters: no port is open
        to others on this machine, and none is taken by another between its choice and its use.
        """
        path = os.path.join(folder, kernel_id[:8])
        if len(os.fsencode(path)) <= _MAX_SOCKET_PATH:
            self.transport, self.ip = "ipc", path

    async def _async_launch_kernel(self, kernel_cmd: list[str], **options: Any) -> None:
        options["env"][processes.COOKIE_VARIABLE] = self._cookie
        self._close_words()
        self.words = LastWords()
        try:
            await super()._async_launch_kernel(kernel_cmd, stderr=self.words.writing, **options)
        finally:
            self.words.begun()
        self.kernel_pid = getattr(getattr(self.provisioner, "process", None), "pid", 0)
        if self.kernel_pid:
            processes.set_cookie_limit(self.kernel_pid, self._cookie)
        self._watch()

    async def _async_shutdown_kernel(self, now: bool = False, restart: bool = False) -> None:
        self._at_once = now
        await super()._async_shutdown_kernel(now=now, restart=restart)

    shutdown_kernel = _async_shutdown_kernel

    async def _async_interrupt_kernel(self) -> None:
        if not (self._at_once and self.shutting_down):  # It would answer that, before it is killed.
            await super()._async_interrupt_kernel()

    interrupt_kernel = _async_interrupt_kernel

    async def _async_cleanup_resources(self, restart: bool = False) -> None:
        self._unwatch()
        await super()._async_cleanup_resources(restart=restart)
        await self._end_family()
        self._close_words()

    async def clear(self) -> None:
        """It has died by itself: give back what it held."""
        await self._async_cleanup_resources(restart=False)

    def _close_words(self) -> None:
        if self.words is not None:
            self.words.close()
            self.words = None

    def _watch(self) -> None:
        """Be told when it ends, instead of looking every few seconds."""
        self._unwatch()
        try:
            self._watched = os.pidfd_open(self.kernel_pid)
        except (AttributeError, OSError):
            return  # Then its end is seen at the next look.
        asyncio.get_running_loop().add_reader(self._watched, self._on_end)

    def _unwatch(self) -> None:
        if self._watched >= 0:
            asyncio.get_running_loop().remove_reader(self._watched)
            os.close(self._watched)
            self._watched = -1

    def _on_end(self) -> None:
        self._unwatch()
        asyncio.get_running_loop().call_later(_LAST_WORDS_SECONDS, self._look)

    def _look(self) -> None:
        if self._restarter is not None and not self.shutting_down:
            _keep_task(asyncio.ensure_future(self._restarter.poll()))

    async def _end_family(self) -> None:
        """It may fork while we look, so look until nothing is found."""
        for _ in range(_ROUNDS):
            # No other kernel has our cookie, nor is it in our session: those are left alone.
            family = processes.family(self.kernel_pid, self._cookie, processes.children(os.getpid()))
            if not family:
                return
            for pid in family:
                processes.kill(pid)
            await _collect(family)


async def _collect(pids: set[int]) -> None:
    """Wait a moment for orphans that end, so that they are not found again."""
    deadline = time.monotonic() + 1.0
    for pid in pids:
        while time.monotonic() < deadline:
            try:
                if processes.reap(pid)[0] == pid:
                    break
            except ChildProcessError:
                if processes.start_time(pid) == 0:
                    break
            await asyncio.sleep(0.002)


class Kernels(KernelManagerBase):  # type: ignore[misc]  # untyped
    """All kernels, who owns each, and how those that died did."""

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self._owners: dict[str, tuple[int, int]] = {}
        self._ends: OrderedDict[str, dict[str, Any]] = OrderedDict()
        self._one_at_a_time = asyncio.Lock()

    def _kernel_manager_class_default(self) -> str:
        return f"{Kernel.__module__}.{Kernel.__qualname__}"

    def pre_start_kernel(self, *arguments: Any, **options: Any) -> Any:
        kernel, name, kernel_id = super().pre_start_kernel(*arguments, **options)
        if name == PYTHON:
            kernel.use_files(self.connection_dir, kernel_id)
        return kernel, name, kernel_id

    async def start_kernel(self, *arguments: Any, **options: Any) -> str:
        _leave_room()
        async with self._one_at_a_time:  # Two that look for free ports at once may find the same.
            kernel_id: str = await super().start_kernel(*arguments, **options)
            return kernel_id

    def remove_kernel(self, kernel_id: str) -> Any:
        self._owners.pop(kernel_id, None)
        return super().remove_kernel(kernel_id)

    def own(self, kernel_id: str, owner: dict[str, int] | None) -> None:
        """The kernel is to end with this process; with None, it goes on without."""
        if owner is None:
            self._owners.pop(kernel_id, None)
        else:
            self._owners[kernel_id] = (owner["pid"], owner["started"])

    def ownerless(self) -> list[str]:
        """The kernels whose owners have ended."""
        return [kernel for kernel, (pid, started) in self._owners.items() if not _is_running(pid, started)]

    def end_of(self, kernel_id: str) -> dict[str, Any] | None:
        """How a kernel that died did: `{"code": …}` or `{"signal": …}`, and `detail` if it said where."""
        return self._ends.get(kernel_id)

    def _handle_kernel_died(self, kernel_id: str) -> None:
        kernel = self._kernels.get(kernel_id)
        if isinstance(kernel, Kernel):
            self._remember_end(kernel_id, kernel)
            _keep_task(asyncio.ensure_future(kernel.clear()))
        super()._handle_kernel_died(kernel_id)

    def _remember_end(self, kernel_id: str, kernel: Kernel) -> None:
        process = getattr(kernel.provisioner, "process", None)
        code = process.poll() if process is not None else None
        if code is not None:
            self._ends[kernel_id] = {"signal": -code} if code < 0 else {"code": code}
            self._ends[kernel_id]["detail"] = kernel.words.fatal() if kernel.words is not None else ""
        while len(self._ends) > _REMEMBERED:
            self._ends.popitem(last=False)


def _leave_room() -> None:
    """Refuse while it can be refused: libzmq ends the whole process when it gets no descriptor."""
    import resource

    try:
        used = len(os.listdir("/proc/self/fd"))
    except OSError:
        return
    soft = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
    if soft != resource.RLIM_INFINITY and soft - used < _ROOM:
        raise OSError(errno.EMFILE, os.strerror(errno.EMFILE))


_tasks: set[asyncio.Future[Any]] = set()
"""What goes on by itself; the event loop alone would let it be collected."""


def _keep_task(task: asyncio.Future[Any]) -> None:
    _tasks.add(task)
    task.add_done_callback(_tasks.discard)


def _is_running(pid: int, started: int) -> bool:
    if started:
        return processes.start_time(pid) == started
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        pass  # It is there, and somebody else's.
    return True
