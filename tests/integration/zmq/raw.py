"""A client that does no more than a test of the transport needs: send a cell, collect what is said about it."""

from collections.abc import Callable

import anyio

from pisces.kernels.jupyter.message import Message, MessageMaker
from pisces.kernels.zmq.transport import ZmqTransport
from tests.fakes.drive import PATIENCE


class RawClient:
    """Speaks to the kernel behind an open transport."""

    def __init__(self, transport: ZmqTransport) -> None:
        self.transport = transport
        self.make = MessageMaker(transport.client)

    async def meet(self) -> None:
        """Until the kernel has answered, and what it publishes is heard."""
        with anyio.fail_after(PATIENCE):
            heard: set[str] = set()
            while not {"shell", "iopub"} <= heard:
                question = self.make.kernel_info()
                await self.transport.send(question)
                with anyio.move_on_after(1.0):
                    while not {"shell", "iopub"} <= heard:
                        message = await self.transport.receive()
                        if message.parent == question.id:
                            heard.add(message.channel)

    async def send(self, code: str) -> Message:
        """Send a cell and wait for nothing."""
        request = self.make.execute(code)
        await self.transport.send(request)
        return request

    async def until(self, seen: Callable[[Message], bool]) -> list[Message]:
        """Take messages up to the one that the test waits for."""
        taken: list[Message] = []
        with anyio.fail_after(PATIENCE):
            while not (taken and seen(taken[-1])):
                taken.append(await self.transport.receive())
        return taken

    async def prints(self, text: str) -> None:
        """Wait until this stands on standard output."""
        await self.until(lambda message: text in str(message.content.get("text", "")))

    async def rest(self, request: Message) -> list[Message]:
        """What is said about a cell, to its end."""
        taken: list[Message] = []
        replied = idle = False
        with anyio.fail_after(PATIENCE):
            while not (replied and idle):
                message = await self.transport.receive()
                if message.parent == request.id:
                    taken.append(message)
                    replied |= message.type == "execute_reply"
                    idle |= message.content.get("execution_state") == "idle"
        return taken

    async def run(self, code: str) -> list[Message]:
        """Run a cell to its end."""
        return await self.rest(await self.send(code))

    async def value(self, expression: str) -> str:
        """The plain text of an expression's value."""
        said = await self.run(expression)
        (result,) = [message for message in said if message.type == "execute_result"]
        return str(result.content["data"]["text/plain"])


def text(messages: list[Message], name: str = "stdout") -> str:
    """All text of one stream."""
    streams = [message.content for message in messages if message.type == "stream"]
    return "".join(content["text"] for content in streams if content["name"] == name)
