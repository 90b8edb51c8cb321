"""The process of one kernel, as the host sees it: started, interrupted, ended, and heard.

Between the two is a tether (`guest/tether.py`), a small process that ends the kernel and all it started when the host
dies, however it dies. It also tells how the kernel ended, on systems of any kind and without polling.
"""

import asyncio
import json
import logging
import os
from collections.abc import Callable, Mapping
from typing import Any, Final

import anyio
import msgspec

from pisces.errors import KernelStartError
from pisces.kernels.native.descriptors import open_files_limit
from pisces.kernels.tether import Tether
from pisces.model.events import ProcessExit

_INTERRUPT: Final = b"i"
_KILL: Final = b"k"
_FRESH: Final = b"f"
_SIGNAL_CAP: Final = 1.0
_END_CAP: Final = 5.0
_WORDS_BYTES: Final = 16 * 1024
_READ_BYTES: Final = 1 << 16
_READS_AT_ONCE: Final = 16
"""More than a pipe holds, so that the last words of a dead kernel are all read."""
_FATAL: Final = "Fatal Python error"

_log = logging.getLogger(__name__)


class Launch(msgspec.Struct, frozen=True):
    """What is to be run, and how."""

    command: tuple[str, ...]
    cwd: str
    env: Mapping[str, str]
    folder: str
    """The kernel's own, with its connection file and its sockets: removed when the kernel has ended."""
    memory_limit_mb: int = 0


class KernelProcess:
    """Made alive by `start`; `exit` is set when the kernel has died, `cleared` when all it started is gone too."""

    def __init__(self, launch: Launch, on_news: Callable[[], None]) -> None:
        """`on_news` is called when `exit` or `cleared` is set."""
        self._launch = launch
        self._on_news = on_news
        self._loop = asyncio.get_running_loop()
        self._tether: Tether | None = None
        self._words = bytearray()
        self._signals_under_way = 0
        self._signal_news = anyio.Event()
        self.pid = 0
        self.refusal = ""
        """Why the command could not be run, if it could not."""
        self.exit: ProcessExit | None = None
        self.cleared = anyio.Event()

    def start(self) -> None:
        """Have the process made. Raises `KernelStartError` when not even the tether can be started."""
        launch = self._launch
        order = {
            "host": os.getpid(),
            "command": launch.command,
            "cwd": launch.cwd,
            "folder": launch.folder,
            "open_files": open_files_limit(),
            "memory_limit_mb": launch.memory_limit_mb,
        }
        try:
            self._tether = Tether("tether", json.dumps(order), launch.env, on_told=self._on_told, on_gone=self._on_gone)
        except OSError as error:
            raise KernelStartError(f"Cannot start what holds a kernel: {error.strerror or error}") from error
        self._loop.add_reader(self._tether.output, self._on_output)

    async def interrupt(self) -> bool:
        """SIGINT to its process group; returns when it has been sent. False when there is nobody to send it to."""
        if self.exit is not None or not self._ask(_INTERRUPT):
            return False
        self._signals_under_way += 1
        with anyio.move_on_after(_SIGNAL_CAP):
            while self._signals_under_way and self.exit is None:
                await self._signal_news.wait()
        return self.exit is None

    def count_memory_from_here(self) -> None:
        """What it holds now does not count towards its limit: it has run nothing yet."""
        if self._launch.memory_limit_mb:
            self._ask(_FRESH)

    async def kill(self) -> None:
        """End it and all it started, and wait until that is done."""
        if self._tether is None or self.cleared.is_set():
            return
        self._ask(_KILL)
        with anyio.move_on_after(_END_CAP, shield=True) as patience:
            await self.cleared.wait()
        if patience.cancelled_caught:
            # It was stopped, or what it waits for cannot end. Its own end still ends the kernel, where the system can.
            _log.warning("the tether of kernel %d did not end in %g seconds", self.pid, _END_CAP)
            self._tether.kill()
            with anyio.move_on_after(_END_CAP, shield=True):
                await self.cleared.wait()

    def words(self) -> str:
        """The last of what it wrote to the standard output and error it was started with."""
        self._on_output()
        return self._words.decode("utf-8", "replace").strip()

    def _ask(self, what: bytes) -> bool:
        return self._tether is not None and self._tether.say(what)

    def _on_told(self, told: Mapping[str, Any]) -> None:
        if "pid" in told:
            self.pid = told["pid"]
        elif "refused" in told:
            self.refusal = told["refused"]
        elif "signalled" in told:
            self._signals_under_way -= 1
            self._signal_news.set()
            self._signal_news = anyio.Event()
        else:
            self._on_exited(ProcessExit(told.get("code"), told.get("signal"), cause=told["cause"]))

    def _on_exited(self, ended: ProcessExit) -> None:
        words = self.words()
        where = words[words.rindex(_FATAL) :] if _FATAL in words else ""
        self.exit = msgspec.structs.replace(ended, detail=where)
        self._signal_news.set()
        self._on_news()

    def _on_gone(self) -> None:
        assert self._tether is not None
        if self.exit is None:
            self._tether.end_what_it_held()
            self._on_exited(_without_witness(self.refusal))
        self._tether.close_output()
        self.cleared.set()
        self._on_news()

    def _on_output(self) -> None:
        tether = self._tether
        for _ in range(_READS_AT_ONCE):
            if tether is None or tether.output < 0:
                return
            try:
                data = os.read(tether.output, _READ_BYTES)
            except BlockingIOError:
                return
            if not data:
                tether.close_output()
                return
            _log.debug("kernel %d wrote: %s", self.pid, data)
            self._words += data
            del self._words[:-_WORDS_BYTES]


def _without_witness(refusal: str) -> ProcessExit:
    """What is known of the end of a kernel whose tether could not tell."""
    if refusal:
        return ProcessExit(code=1, detail=refusal)
    return ProcessExit(cause="ended together with the process that held it")
