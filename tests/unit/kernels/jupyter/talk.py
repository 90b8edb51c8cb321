"""Messages as a kernel would send them, and a transport that a test speaks through."""

from collections import deque
from collections.abc import Mapping
from typing import Any

import anyio

from pisces.kernels.deadline import Deadline
from pisces.kernels.jupyter.message import Channel, Message
from pisces.kernels.jupyter.transport import KernelEnded
from pisces.model.events import ProcessExit

CLIENT = "client"
KERNEL = "kernel"


def said(
    kind: str,
    content: Mapping[str, Any],
    *,
    to: str = "request",
    channel: Channel = "iopub",
    asked_by: str = CLIENT,
    session: str = KERNEL,
    number: int | None = None,
) -> Message:
    """One message of the kernel's, an answer to the request `to` of the client `asked_by`."""
    name = f"m-{kind}" if number is None else f"{KERNEL}_1_{number}"
    parent = {"msg_id": to, "session": asked_by} if to else {}
    return Message(channel, {"msg_id": name, "msg_type": kind, "session": session}, parent, content)


def state(name: str, *, to: str = "request", **where: Any) -> Message:
    """A change of the kernel's state."""
    return said("status", {"execution_state": name}, to=to, **where)


def reply(status: str = "ok", *, to: str = "request", number: Any = None, **content: Any) -> Message:
    """The answer to an execute request."""
    told = {"status": status, "execution_count": 1, **content}
    return said("execute_reply", told, to=to, channel="shell", number=number)


def stream(text: str, name: str = "stdout", **where: Any) -> Message:
    """Some text."""
    return said("stream", {"name": name, "text": text}, **where)


class ScriptedTransport:
    """Fulfils `Transport`: no kernel, and no wire. `sent` has what was sent; `script` answers a message, or not."""

    interpreter = "scripted"
    client = CLIENT
    shares_machine = True

    def __init__(self, language: str = "other") -> None:
        self.sent: list[Message] = []
        self.language = language
        self.coming: deque[Message | Exception] = deque()
        self.ended: ProcessExit | None = None
        self.interrupts = 0
        self.interrupt_works = True
        self.takes_as_read = False
        self._news = anyio.Event()

    def tell(self, *messages: Message | Exception) -> None:
        """The kernel says this, or the connection fails like this."""
        self.coming.extend(messages)
        self._news.set()

    @property
    def last(self) -> Message:
        """What was sent last."""
        return self.sent[-1]

    async def open(self, deadline: Deadline) -> None:
        await anyio.lowlevel.checkpoint()

    async def ready(self) -> None:
        await anyio.lowlevel.checkpoint()

    async def send(self, message: Message) -> None:
        self.sent.append(message)
        if message.type == "kernel_info_request" and len(self.sent) == 1:
            content = {"language_info": {"name": self.language}}
            self.tell(
                state("busy", to=message.id),
                said("kernel_info_reply", content, to=message.id, channel="shell"),
                state("idle", to=message.id),
            )

    async def receive(self) -> Message:
        while not self.coming:
            if self.ended is not None:
                raise KernelEnded("It has ended", exit=self.ended)
            self._news = anyio.Event()
            await self._news.wait()
        item = self.coming.popleft()
        if isinstance(item, Exception):
            raise item
        return item

    def receive_nowait(self) -> Message | None:
        if self.coming and isinstance(self.coming[0], Message):
            item = self.coming.popleft()
            assert isinstance(item, Message)
            return item
        return None

    def take_as_read(self) -> None:
        self.takes_as_read = True

    async def interrupt(self) -> bool:
        self.interrupts += 1
        return self.interrupt_works

    def take_notes(self) -> tuple[str, ...]:
        return ()

    async def kill(self) -> None:
        self.ended = self.ended or ProcessExit(signal=9)
        self._news.set()

    async def shutdown(self) -> None:
        self.ended = self.ended or ProcessExit(code=0)
        self._news.set()
