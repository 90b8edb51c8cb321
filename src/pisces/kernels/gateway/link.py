"""The messages of one kernel over a websocket that is made again when it breaks."""

import logging
from collections import deque
from types import ModuleType
from typing import Final

import anyio

from pisces.errors import DeadlineExceeded
from pisces.kernels.deadline import Deadline
from pisces.kernels.gateway.continuity import MISSING, Continuity
from pisces.kernels.gateway.failure import GatewayError
from pisces.kernels.gateway.gateway import Gateway
from pisces.kernels.gateway.models import KernelModel
from pisces.kernels.gateway.websocket import NotConnected, WebSocket
from pisces.kernels.jupyter import ws_json, ws_v1
from pisces.kernels.jupyter.message import Message, MessageMaker
from pisces.kernels.jupyter.transport import KernelEnded, LinkLost
from pisces.model.events import ProcessExit

_log = logging.getLogger(__name__)
_ipc = logging.getLogger("pisces.ipc")
"""Every message of the wire, for `PI_PYTHON_IPC_TRACE`; who listens masks the secrets."""

_TRIES_CAP: Final = 30.0
"""For so long a broken connection is tried again before it is given up for this call."""
_TRY_CAP: Final = 10.0
_FIRST_PAUSE: Final = 0.05
_LONGEST_PAUSE: Final = 1.0
_SILENCE: Final = 5.0
"""After so long without a word, the gateway is asked whether there is still a kernel."""
_LOOK_CAP: Final = 5.0
_PING_CAP: Final = 3.0
_VERIFY_CAP: Final = 10.0
_REFUSED: Final = (401, 403)

GONE: Final = ProcessExit(cause="is gone: the gateway has no such kernel any more")
REPLACED: Final = ProcessExit(cause="was restarted by the gateway while the connection to it was broken")


