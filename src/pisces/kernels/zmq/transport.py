"""A kernel on this machine as `jupyter` wants it: messages to and fro, and power over its life."""

import logging
import os
from collections import deque
from typing import Final
from uuid import uuid4

import anyio
import anyio.lowlevel

from pisces.errors import DeadlineExceeded, KernelStartError
from pisces.kernels.base import LaunchSpec
from pisces.kernels.deadline import Deadline
from pisces.kernels.jupyter.message import Message, MessageMaker
from pisces.kernels.jupyter.transport import KernelEnded
from pisces.kernels.zmq.channels import Channels, make_sure_of_room
from pisces.kernels.zmq.command import Recipe, lost_its_port, recipe_for, start_error
from pisces.kernels.zmq.connection import Connection
from pisces.kernels.zmq.process import KernelProcess, Launch
from pisces.model.events import ProcessExit

_START_CAP: Final = 60.0
_SHUTDOWN_CAP: Final = 5.0
"""For what was registered for the end: a kernel that is idle takes a tenth of a second, where the machine is."""
_BUSY_SHUTDOWN_CAP: Final = 1.0
"""For one that runs a cell, and so sees the request only afterwards."""
_LAST_MESSAGES_CAP: Final = 1.0
_PORT_ATTEMPTS: Final = 3
_BATCH: Final = 64
"""After so many messages without a wait, others get their turn."""

_startup = logging.getLogger("pisces.startup")


