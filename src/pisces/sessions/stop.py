"""The wish to stop a call, whoever has it: its deadline, the caller, or the end of the session."""

from collections.abc import Iterator
from contextlib import contextmanager

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

    def remaining(self) -> float:
        """Seconds until the call is to stop."""
        return 0.0 if self.asked else self._deadline.remaining()

    def ask(self) -> None:
        """Stop the call."""
        self.asked = True
        if self._scope is not None:
            self._scope.cancel()

    @contextmanager
    def scope(self, *, slack: float = 0.0) -> Iterator[None]:
        """The block is left early, without an exception, when the call is to stop. Not to be nested.

        With `slack` the deadline counts that much later: waits inside that know it can then say what they waited for.
        """
        with self._deadline.scope() as scope:
            scope.deadline += slack
            self._scope = scope
            try:
                if self.asked:
                    scope.cancel()
                yield
            finally:
                self._scope = None
