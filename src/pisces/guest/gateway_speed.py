"""Short cuts for the local gateway: what stands between a kernel and its client does less for each message.

Jupyter's server takes messages one by one, reads each of them twice (for the client, and to know whether the kernel is
busy), lets TCP hold a small frame back until the one before is acknowledged, which costs 40 ms, and buffers without
bound for a client that does not read. Here messages are passed on at once, as they are and as many at a time as have
come; and while a client does not keep up, they stay with the kernel that sends them, if it is one that keeps them.

Importing this fails where the parts that it builds on are missing; `gateway_quick` then takes those of the server.
"""

from __future__ import annotations

import json
import struct
from datetime import datetime, timezone
from functools import partial
from hmac import compare_digest
from typing import Any

import zmq
from jupyter_server.services.kernels.connection.channels import ZMQChannelsWebsocketConnection
from kernel_gateway.services.kernels.manager import SeedingMappingKernelManager
from tornado.iostream import StreamClosedError

_V1 = "v1.kernel.websocket.jupyter.org"
_DELIMITER = b"<IDS|MSG>"
_EVENTS, _POLLIN = int(zmq.EVENTS), int(zmq.POLLIN)  # As enumerations they cost more than the call itself.
_BATCH = 1 << 18
"""Bytes after which a batch of messages is sent."""
_UNSENT = 16 << 20
"""Bytes that wait here for a client that does not read; then nothing more is taken from the kernel."""
_QUEUED = 64
"""Messages that wait to be taken, with each connection; the kernel keeps the others."""
_LOOK_SECONDS = 0.05
"""After a message has been passed on, so long until the state of its kernel is looked at."""
_PYTHON = "python3"
_IPYKERNEL_TOPICS = b"kernel."


class QuickConnection(ZMQChannelsWebsocketConnection):  # type: ignore[misc]  # untyped
    """One client's websocket to one kernel."""

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self._gone = False
        self._out: Any = None
        self._unsent = 0
        self._paused: list[str] = []
        self._may_pause = True
        self._activity: _Activity | None = None

    def connect(self) -> Any:
        """Open the channels to the kernel. Messages take the short way as soon as the usual one is ready."""
        self.websocket_handler.set_nodelay(True)
        connected = super().connect()
        if connected is not None and self._can_be_quick():
            connected.add_done_callback(self._begin)
        return connected

    def disconnect(self) -> None:
        self._gone = True
        if self._activity is not None:
            self._activity.release()
            self._activity = None
        super().disconnect()

    def on_kernel_restarted(self) -> None:
        self._hear_out()
        super().on_kernel_restarted()
        self._may_pause = self._keeps

    def on_restart_failed(self) -> None:
        self._hear_out()
        super().on_restart_failed()

    def _can_be_quick(self) -> bool:
        """Whether messages go out as they came: the framing is the plain one, and nobody wants to look into them."""
        connection = self.websocket_handler.ws_connection
        self._out = getattr(connection, "stream", None)
        return (
            self._out is not None
            and self.subprotocol == _V1
            and getattr(connection, "_compressor", None) is None
            and not self.limit_rate
            and getattr(self.multi_kernel_manager, "allow_tracebacks", True)
        )

    def _begin(self, _: Any) -> None:
        if self._gone:
            return
        # Our clients have a Python kernel keep what is not taken from it. Any other drops that without a word.
        self._may_pause = self._keeps = self.kernel_manager.kernel_name == _PYTHON
        self.channels["iopub"].socket.set(zmq.RCVHWM, _QUEUED if self._keeps else 0)
        for channel in self.channels:
            self._listen(channel)
        activity = getattr(self.kernel_manager, "quick_activity", None)
        if activity is not None and activity.is_brief:
            self._activity = activity
            activity.hold()

    def _listen(self, channel: str) -> None:
        self.channels[channel].on_recv(partial(self._relay, channel))

    def _relay(self, channel: str, message: list[bytes]) -> None:
        """Send this message on, and those that have come after it."""
        socket = self.channels[channel].socket
        frames: list[bytes] = []
        size = self._add_frame(frames, channel, message)
        while size < _BATCH and socket.get(_EVENTS) & _POLLIN:
            try:
                message = socket.recv_multipart(zmq.NOBLOCK)
            except zmq.Again:
                break
            size += self._add_frame(frames, channel, message)
        self._write(channel, b"".join(frames))
        if self._activity is not None:
            self._activity.look_soon()

    def _add_frame(self, frames: list[bytes], channel: str, message: list[bytes]) -> int:
        """Add the frame of this message; returns its size."""
        try:
            parts = message[message.index(_DELIMITER) + 2 :]
        except ValueError:
            self.log.warning("Kernel %s sent something that is no message", self.kernel_id)
            return 0
        name = channel.encode("ascii")
        offsets = [8 * (len(parts) + 3)]
        for part in (name, *parts):
            offsets.append(offsets[-1] + len(part))
        frames.append(_websocket_header(offsets[-1]))
        frames.append(struct.pack(f"<{len(offsets) + 1}Q", len(offsets), *offsets))
        frames.append(name)
        frames += parts
        return offsets[-1]

    def _write(self, channel: str, data: bytes) -> None:
        try:
            written = self._out.write(data)
        except StreamClosedError:
            self.log.warning("The client of kernel %s went away; %d bytes for it are lost", self.kernel_id, len(data))
            return
        if written.done():
            return  # As a rule the system has taken all of it at once.
        self._unsent += len(data)
        written.add_done_callback(partial(self._on_written, len(data)))
        if self._unsent > _UNSENT and self._may_pause:
            self.channels[channel].stop_on_recv()
            self._paused.append(channel)

    def _on_written(self, size: int, _: Any) -> None:
        self._unsent -= size
        if self._unsent < _UNSENT // 2:
            self._resume()

    def _hear_out(self) -> None:
        """Let all pass that a dead kernel had to say: the server flushes it now, and drops what is not taken."""
        self._may_pause = False
        self._resume()

    def _resume(self) -> None:
        if self._paused and not self._gone and not self._out.closed():
            paused, self._paused = self._paused, []
            for channel in paused:
                self._listen(channel)