class ZmqTransport:
    """Fulfils `Transport` with a process of our own and four sockets."""

    shares_machine = True

    def __init__(self, spec: LaunchSpec) -> None:
        self._spec = spec
        self._recipe: Recipe | None = None
        self._connection: Connection | None = None
        self._channels: Channels | None = None
        self._process: KernelProcess | None = None
        self._news: anyio.Event | None = None
        self._rest: deque[Message] = deque()
        """What came before the channels were closed and has not been asked for yet."""
        self._heard = False
        self._told = 0
        self._executed = False
        self._running = ""
        """The request whose reply has not been read yet."""
        self._in_a_row = 0
        self.client = uuid4().hex

    @property
    def interpreter(self) -> str:
        """What runs the code: the path of a Python, or the name of a kernelspec."""
        return self._spec.kernelspec or self._spec.interpreter

    @property
    def pid(self) -> int:
        """The kernel's process; 0 before there is one."""
        return self._process.pid if self._process is not None else 0

    @property
    def ended(self) -> ProcessExit | None:
        """How it ended; None before its start and while it lives."""
        return self._process.exit if self._process is not None else None

    @property
    def rejected(self) -> int:
        """How many messages were not the kernel's, or made no sense: they were skipped."""
        return self._channels.rejected if self._channels is not None else 0

    async def open(self, deadline: Deadline) -> None:
        if deadline.expired:
            raise self._too_late(deadline)
        self._recipe = recipe_for(self._spec, {**os.environ, **self._spec.env})
        for attempt in range(1, _PORT_ATTEMPTS + 1):
            try:
                await self._start(self._recipe, deadline)
            except BaseException as error:
                with anyio.CancelScope(shield=True):
                    await self.kill()
                if isinstance(error, KernelStartError) and attempt < _PORT_ATTEMPTS and lost_its_port(str(error)):
                    continue
                raise
            return

    async def _start(self, recipe: Recipe, deadline: Deadline) -> None:
        make_sure_of_room()
        self._connection = Connection(files=recipe.listens_on_files)
        launch = Launch(
            command=recipe.command(str(self._connection.file)),
            cwd=self._spec.cwd,
            env=recipe.environment(),
            folder=str(self._connection.folder),
            memory_limit_mb=self._spec.memory_limit_mb,
        )
        self._channels = Channels(self._connection, self.client, self._wake)
        self._process = KernelProcess(launch, self._wake)
        self._process.start()
        with deadline.scope(_START_CAP) as scope:
            while not self._channels.connected and self._process.exit is None:
                await self._wait()
        if self._process.exit is not None:
            raise self._start_error(self._process, launch)
        if scope.cancelled_caught and deadline.expired:
            raise self._too_late(deadline)
        if scope.cancelled_caught:
            reason = f"{recipe.name} did not open its channels within {_START_CAP:g} seconds"
            raise KernelStartError(f"{reason}: {self._process.words()[-2000:] or 'it said nothing'}")
        _startup.debug("channels of %s open", recipe.name)

    def _start_error(self, process: KernelProcess, launch: Launch) -> KernelStartError:
        assert process.exit is not None
        if process.refusal:
            return KernelStartError(f"Cannot run {launch.command[0]}: {process.refusal}")
        return start_error(launch.command[0], process.exit.describe(), process.words())

    def _too_late(self, deadline: Deadline) -> DeadlineExceeded:
        return DeadlineExceeded(f"{self.interpreter} did not start within {deadline.seconds:g} seconds")

    async def ready(self) -> None:
        if self._channels is None or self._channels.closed or self.ended is not None:
            raise self._gone()

    async def send(self, message: Message) -> None:
        if self._channels is None or self._channels.closed or self.ended is not None:
            raise self._gone()
        assert self._process is not None
        if message.type == "execute_request":
            self._running = message.id
            if not self._executed:
                self._executed = True
                self._process.count_memory_from_here()
        self._channels.send(message)
        self._wake()

    async def receive(self) -> Message:
        if self._in_a_row >= _BATCH:
            self._in_a_row = 0
            await anyio.lowlevel.checkpoint()
        while True:
            message = self.receive_nowait()
            if message is not None:
                self._in_a_row += 1
                return message
            self._in_a_row = 0
            if self._channels is None or self._channels.closed:
                raise self._gone()
            if self.ended is None:
                await self._wait()
            else:
                await self._take_the_rest(self._channels)

    def receive_nowait(self) -> Message | None:
        if self._rest:
            return self._rest.popleft()
        if self._channels is None:
            return None
        message = self._channels.receive()
        if message is not None:
            self._heard = True
            if message.channel == "shell" and message.parent == self._running:
                self._running = ""
        return message

    def take_as_read(self) -> None:
        if self._channels is not None:
            self._channels.take_as_read()

    async def interrupt(self) -> bool:
        if self._process is None or self._recipe is None or self._recipe.wants_message:
            return False
        return await self._process.interrupt()

    def take_notes(self) -> tuple[str, ...]:
        count, self._told = self.rejected - self._told, self.rejected
        return (f"{count} messages of the kernel were not signed, or not understood, and left out.",) if count else ()

    async def kill(self) -> None:
        with anyio.CancelScope(shield=True):
            if self._process is not None:
                await self._process.kill()
            if self._channels is not None:
                await self._take_the_rest(self._channels)
            if self._connection is not None:
                self._connection.remove()

    async def shutdown(self) -> None:
        with anyio.CancelScope(shield=True):
            process, channels = self._process, self._channels
            if process is not None and channels is not None and not channels.closed and channels.connected:
                channels.send(MessageMaker(self.client).shutdown())
                with anyio.move_on_after(_BUSY_SHUTDOWN_CAP if self._running else _SHUTDOWN_CAP):
                    await self._hear_out(process, channels)
            await self.kill()

    async def _hear_out(self, process: KernelProcess, channels: Channels) -> None:
        """Wait for the end of the process. One that says much before it must not have to wait for a reader."""
        while process.exit is None and not channels.closed:
            dropped = 0
            while dropped < _BATCH and channels.receive() is not None:
                dropped += 1
            await (self._wait() if dropped < _BATCH else anyio.lowlevel.checkpoint())

    async def _take_the_rest(self, channels: Channels) -> None:
        """The kernel has ended: keep what it had sent, and close the channels.

        All of it has come when the channels are closed from the other side. They stay open as long as a process that
        the kernel had forked holds them; such are being ended.
        """
        with anyio.move_on_after(_LAST_MESSAGES_CAP):
            while not (channels.disconnected or channels.closed):
                await self._wait()
        if channels.closed:
            return
        channels.look_everywhere()
        while (message := channels.receive()) is not None:
            self._rest.append(message)
            if len(self._rest) % _BATCH == 0:
                await anyio.lowlevel.checkpoint()
        channels.close()

    def _gone(self) -> KernelEnded:
        ended = self.ended
        if ended is None:
            return KernelEnded("The kernel has not been started")
        assert self._process is not None
        reason = f"The kernel {ended.describe()}"
        if not self._heard:
            reason += f" before it was ready: {self._process.words()[-2000:] or 'it said nothing'}"
        return KernelEnded(reason, exit=ended)

    async def _wait(self) -> None:
        """Until something has happened since this was called."""
        if self._news is None:
            self._news = anyio.Event()
        await self._news.wait()

    def _wake(self) -> None:
        if self._news is not None:
            self._news.set()
            self._news = None
