"""One try at a cell: what was seen of it, and what that means."""

import time

from pisces.bridge.lease import Lease
from pisces.model.events import Done
from pisces.model.results import Outcome
from pisces.sessions.recovery import died_between_calls

_TIMEOUT_CODE = 124
_INTERRUPTED_CODE = 130


class Attempt:
    """Filled in by the run while the cell goes on."""

    def __init__(self, folder: str | None, lease: Lease | None = None) -> None:
        """`lease` is leave for the cell to call tools of the host; it ends with the cell."""
        self.folder = folder
        """Where the kernel was asked to go first; None for where it is."""
        self.began = False
        self.asked_for_input = False
        self.stopped = False
        """The call was to stop before the cell was done."""
        self.killed = False
        self.done: Done | None = None
        self._lease = lease
        self._sent_at = time.perf_counter()

    @property
    def duration_ms(self) -> float:
        """How long it has been since this was begun."""
        return round((time.perf_counter() - self._sent_at) * 1000, 3)

    @property
    def died(self) -> bool:
        """Whether the kernel ended under it."""
        return self.done is not None and self.done.status == "crashed"

    @property
    def cut(self) -> bool:
        """Whether the way to the kernel was lost under it."""
        return self.done is not None and self.done.status == "disconnected"

    @property
    def untaken(self) -> bool:
        """Whether it was over before the kernel had the cell."""
        return self.done is not None and self.done.status == "aborted" and not self.began

    @property
    def reached(self) -> str | None:
        """The folder that the kernel is known to have gone to. After an error it may not have been there: ask again."""
        return self.folder if self.done is not None and self.done.status == "ok" else None

    @property
    def ok(self) -> bool:
        """Whether the cell went well, by itself."""
        settled = self.done is not None and self.done.status == "ok"
        return settled and not self.stopped and not self.asked_for_input

    def sent_as(self, run: str) -> None:
        """The kernel has it; its code can know it by this."""
        if self._lease is not None:
            self._lease.run = run or None

    def end(self, done: Done) -> None:
        """It is over, and with it what it has asked of the host."""
        self.done = done
        self.close()

    def close(self) -> None:
        """It may call no tool any more. It can be called more than once."""
        if self._lease is not None:
            self._lease.close()

    def how_it_died(self, grace: float) -> str:
        """Why the kernel is gone, as the beginning of a sentence."""
        if self.killed:
            return f"The cell did not stop within {grace:g} seconds of being interrupted, so the kernel was killed"
        ended = self.done.process_exit if self.done else None
        if not self.began:
            return died_between_calls(ended)
        return "The kernel ended" if ended is None else f"The kernel {ended.describe()}"

    def outcome(self, done: Done, *, asked: bool) -> Outcome:
        """How the call ended with this cell, which did not go well; `asked` if somebody wanted it stopped."""
        if not self.stopped:
            return "error" if done.status == "ok" else done.status
        if not asked:
            return "timeout"
        return "interrupted" if self.began else "aborted"


def exit_code(outcome: Outcome, done: Done) -> int:
    """The exit code of a cell that did not go well."""
    if outcome == "timeout":
        return _TIMEOUT_CODE
    if outcome in ("interrupted", "aborted"):
        return _INTERRUPTED_CODE
    if done.process_exit is not None:
        return done.process_exit.exit_code
    return 1 if done.exit_code is None else done.exit_code
