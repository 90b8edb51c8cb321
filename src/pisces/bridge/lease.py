"""Who may call tools, and for how long: a session as the bridge knows it, and the lease that each of its cells has."""

import secrets
from collections.abc import Hashable, Mapping
from hmac import compare_digest
from typing import Any, Final, Protocol

import anyio

from pisces.bridge.wire import Answer

FINISHED: Final = "The cell that made this call has finished: tools can be called while it runs, and no longer"
_AT_ONCE: Final = 64
"""So many calls of one cell run at a time; others wait. Not of all cells: a call may run a cell that makes calls."""
_GRACE: Final = 2.0
"""Seconds for a call to heed that it is to stop, before it is cancelled."""


class ToolCall:
    """One call under way. `give_up` stops it, whoever wants that: its cell has ended, or its caller has hung up."""

    def __init__(self) -> None:
        self.abort = anyio.Event()
        """Set when the call is to stop: whatever it has started can then settle."""
        self.given_up = False
        self.begun = False
        self.scope = anyio.CancelScope()

    def give_up(self) -> None:
        """Nobody wants the answer any more."""
        if not self.given_up:
            self.given_up = True
            self.abort.set()
            self.scope.deadline = anyio.current_time() + (_GRACE if self.begun else 0.0)


class HostTools(Protocol):
    """What carries calls out."""

    def listed(self) -> Mapping[str, str]:
        """The tools there are, with a line about each."""
        ...

    async def call(self, name: str, args: Mapping[str, Any], lease: "Lease", abort: anyio.Event) -> Answer:
        """Call one. What fails is an answer, too. It is to come to its end soon once `abort` is set."""
        ...


class Lease:
    """Leave to call tools for the time of one cell. Closing it stops the calls under way."""

    def __init__(self, session: Hashable, owner: str, tools: HostTools, callers: "tuple[Lease, ...]" = ()) -> None:
        """`callers` are the leases of the cells that wait for this one, because they have called a tool that runs it.

        `session` is what the sessions above know theirs by, `owner` whom a session belongs to that the cell makes.
        """
        self.session = session
        self.owner = owner
        self.run: str | None = None
        """What the kernel calls the cell; None as long as that is not known."""
        self.open = True
        self._tools = tools
        self._callers = callers
        self._slots = anyio.Semaphore(_AT_ONCE)
        self._calls: set[ToolCall] = set()

    @property
    def chain(self) -> "tuple[Lease, ...]":
        """The cells that wait for a call of this one: itself, and those that wait for it."""
        return (*self._callers, self)

    def covers(self, run: str | None) -> bool:
        """Whether a call is of this cell. One that does not say so is taken to be of the cell that runs."""
        return self.open and (run is None or self.run is None or run == self.run)

    async def carry_out(self, call: ToolCall, name: str, args: Mapping[str, Any]) -> Answer:
        """Call a tool. It is answered whatever happens, unless the task is cancelled."""
        answer = Answer(error=FINISHED)
        self._calls.add(call)
        try:
            with call.scope:
                async with self._slots:
                    call.begun = True
                    answer = await self._tools.call(name, args, self, call.abort)
        finally:
            self._calls.discard(call)
        return Answer(error=FINISHED) if call.given_up else answer

    def close(self) -> None:
        """The cell has ended. It can be called more than once."""
        self.open = False
        for call in self._calls:
            call.give_up()


class Caller:
    """A session, as the bridge knows it: an id and a secret of its own, and the lease of the cell that runs."""

    def __init__(self) -> None:
        self.id = secrets.token_urlsafe(12)
        self.token = secrets.token_urlsafe(32)
        self._lease: Lease | None = None
        self._tools: HostTools | None = None

    @property
    def owner(self) -> str:
        """Whom sessions belong to that its cells make."""
        return f"cells of {self.id}"

    def open(self, session: Hashable, tools: HostTools, callers: tuple[Lease, ...]) -> Lease:
        """A cell begins."""
        self._tools = tools
        self._lease = Lease(session, self.owner, tools, callers)
        return self._lease

    def lease_of(self, run: str | None) -> Lease | None:
        """The lease that covers a call of this cell; None if the cell has ended."""
        return self._lease if self._lease is not None and self._lease.covers(run) else None

    def listed(self) -> Mapping[str, str]:
        """The tools that its cells have, or had last."""
        return {} if self._tools is None else self._tools.listed()

    def close(self) -> None:
        """The session ends, and what it has under way."""
        if self._lease is not None:
            self._lease.close()


class Callers:
    """All sessions that may call."""

    def __init__(self) -> None:
        self._callers: set[Caller] = set()

    def admit(self) -> Caller:
        """One more."""
        caller = Caller()
        self._callers.add(caller)
        return caller

    def dismiss(self, caller: Caller) -> None:
        """This one may call no longer."""
        caller.close()
        self._callers.discard(caller)

    def with_token(self, token: str) -> Caller | None:
        """Whose secret that is. How long it takes tells nothing about how much of a guess was right."""
        given = token.encode("utf-8", "surrogateescape")
        found = None
        for caller in self._callers:
            if compare_digest(caller.token.encode("ascii"), given):
                found = caller
        return found
