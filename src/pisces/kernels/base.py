"""The contract of a kernel backend: all that the layers above know of it.

A backend is one folder that provides a `Kernel`, and one line in `registry`. Optional abilities are protocols of
their own (`Checkpointing`): callers ask for the ability with `isinstance`, never for the backend's name. The suite
in `tests/contract/` says what every backend must do; `memory.MemoryKernel` is the smallest one that passes it.
"""

from collections.abc import Mapping, Sequence
from typing import Protocol, runtime_checkable

import msgspec

from pisces.kernels.deadline import Deadline
from pisces.model.events import AnyEvent, Restore


class LaunchSpec(msgspec.Struct, frozen=True):
    """What a new kernel needs to know: whose Python, where, and with which environment."""

    interpreter: str
    cwd: str
    env: Mapping[str, str]
    """The whole environment of the process, already filtered."""


class ExecuteRequest(msgspec.Struct, frozen=True):
    """One cell to run."""

    code: str
    silent: bool = False
    """Run without displaying the last expression and without counting the cell."""
    store_history: bool = True
    cwd: str | None = None
    """Change to this folder first; None leaves it where the code before left it."""
    env: Mapping[str, str] | None = None
    """Set these variables first."""
    inspect: bool = False
    """Report what the cell did to the namespace in `Done.variables`."""


class Execution(Protocol):
    """One cell under way."""

    async def receive(self) -> Sequence[AnyEvent]:
        """Wait for the next events, at least one; the last batch ends with `Done`, and nothing follows it.

        Cancelling the wait loses no event and does not touch the cell: to end that, interrupt or kill the kernel
        and go on receiving. `Done` comes whatever dies.
        """
        ...


class Kernel(Protocol):
    """One Python (or other) process with a namespace. One execution at a time; its owner sees to that."""

    @property
    def backend(self) -> str:
        """The name of the backend, for the reader of a result."""
        ...

    @property
    def interpreter(self) -> str:
        """What runs the code, for the reader of a result."""
        ...

    async def start(self, deadline: Deadline) -> None:
        """Bring the kernel up, ready for a cell.

        Raises `KernelStartError` or `DeadlineExceeded`; then, and when it is cancelled, nothing is left behind.
        """
        ...

    async def execute(self, request: ExecuteRequest) -> Execution:
        """Send a cell. Raises `KernelGone` if it certainly did not begin, because the kernel was dead already."""
        ...

    async def interrupt(self) -> None:
        """Ask the running cell to stop. Between cells it does nothing."""
        ...

    async def is_alive(self) -> bool:
        """Whether a cell could be run now."""
        ...

    async def kill(self) -> None:
        """End the process and all it started, at once and for certain. A running execution then gets its `Done`."""
        ...

    async def shutdown(self) -> None:
        """End the kernel in good order, then as `kill`. It can be called more than once."""
        ...


@runtime_checkable
class Checkpointing(Protocol):
    """A kernel that can come back from its own death with its state."""

    async def restore(self, deadline: Deadline) -> Restore | None:
        """Go on from the newest checkpoint, ending what is left of the live process first; None if there is none.

        Afterwards the kernel is alive as the same object, in a new process.
        """
        ...


class Backend(Protocol):
    """Where kernels of one kind come from; one per runtime."""

    @property
    def name(self) -> str:
        """The name by which `python.backend` chooses it."""
        ...

    def kernel(self, spec: LaunchSpec) -> Kernel:
        """A kernel that has not been started yet."""
        ...

    async def aclose(self) -> None:
        """End every process that belongs to this backend."""
        ...
