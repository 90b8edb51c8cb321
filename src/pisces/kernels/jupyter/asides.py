"""Questions about a cursor, asked of a Jupyter kernel beside its cells: no cell hears what is said to them."""

from collections import deque
from collections.abc import Callable
from typing import Final

from pisces.kernels.completing import Question
from pisces.kernels.jupyter.message import Message, MessageMaker
from pisces.kernels.jupyter.transport import Transport
from pisces.model.completion import Completion

_REMEMBERED: Final = 100
_REPLY: Final = "complete_reply"


class Asides:
    """One at a time: a kernel that has not answered the last one is not given more to do."""

    def __init__(self, transport: Transport, make: MessageMaker, hear: Callable[[Message], None]) -> None:
        """`hear` is handed every message that comes meanwhile. What it raises ends the wait."""
        self._transport = transport
        self._make = make
        self._hear = hear
        self._asked: deque[str] = deque(maxlen=_REMEMBERED)
        self._unanswered = ""

    async def ask(self, question: Question) -> Completion:
        """The kernel's answer. Cancelling the wait is safe."""
        if self._unanswered:  # Somebody asked before, and did not wait.
            await self._reply_to(self._unanswered)
        await self._transport.ready()
        message = self._make.complete(question.code, question.cursor)
        self._asked.append(message.id)
        self._unanswered = message.id
        await self._transport.send(message)
        told = (await self._reply_to(message.id)).content
        return question.answer(told.get("matches"), told.get("cursor_start"), told.get("cursor_end"))

    def take(self, message: Message) -> bool:
        """Whether the message is about one of these questions, and so for no cell."""
        if message.parent == self._unanswered and message.type == _REPLY:
            self._unanswered = ""
        return message.parent in self._asked

    def cell_follows(self) -> None:
        """What is not answered yet is answered before the cell begins, and who reads then has no use for it."""
        self._unanswered = ""

    async def _reply_to(self, question: str) -> Message:
        while True:
            message = await self._transport.receive()
            self._hear(message)
            if message.type == _REPLY and message.parent == question:
                return message
