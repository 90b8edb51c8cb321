"""The commands of a runtime: those that run, what they have left in the background, and what waits for the next."""

import logging
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager
from typing import Final

import anyio

from pisces.errors import PiscesError
from pisces.sessions.stop import StopSignal
from pisces.tools.bash_process import CommandProcess

_STOP_CAP: Final = 10.0
_AT_ONCE: Final = 32
"""So many run at a time, others wait: each is two processes, and somebody may ask for hundreds."""

_log = logging.getLogger(__name__)


class Commands:
    """Ends with the runtime, and everything in it too."""

    def __init__(self) -> None:
        self._spare: CommandProcess | None = None
        self._kept: list[CommandProcess] = []
        self._running: dict[StopSignal, anyio.Event] = {}
        self._closed = False
        self._slots = anyio.Semaphore(_AT_ONCE)
        self._told: set[str] = set()

    @asynccontextmanager
    async def slot(self, stop: StopSignal) -> AsyncIterator[bool]:
        """Leave to run a command, for this block; False if the call was stopped before its turn came."""
        entered = False
        with stop.scope():
            await self._slots.acquire()
            entered = True
        try:
            yield entered
        finally:
            if entered:
                self._slots.release()

    @contextmanager
    def process(self, env: Mapping[str, str], stop: StopSignal) -> Iterator[CommandProcess]:
        """What runs one command, for this block. Raises `PiscesError` when it cannot be started.

        What is left of the command at the end of the block stays until the runtime ends; if the block raises, it ends.
        """
        if self._closed:
            raise PiscesError("The runtime is being left: it starts no more commands")
        process, self._spare = self._spare, None
        if process is not None and process.gone.is_set():
            process.let_be()
            process = None
        process = process or CommandProcess(env)
        ended = self._running[stop] = anyio.Event()
        try:
            yield process
        except BaseException:
            process.give_up()  # The task may have been cancelled again while it waited for the end of the command.
            raise
        finally:
            del self._running[stop]
            ended.set()
            process.let_be()
            self._kept = [kept for kept in (*self._kept, process) if not kept.gone.is_set()]

    def have_spare(self, env: Mapping[str, str]) -> None:
        """Start what the next command needs: that takes longer than most commands. Nothing is said if it fails."""
        if self._spare is None and not self._closed:
            try:
                self._spare = CommandProcess(env)
            except PiscesError as error:  # The next command says so, if it is still wrong by then.
                _log.warning("nothing was started in advance for the next command: %s", error)

    def is_news(self, text: str) -> bool:
        """Whether it has not been said in this runtime before."""
        news = text not in self._told
        self._told.add(text)
        return news

    async def aclose(self) -> None:
        """Stop the commands that run, end all that they have left, and wait until that is done."""
        self._closed = True
        for stop in list(self._running):
            stop.ask()
        with anyio.move_on_after(_STOP_CAP):
            for ended in list(self._running.values()):
                await ended.wait()
        if self._spare is not None:
            self._spare.let_be()
            self._kept.append(self._spare)
        async with anyio.create_task_group() as group:
            for process in self._kept:
                group.start_soon(process.kill)
        self._kept, self._spare = [], None
