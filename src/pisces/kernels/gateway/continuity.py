"""What a connection that broke and was made again may have cost: messages twice, messages missing, another kernel.

It sees every message that is sent and that comes, and waits for nothing. A server keeps what a kernel says while its
client is away, and gives it out when the same client is back; but what was under way when the connection broke is
lost, and so is what a server forgot when it restarted the kernel.
"""

from collections import deque
from typing import Final

from pisces.kernels.jupyter.message import Message

_WINDOW: Final = 2048
"""So many of the newest messages are recognised when they come again."""
_AHEAD: Final = 256
"""Channels overtake each other by less than this; a number that is still missing then will not come."""

MISSING: Final = (
    "The connection to the gateway broke while the cell ran, and was made again; part of the output may be missing."
)


class Continuity:
    """Of one client and its kernel."""

    def __init__(self, client: str) -> None:
        self.loss = ""
        """Why the running cell will never be answered; empty while it may be."""
        self.replaced = False
        """Whether another process than before answers: what the kernel knew is gone."""
        self.missing = False
        """Whether output of the last cell may be missing."""
        self._client = client
        self._newest: deque[str] = deque(maxlen=_WINDOW)
        self._known: frozenset[str] = frozenset()
        self._kernels: dict[str, str] = {}
        self._cell: _Cell | None = None
        self._probe: _Cell | None = None
        self._numbers = Numbers()

    @property
    def verifying(self) -> bool:
        """Whether the question that was asked after a reconnect has no answer yet."""
        return self._probe is not None

    def sent(self, message: Message) -> None:
        """This is about to be sent."""
        if message.type == "execute_request":
            self._cell = _Cell(message.id)
            self._numbers.stop()
            self.loss = ""

    def reconnected(self, probe: Message) -> None:
        """The connection is there again, and this question is the first that is sent on it."""
        self._known = frozenset(self._newest)
        self._probe = _Cell(probe.id)
        if self._cell is not None:
            self._cell.doubtful = True
            self._numbers.watch()

    def take(self, message: Message) -> bool:
        """Look at a message that came; False if it is not for anybody: it is here twice, or answers our question."""
        identity = f"{message.channel}:{message.id}"
        if message.id and identity in self._known:
            return False
        self._newest.append(identity)
        self._identify(message)
        if message.header.get("session") != self._client:  # What a server says in our name has numbers of its own.
            self._numbers.take(message)
        if self._probe is not None and message.parent == self._probe.request:
            self._probe.take(message)
            if self._probe.settled:
                self._judge()
            return False
        if self._cell is not None and message.parent == self._cell.request:
            self._cell.take(message)
            if self._cell.settled:
                self.missing |= self._cell.doubtful and not self._numbers.complete(message)
                self._numbers.stop()
                self._cell = None
        return True

    def take_loss(self) -> str:
        """The same as `loss`, which is empty then: it has been told."""
        loss, self.loss = self.loss, ""
        if loss:
            self._cell = None
        return loss

    def _identify(self, message: Message) -> None:
        """Kernels name themselves in what they answer; some only repeat who asked, which tells nothing."""
        named = str(message.header.get("session") or "")
        if named in ("", self._client) or message.parent_session != self._client:
            return
        if self._kernels.setdefault(message.channel, named) != named:
            self.replaced = True

    def _judge(self) -> None:
        """Requests are answered in order, so a cell that has no answer by now gets none."""
        self._probe = None
        cell = self._cell
        if cell is None or not cell.doubtful:
            return
        self.loss = (
            "The connection broke while the cell ran, and how the cell ended was lost with it"
            if cell.begun
            else "The connection broke while the cell was being sent; whether it ran is not known"
        )


class _Cell:
    """A request, and what has come of its answer."""

    def __init__(self, request: str) -> None:
        self.request = request
        self.doubtful = False
        """Whether the connection broke meanwhile."""
        self.begun = False
        self._replied = False
        self._idle = False

    @property
    def settled(self) -> bool:
        return self._replied and self._idle

    def take(self, message: Message) -> None:
        self.begun = True
        if message.channel == "shell":
            self._replied = True
        elif message.type == "status" and message.content.get("execution_state") == "idle":
            self._idle = True


class Numbers:
    """Many kernels number their messages, all channels together: then it can be told that none is missing."""

    def __init__(self) -> None:
        self._top = -1
        self._watching = False
        self._next = 0
        self._ahead: set[int] = set()
        self._gap = False

    def watch(self) -> None:
        """From here on, see whether one is missing."""
        if not self._watching:
            self._watching = True
            self._next = self._top + 1
            self._ahead = set()
            self._gap = self._top < 0

    def stop(self) -> None:
        """It does not matter any more."""
        self._watching = False

    def take(self, message: Message) -> None:
        """A message that came."""
        number = _number(message)
        if number is None:
            return
        if self._watching and number >= self._next:
            self._ahead.add(number)
            self._advance()
        self._top = max(self._top, number)

    def _advance(self) -> None:
        if len(self._ahead) > _AHEAD:
            self._gap = True
            self._next = min(self._ahead)
        while self._next in self._ahead:
            self._ahead.remove(self._next)
            self._next += 1

    def complete(self, last: Message) -> bool:
        """Whether it is certain that no message up to this one is missing."""
        number = _number(last)
        return number is not None and not self._gap and self._next > number


def _number(message: Message) -> int | None:
    """The number in an id such as `<session>_<process>_<number>` that belongs to the kernel's own session."""
    head, _, tail = message.id.rpartition("_")
    session = str(message.header.get("session") or "")
    return int(tail) if session and head.startswith(session) and tail.isascii() and tail.isdigit() else None
