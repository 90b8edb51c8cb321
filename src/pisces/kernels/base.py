"""The contract of a kernel backend: all that the layers above know of it.

A backend is one folder that provides a `Kernel`, and one line in `registry`. Optional abilities are protocols of
their own (`Checkpointing`): callers ask for the ability with `isinstance`, never for the backend's name. The suite
in `tests/contract/` says what every backend must do; `memory.MemoryKernel` is the smallest one that passes it.
"""

from collections.abc import Mapping, Sequence
from typing import Literal, Protocol, runtime_checkable

import msgspec

from pisces.kernels.deadline import Deadline
from pisces.model.completion import Completion
from pisces.model.events import AnyEvent, ProcessExit, Restore, Variable
from pisces.output.artifacts import ArtifactStore


class LaunchSpec(msgspec.Struct, frozen=True):
    """What a new kernel needs to know: whose Python, where, and with which environment."""

    interpreter: str
    cwd: str
    env: Mapping[str, str]
    """The environment that the process starts with, already filtered; kernels that share it may share a zygote."""
    injected: Mapping[str, str] = {}
    """Variables of Pisces itself, which differ from session to session; set on top of `env`."""
    preload: tuple[str, ...] = ()
    """Modules to import before there is a session, shared by all kernels of this interpreter and environment."""
    memory_limit_mb: int = 0
    """The most memory that the kernel and all it starts may have; 0 for no limit."""
    kernelspec: str = ""
    """The name of an installed kernelspec to run; empty for a kernel of the interpreter's own."""
    durable: bool = False
    """Whether the kernel is to outlive this process, where the backend can have that."""
    injected_elsewhere: Mapping[str, str] = {}
    """What a kernel on another machine gets, in the place of `env` and `injected`."""
    artifacts: ArtifactStore | None = None
    """The kept outputs; a kernel on another machine may read those of `session`, through its connection."""
    session: str = ""
    """The name of the session that the kernel is for."""


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

    @property
    def run(self) -> str:
        """What the code in the kernel can know this cell by; empty if it cannot."""
        ...

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


class Checkpoint(Protocol):
    """A copy of a kernel that sleeps, and costs memory until it is dropped."""

    @property
    def usable(self) -> bool:
        """Whether it can be gone back to, as far as is known: False once it has been dropped or has died."""
        ...

    @property
    def died(self) -> bool:
        """Whether it ended by itself: nobody dropped it, and it did not end together with all others of its kernel."""
        ...

    @property
    def by_value(self) -> bool:
        """Whether a kernel could come back from it only by value, which takes longer, as far as is known."""
        ...

    @property
    def blocked_ms(self) -> float | None:
        """For how long the kernel could do nothing else while this was made; None as long as it has not been told."""
        ...

    async def settled(self, deadline: Deadline) -> None:
        """Return when it is certain that there is this checkpoint, whatever becomes of its kernel.

        Raises `CheckpointError` when it could not be made, or `DeadlineExceeded`.
        """
        ...

    def drop(self) -> None:
        """Give it up; it can be called more than once."""
        ...


class Outlook(msgspec.Struct, frozen=True):
    """What can be known about the next checkpoint before it is made."""

    obstacle: str = ""
    """Why there can be none, as a clause (`a CUDA context is live`); empty when there can."""
    resident_mb: float = 0.0
    """How much memory the kernel holds, which is what a fork has to map again."""
    faults: int = 0
    """How many pages the last cell touched first, or had to copy because a checkpoint lies beneath."""


class Revival(msgspec.Struct, frozen=True):
    """How a kernel came back from a checkpoint."""

    how: Literal["exact", "by_value"]
    missing: tuple[str, ...] = ()
    """What did not come back, each for a list: `thread 'worker'`, `conn (socket)`."""
    because: str = ""
    """Why it could only come back by value, as a clause; empty when it came back exactly."""

    def restore(self, cells_lost: int) -> Restore:
        """The same, for the reader of a result."""
        return Restore(self.how, cells_lost, self.missing, self.because)


@runtime_checkable
class Checkpointing(Protocol):
    """A kernel that can come back from its own death, go back, and branch. All of it between cells."""

    def outlook(self) -> Outlook:
        """What a checkpoint made now would mean."""
        ...

    async def checkpoint(self, *, wanted: bool = False) -> Checkpoint:
        """Keep the state as it is now. Returns when it is under way; the next cell runs after it.

        With `wanted`, a caller asked for it: then it may wait longer for a moment at which it does no harm.
        Raises `KernelGone`, or `CheckpointError` with the reason when there can be none.
        """
        ...

    async def restore(self, checkpoint: Checkpoint, deadline: Deadline) -> Revival:
        """Go on from this checkpoint; what is left of the process before is ended last.

        Afterwards the kernel is alive as the same object, in a new process, and the checkpoint can be used again.
        Raises `KernelStartError` or `DeadlineExceeded` when the checkpoint cannot be woken; the kernel is as it was
        then, alive or dead, and another checkpoint may be tried.
        """
        ...

    async def branch(self, checkpoint: Checkpoint, spec: LaunchSpec, deadline: Deadline) -> "tuple[Kernel, Revival]":
        """A second kernel that goes on from this checkpoint, while this one is not touched. Raises as `restore`.

        Of `spec`, only what differs from session to session counts: `injected`.
        """
        ...


