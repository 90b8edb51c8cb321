"""What carries messages to one kernel and has power over it: all that `kernel` knows of `zmq` and `gateway`."""

from typing import Protocol

from pisces.errors import KernelGone, PiscesError
from pisces.kernels.deadline import Deadline
from pisces.kernels.jupyter.message import Message
from pisces.model.events import ProcessExit


class KernelEnded(KernelGone):
    """It is certain that the kernel has ended, and with it all that it knew; `exit` as far as it is known."""

    def __init__(self, message: str, *, exit: ProcessExit | None = None, hint: str = "") -> None:  # noqa: A002 - the word for it
        super().__init__(message, hint=hint)
        self.exit = exit


class LinkLost(PiscesError):
    """The way to the kernel is lost for good as far as this call goes; what became of the kernel is not known."""


class Transport(Protocol):
    """One kernel's messages, and its life. Used by one task at a time, but for `interrupt`, `kill` and `shutdown`."""

    @property
    def interpreter(self) -> str:
        """What runs the code, for the reader of a result: a path, or a kernelspec's name."""
        ...

    @property
    def client(self) -> str:
        """The session id that messages of this client carry, and that a reconnect gives again."""
        ...

    @property
    def shares_machine(self) -> bool:
        """Whether the kernel runs here as this user: then its folder and environment are what the session's are."""
        ...

    async def open(self, deadline: Deadline) -> None:
        """Bring the kernel up and open its channels; messages can be sent then.

        Raises `KernelStartError`, `KernelEnded`, or `DeadlineExceeded`. Nothing is left then, nor when it is
        cancelled.
        """
        ...

    async def ready(self) -> None:
        """See that a message would get through, which may take a while. Raises `KernelEnded` or `LinkLost`.

        Cancelling it is safe: nothing has been sent.
        """
        ...

    async def send(self, message: Message) -> None:
        """Send a message on its channel. Raises `KernelEnded`, or `LinkLost` after trying to connect again."""
        ...

    async def receive(self) -> Message:
        """The next message, from whichever channel.

        Cancelling loses none. A dropped connection is made good in here, where it can. Raises `KernelEnded` once
        everything that the kernel had sent has been read, or `LinkLost`.
        """
        ...

    def receive_nowait(self) -> Message | None:
        """The next message if it is there already; None if not. Raises nothing: `receive` does."""
        ...

    def take_as_read(self) -> None:
        """Take no more from the kernel than is asked for: it has been told to keep the rest."""
        ...

    async def interrupt(self) -> bool:
        """Have the kernel interrupted by who has power over it; False if that cannot be done, or did not work."""
        ...

    @property
    def ended(self) -> ProcessExit | None:
        """How the kernel ended, with as much as is known; None while it lives as far as is known."""
        ...

    def take_notes(self) -> tuple[str, ...]:
        """What the reader of the next result has to know of the connection, each a sentence; told once."""
        ...

    async def kill(self) -> None:
        """End it at once, with all it started where that is possible; `receive` then raises `KernelEnded`."""
        ...

    async def shutdown(self) -> None:
        """End it in good order, then as `kill`; close the channels. It can be called more than once."""
        ...