class QuickKernelManager(SeedingMappingKernelManager):  # type: ignore[misc]  # untyped
    """The kernels of a gateway, each of which is watched by its status alone."""

    def start_watching_activity(self, kernel_id: str) -> None:
        super().start_watching_activity(kernel_id)
        kernel = self._kernels[kernel_id]
        kernel.quick_activity = _Activity(self, kernel)

    def kernel_model(self, kernel_id: str) -> Any:
        """What is told about a kernel."""
        activity = getattr(self._kernels.get(kernel_id), "quick_activity", None)
        if activity is not None:
            activity.look()
        return super().kernel_model(kernel_id)


class _Activity:
    """What a kernel says of its state. While a client has its messages passed on, that is looked at only at times."""

    def __init__(self, manager: QuickKernelManager, kernel: Any) -> None:
        self._manager = manager
        self._kernel = kernel
        self._stream = kernel._activity_stream
        self._loop = self._stream.io_loop
        self._all = True
        self._holders = 0
        self._planned = False
        self._stream.on_recv(self._take)

    @property
    def is_brief(self) -> bool:
        """Whether little comes here but the state, so that it may wait."""
        return not self._all

    def hold(self) -> None:
        """Look only when asked to."""
        self._holders += 1
        if self._holders == 1 and not self._stream.closed():
            self._loop.remove_handler(self._stream.socket)

    def release(self) -> None:
        """Look whenever something comes, unless somebody else holds it."""
        self._holders -= 1
        if self._holders == 0 and not self._stream.closed():
            self._loop.add_handler(self._stream.socket, self._stream._handle_events, self._loop.READ)
            self.look()

    def look_soon(self) -> None:
        """Look when there is time, once for all who ask."""
        if not self._planned:
            self._planned = True
            self._loop.call_later(_LOOK_SECONDS, self.look)

    def look(self) -> None:
        """Take in what the kernel has said."""
        self._planned = False
        if not self._stream.closed():
            self._stream.flush(_POLLIN)

    def _take(self, message: list[bytes]) -> None:
        place = message.index(_DELIMITER) if _DELIMITER in message else 0
        signature, *parts = message[place + 1 : place + 6]
        if len(parts) < 4 or json.loads(parts[0]).get("msg_type") != "status":
            return
        if compare_digest(self._kernel.session.sign(parts), signature):
            self._note(json.loads(parts[1]).get("msg_type"), json.loads(parts[3]).get("execution_state"))
        if self._all and message[0].startswith(_IPYKERNEL_TOPICS):
            # It labels its output otherwise: that is not sent here any more.
            self._all = False
            self._stream.socket.subscribe(_IPYKERNEL_TOPICS)
            self._stream.socket.unsubscribe(b"")

    def _note(self, parent: str | None, state: str) -> None:
        """The same that the server's own watching makes of a status."""
        manager, kernel = self._manager, self._kernel
        if manager.track_message_type(parent):
            kernel.execution_state = state
            manager.last_kernel_activity = kernel.last_activity = datetime.now(timezone.utc)
        elif kernel.execution_state == "starting" and state != "starting":
            kernel.execution_state = "idle"


def _websocket_header(size: int) -> bytes:
    """Of a whole binary message, as a server sends it."""
    if size < 126:
        return struct.pack("!BB", 0x82, size)
    if size < 1 << 16:
        return struct.pack("!BBH", 0x82, 126, size)
    return struct.pack("!BBQ", 0x82, 127, size)
