"""The wish to stop a call, whoever has it: its deadline, the caller, or the end of the session."""

from types import TracebackType

import anyio

from pisces.kernels.deadline import Deadline


class StopSignal:
    """One per call. Waits inside `scope` end when the deadline comes or somebody asks."""

    def __init__(self, deadline: Deadline) -> None:
        self.asked = False
        """Whether somebody asked for it, as opposed to the deadline."""
        self._deadline = deadline
        self._scope: anyio.CancelScope | None = None

    @property
    def due(self) -> bool:
        """Whether the call should begin nothing more."""
        return self.asked or self._deadline.expired

    def give(self, deadline: Deadline) -> None:
        """What the call does next has this deadline; a stop that somebody asked for stays."""
        self._deadline = deadline

    def remaining(self) -> float:
        """Seconds until the call is to stop."""
        return 0.0 if self.asked else self._deadline.remaining()

    def ask(self) -> None:
        """Stop the call."""
        self.asked = True
        if self._scope is not None:
            self._scope.cancel()

    def scope(self, *, slack: float = 0.0) -> "_StopScope":
        """For a `with` block that is left early, without an exception, when the call is to stop. Not to be nested.

        With `slack` the deadline counts that much later: waits inside that know it can then say what they waited for.
        """
        return _StopScope(self, self._deadline.scope(slack=slack))

    def watch(self, scope: anyio.CancelScope | None) -> None:
        """Cancel this scope, and no other, when somebody asks."""
        self._scope = scope
        if self.asked and scope is not None:
            scope.cancel()


class _StopScope:
    """A cancel scope that its signal watches over while it is open."""

    def __init__(self, signal: StopSignal, scope: anyio.CancelScope) -> None:
        self._signal = signal
        self._scope = scope

    def __enter__(self) -> None:
        self._scope.__enter__()
        self._signal.watch(self._scope)

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> bool:
        self._signal.watch(None)
        return bool(self._scope.__exit__(kind, error, traceback))
