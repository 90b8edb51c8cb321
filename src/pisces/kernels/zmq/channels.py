"""The sockets between the host and one kernel. Nothing here waits: `on_news` is called when there is something to see.

ZMQ tells of news through a descriptor that is readable until the socket has been looked at, and not again before all
that came has been read. So a socket that is new, or was touched, counts as one that may have messages, until it says
that it has none.
"""

import asyncio
import logging
import os
from collections.abc import Callable
from typing import Final, get_args

import zmq
from zmq.utils.monitor import parse_monitor_message

from pisces.errors import KernelStartError
from pisces.kernels.jupyter.message import Channel, Message
from pisces.kernels.zmq.connection import Connection
from pisces.kernels.zmq.wire import Wire

_CHANNELS: Final[tuple[Channel, ...]] = ("stdin", "control", "shell", "iopub")
"""The loudest last, so that it cannot keep the others from being heard."""
_RETRY_MS: Final = 5
"""How often to try to connect until the kernel listens: what a start may cost more than it must."""
_DESCRIPTORS: Final = 40
"""How many a kernel may take in its host, with room to spare."""
_QUEUED: Final = 64
"""Messages that wait to be taken, of a kernel that keeps the others."""
_SMALL: Final = 1 << 16
"""Frames above this size are read where ZMQ has put them, without a copy."""
_MONITORED: Final = zmq.EVENT_HANDSHAKE_SUCCEEDED | zmq.EVENT_DISCONNECTED

assert set(_CHANNELS) == set(get_args(Channel))

_ipc = logging.getLogger("pisces.ipc")


class Channels:
    """Shell, control, stdin and iopub of one kernel."""

    def __init__(self, connection: Connection, client: str, on_news: Callable[[], None]) -> None:
        """Begin to connect; `client` is what the kernel knows this one by. Raises `KernelStartError`."""
        self._on_news = on_news
        self._loop = asyncio.get_running_loop()
        self._wire = Wire(connection.key.encode("ascii"))
        self._context = zmq.Context()
        self._sockets: dict[Channel, zmq.Socket[bytes]] = {}
        self._monitors: dict[Channel, zmq.Socket[bytes]] = {}
        self._touched: set[Channel] = set(_CHANNELS)
        self._open: set[Channel] = set()
        self._lost: set[Channel] = set()
        try:
            for channel in _CHANNELS:
                self._connect(channel, connection.address(channel), client.encode("ascii"))
        except zmq.ZMQError as error:
            self.close()
            raise _no_room(error.strerror) from error

    def _connect(self, channel: Channel, address: str, identity: bytes) -> None:
        socket = self._context.socket(zmq.SUB if channel == "iopub" else zmq.DEALER)
        self._sockets[channel] = socket
        socket.setsockopt(zmq.LINGER, 0)
        socket.setsockopt(zmq.RECONNECT_IVL, _RETRY_MS)
        # Without bounds: a publisher drops what does not fit, without a word.
        socket.setsockopt(zmq.RCVHWM, 0)
        socket.setsockopt(zmq.SNDHWM, 0)
        if channel == "iopub":
            socket.setsockopt(zmq.SUBSCRIBE, b"")
        else:
            # The same on all: a kernel asks for input on one channel whom it heard on another.
            socket.setsockopt(zmq.IDENTITY, identity)
        monitor = socket.get_monitor_socket(_MONITORED)
        self._monitors[channel] = monitor
        self._loop.add_reader(monitor.FD, self._on_monitored, channel)
        self._loop.add_reader(socket.FD, self._on_readable, channel)
        socket.connect(address)
        self._on_monitored(channel)

    @property
    def rejected(self) -> int:
        """How many messages were not the kernel's, or made no sense."""
        return self._wire.rejected

    @property
    def connected(self) -> bool:
        """Whether a message that is sent now reaches the kernel, and what it says is heard."""
        return {"shell", "iopub", "control"} <= self._open | self._lost

    @property
    def disconnected(self) -> bool:
        """Whether the kernel has closed what was open: all that it sent has arrived."""
        return not self._open

    @property
    def closed(self) -> bool:
        """Whether `close` has been called."""
        return self._context.closed

    def send(self, message: Message) -> None:
        """Hand over a message; it goes out as soon as the kernel takes it."""
        frames = self._wire.pack(message)
        _ipc.debug("host to kernel, %s: %s", message.channel, frames)
        self._sockets[message.channel].send_multipart(frames, zmq.NOBLOCK)
        # Sending may have swallowed the news of what came in.
        self._touched.add(message.channel)

    def receive(self) -> Message | None:
        """The next message that is there, of whichever channel; None if there is none."""
        for channel in _CHANNELS:
            while channel in self._touched:
                frames = _frames(self._sockets[channel])
                if not frames:
                    self._touched.discard(channel)
                    break
                _ipc.debug("kernel to host, %s: %s", channel, frames)
                message = self._wire.unpack(channel, frames)
                if message is not None:
                    return message
        return None

    def take_as_read(self) -> None:
        """Let no more wait here than a few messages: the kernel keeps the rest."""
        if not self.closed:
            self._sockets["iopub"].setsockopt(zmq.RCVHWM, _QUEUED)

    def look_everywhere(self) -> None:
        """Have the next `receive` ask every channel."""
        if not self.closed:
            self._touched.update(_CHANNELS)

    def close(self) -> None:
        """Close everything; it can be called more than once."""
        if self.closed:
            return
        for socket in (*self._sockets.values(), *self._monitors.values()):
            self._loop.remove_reader(socket.FD)
        for socket in self._sockets.values():
            socket.disable_monitor()
        self._touched.clear()
        self._context.destroy(linger=0)
        self._on_news()

    def _on_readable(self, channel: Channel) -> None:
        # Looking makes the descriptor quiet; otherwise it would keep the loop spinning when nobody receives.
        self._sockets[channel].getsockopt(zmq.EVENTS)
        self._touched.add(channel)
        self._on_news()

    def _on_monitored(self, channel: Channel) -> None:
        while True:
            try:
                event = parse_monitor_message(self._monitors[channel].recv_multipart(zmq.NOBLOCK))
            except zmq.Again:
                break
            if event["event"] == zmq.EVENT_DISCONNECTED:
                self._open.discard(channel)
                self._lost.add(channel)
            else:
                self._open.add(channel)
        self._on_news()


def _frames(socket: "zmq.Socket[bytes]") -> list[bytes | memoryview]:
    """The next message that is there; empty if there is none. It takes two thirds of the time of `recv_multipart`."""
    frames: list[bytes | memoryview] = []
    try:
        while True:
            frame = socket.recv(zmq.NOBLOCK, copy=False)
            frames.append(frame.bytes if len(frame) < _SMALL else frame.buffer)
            if not frame.more:
                return frames
    except zmq.Again:  # Never between two frames: ZMQ hands over whole messages.
        return []


def make_sure_of_room() -> None:
    """Raise `KernelStartError` when descriptors are running out: where ZMQ finds none, it ends the whole process."""
    taken: list[int] = []
    try:
        taken.append(os.open(os.devnull, os.O_RDONLY))
        for _ in range(_DESCRIPTORS):
            taken.append(os.dup(taken[0]))
    except OSError as error:
        raise _no_room(error.strerror) from error
    finally:
        for descriptor in taken:
            os.close(descriptor)


def _no_room(reason: str | None) -> KernelStartError:
    hint = "Allow more open files (`ulimit -n`), or have fewer sessions at once."
    return KernelStartError(f"Cannot open the channels of a kernel: {reason}", hint=hint)