class KernelLink:
    """Of one client to one kernel. Used as `Transport` says."""

    def __init__(self, gateway: Gateway, client: str) -> None:
        self.kernel_id = ""
        self.ended: ProcessExit | None = None
        self._gateway = gateway
        self._client = client
        self._make = MessageMaker(client)
        self._continuity = Continuity(client)
        self._socket: WebSocket | None = None
        self._framing: ModuleType = ws_json
        self._inbox: deque[Message] = deque()
        self._connecting = anyio.Lock()
        self._tried = 0.0
        self._pause = 0.0
        self._attempt: anyio.CancelScope | None = None
        self._lost = ""
        self._malformed = 0

    async def connect(self, deadline: Deadline) -> None:
        """Open the websocket. Raises `NotConnected`."""
        rest = self._gateway.rest
        with deadline.scope():
            made = await WebSocket.connect(
                rest.channels_url(self.kernel_id, self._client),
                headers=rest.websocket_headers(),
                tls=rest.tls,
                subprotocol=ws_v1.SUBPROTOCOL,
            )
            self._socket = made
            self._framing = ws_v1 if made.subprotocol == ws_v1.SUBPROTOCOL else ws_json
            return
        raise NotConnected("the websocket was not opened in time")

    async def ready(self) -> None:
        """See that there is a connection, and the same kernel behind it. Raises `KernelEnded` or `LinkLost`."""
        self._lost = ""
        await self._make_sure()

    async def send(self, message: Message) -> None:
        """Send a message; a cell after `ready`. Raises `KernelEnded` or `LinkLost`."""
        while True:
            made = await self._connected()
            try:
                self._write(made, message)
            except NotConnected:
                continue  # It broke since; nothing of the message has gone out.
            await made.drain()
            return

    def _write(self, made: WebSocket, message: Message) -> None:
        payload, text = self._framing.encode(message)
        made.send(payload, text=text)
        # From here on it cannot be known, should the connection break, whether the message arrived.
        self._continuity.sent(message)
        _ipc.debug("host to gateway: %s", payload)

    async def receive(self) -> Message:
        """The next message. Raises `KernelEnded` or `LinkLost`."""
        while True:
            message = self.receive_nowait()
            if message is not None:
                return message
            self._living()
            if loss := self._lost or self._continuity.take_loss():
                self._lost = ""
                raise LinkLost(loss)
            await self._wait()

    def receive_nowait(self) -> Message | None:
        """The next message if it is there already."""
        return self._inbox.popleft() if self._inbox else self._pull()

    def _pull(self) -> Message | None:
        """The next message that has come, if it is for anybody."""
        made = self._socket
        while made is not None and (frame := made.take()) is not None:
            self._tried = self._pause = 0.0
            payload, text = frame
            _ipc.debug("gateway to host: %s", payload)
            try:
                message: Message = self._framing.decode(payload, text=text)
            except ws_json.BadFrame as error:
                self._malformed += 1
                _log.warning("a frame of the gateway was not understood: %s", error)
                continue
            wanted = self._continuity.take(message)
            if self._continuity.replaced:
                self.end(REPLACED)
                return None
            if wanted:
                return message
        return None

    async def _wait(self) -> None:
        """Until a frame is there, or something else has changed."""
        made = self._socket
        if made is None or made.closed:
            self._reconnected = await self._try_to_connect() is not None
            return
        with anyio.move_on_after(_SILENCE):
            await made.wait()
            return
        async with anyio.create_task_group() as group:
            group.start_soon(self._look_and_wake, made)
            await made.wait()  # What comes meanwhile does not have to wait for the answer.
            group.cancel_scope.cancel()

    async def _look_and_wake(self, made: WebSocket) -> None:
        await self._look()
        made.wake()

    async def _look(self) -> None:
        """See whether there is still a kernel: one that somebody else has ended may have said nothing."""
        try:
            await self.find(Deadline.after(_LOOK_CAP))
        except (GatewayError, DeadlineExceeded):
            ended = await self._gateway.lost()
            if ended is not None:
                self.end(ended.exit or ProcessExit(cause=str(ended)))
        except KernelEnded:
            return  # Whoever receives is told.

    async def find(self, deadline: Deadline) -> KernelModel:
        """What the server says of the kernel. Raises `KernelEnded`, `GatewayError` or `DeadlineExceeded`."""
        model = await self._gateway.rest.find(self.kernel_id, deadline)
        if model is not None and model.execution_state != "dead":
            return model
        self.end(GONE)
        raise _ended(self.ended or GONE)

    async def _make_sure(self) -> None:
        """Before a cell is sent: is anybody there, and is it the same kernel? Raises `KernelEnded` or `LinkLost`."""
        made = self._socket
        if made is not None and not made.closed:
            if anyio.current_time() - made.heard_at < _SILENCE:
                return
            if await made.answers(_PING_CAP):
                await self._look()
            else:
                made.abort()  # A connection on which nothing happened for long can be gone without a word.
        await self._connected()
        with anyio.move_on_after(_VERIFY_CAP):
            while self._continuity.verifying and self.ended is None:
                message = self._pull()
                if message is not None:
                    self._inbox.append(message)
                elif self._continuity.verifying:
                    await (await self._connected()).wait()
        self._living()

    async def _connected(self) -> WebSocket:
        """The connection, made again if it broke. Raises `KernelEnded` or `LinkLost`."""
        while True:
            made = await self._try_to_connect()
            if made is not None:
                return made

    async def _try_to_connect(self) -> WebSocket | None:
        """The connection, or None after one attempt at it. Raises `KernelEnded` or `LinkLost`."""
        self._living()
        made = self._socket
        if made is None or made.closed:
            async with self._connecting:
                if self._socket is made:
                    await self._try_again()
            made = self._socket
        return None if made is None or made.closed else made

    async def _try_again(self) -> None:
        began = anyio.current_time()
        try:
            with anyio.CancelScope() as self._attempt:
                # Also when it was there for a moment: a server that drops every connection is not asked all the time.
                await anyio.sleep(self._pause)
                self._pause = min(max(2 * self._pause, _FIRST_PAUSE), _LONGEST_PAUSE)
                await self._reconnect()
        except (GatewayError, NotConnected, DeadlineExceeded) as error:
            await self._failed(error)
        finally:
            self._attempt = None
            self._tried += anyio.current_time() - began

    async def _reconnect(self) -> None:
        deadline = Deadline.after(min(_TRY_CAP, max(1.0, _TRIES_CAP - self._tried)))
        while (message := self._pull()) is not None:  # What came before it broke is not asked of the next one.
            self._inbox.append(message)
        await self.find(deadline)
        broken = self._socket
        await self.connect(deadline)
        if broken is not None:
            broken.abort()
        _log.info("connected again to the kernel %s", self.kernel_id)
        probe = self._make.kernel_info()
        self._continuity.reconnected(probe)
        if self._socket is not None:
            self._write(self._socket, probe)

    async def _failed(self, error: GatewayError | NotConnected | DeadlineExceeded) -> None:
        """Go on trying, or say that it is of no use. Raises `KernelEnded` or `LinkLost`."""
        _log.info("no connection to the kernel %s: %s", self.kernel_id, error)
        ended = await self._gateway.lost()
        if ended is not None:
            self.end(ended.exit or ProcessExit(cause=str(ended)))
            raise ended
        refused = not isinstance(error, DeadlineExceeded) and error.status in _REFUSED
        if refused or self._tried >= _TRIES_CAP:
            self._tried = self._pause = 0.0
            raise LinkLost(f"The connection to the kernel is lost ({error})") from error

    def _living(self) -> None:
        if self.ended is not None:
            raise _ended(self.ended)

    def end(self, how: ProcessExit) -> None:
        """The kernel has ended: whoever receives is told, after what the kernel had said."""
        self.ended = self.ended or how
        self._wake()

    def _wake(self) -> None:
        """Have whoever waits, or tries to connect, look again."""
        if self._attempt is not None:
            self._attempt.cancel()
        if self._socket is not None:
            self._socket.wake()

    def lose(self, why: str) -> None:
        """Nothing more can be done about the cell that runs: whoever receives is told."""
        self._lost = why
        self._wake()

    async def close(self) -> None:
        """Close the connection. It is not made again if `end` was called before."""
        if self._socket is not None:
            await self._socket.close()

    def take_notes(self) -> tuple[str, ...]:
        """What the reader of the last result has to know of the connection; told once."""
        notes = [MISSING] if self._continuity.missing else []
        if self._malformed:
            notes.append(f"{self._malformed} messages from the gateway were not understood, and left out.")
        self._continuity.missing = False
        self._malformed = 0
        return tuple(notes)


def _ended(how: ProcessExit) -> KernelEnded:
    return KernelEnded(f"The kernel {how.describe()}", exit=how)