@runtime_checkable
class Inspecting(Protocol):
    """A kernel that can list its namespace. Between cells."""

    async def variables(self, deadline: Deadline) -> tuple[Variable, ...]:
        """Every name that the user has bound, in order of name. Raises `KernelGone` or `DeadlineExceeded`."""
        ...


@runtime_checkable
class Completing(Protocol):
    """A kernel that can tell what could stand at a cursor. Between cells, and without a trace in what it knows."""

    async def complete(self, code: str, cursor: int, deadline: Deadline) -> Completion:
        """What could stand there, in characters of the code; nothing if that cannot be told in time.

        Cancelling the wait is safe: an answer that comes late is heard by nobody. Raises `KernelGone`.
        """
        ...


@runtime_checkable
class Prepared(Protocol):
    """A kernel that may have our own code inside, with which the prelude and extension modules come into it."""

    @property
    def has_guest(self) -> bool:
        """Whether it has, which is known once it is up: not where it runs another language."""
        ...


@runtime_checkable
class Mortal(Protocol):
    """A kernel that can tell how it died, also when no cell ran."""

    @property
    def ended(self) -> ProcessExit | None:
        """How its process ended; None while it lives, and when that has been cleared away."""
        ...


class Ticket(msgspec.Struct, frozen=True):
    """What leads back to a kernel that lives elsewhere."""

    place: str
    """Where it lives: the address of a gateway, without secrets."""
    kernel: str
    """Its id there."""
    client: str
    """Whom it knows us as."""
    nonce: str
    """What the kernel is known by: another process under the same id does not have it."""
    python: str = ""
    """The interpreter whose gateway that is; empty for a gateway of somebody else."""


@runtime_checkable
class Staying(Protocol):
    """A kernel that lives elsewhere, and goes on without us."""

    @property
    def ticket(self) -> Ticket | None:
        """What leads back to it; None when it cannot be left there."""
        ...

    async def detach(self) -> None:
        """Leave it there as it is. This object is of no use then."""
        ...


KernelKind = Literal["native", "jupyter"]


class Backend(Protocol):
    """Where kernels of one kind come from; one per runtime."""

    @property
    def name(self) -> str:
        """The name by which `python.backend` chooses it."""
        ...

    @property
    def kind(self) -> KernelKind:
        """What its kernels are: fewer may be up at once of those that share nothing with each other."""
        ...

    def kernel(self, spec: LaunchSpec) -> Kernel:
        """A kernel that has not been started yet."""
        ...

    async def aclose(self) -> None:
        """End every process that belongs to this backend."""
        ...


@runtime_checkable
class Offering(Protocol):
    """A backend that lives elsewhere and has kernelspecs of its own; others have what is installed here."""

    async def kernelspecs(self, deadline: Deadline) -> Mapping[str, str]:
        """The language of each, by name. Raises `KernelStartError` or `DeadlineExceeded`."""
        ...


@runtime_checkable
class WarmingUp(Protocol):
    """A backend that can do most of a start before anybody asks for a kernel, and that costs little to have done so."""

    async def warm_up(self, spec: LaunchSpec, deadline: Deadline) -> None:
        """Have what such kernels share. Raises `KernelStartError` or `DeadlineExceeded`."""
        ...


@runtime_checkable
class Relieving(Protocol):
    """A backend that keeps something open for later."""

    async def close_idle(self) -> None:
        """Close what no kernel needs now: descriptors have run out. The next call that needs it opens it again."""
        ...


@runtime_checkable
class Checking(Protocol):
    """A backend that needs more than an interpreter, and can tell whether it is there without starting a kernel."""

    async def check(self, spec: LaunchSpec, deadline: Deadline) -> None:
        """Raises `KernelStartError` with the reason and the remedy, or `DeadlineExceeded`."""
        ...


@runtime_checkable
class Returning(Protocol):
    """A backend whose kernels can be found again."""

    def returning(self, spec: LaunchSpec, ticket: Ticket) -> "Left":
        """The kernel that a ticket leads to, not connected yet."""
        ...


class Left(Kernel, Protocol):
    """A kernel that an earlier process left: `start` makes it ours again, where it waits for a cell.

    Each raises `KernelGone` when it is certain that there is no such kernel any more, `KernelError` or
    `DeadlineExceeded` when it cannot be reached.
    """

    async def interrupt_from_afar(self, deadline: Deadline) -> bool:
        """Interrupt what it runs, which nobody waits for any more; False if it runs nothing."""
        ...

    async def end_from_afar(self, deadline: Deadline) -> None:
        """End it where it is, whatever it runs."""
        ...
