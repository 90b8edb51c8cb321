"""What becomes of the state when a kernel has died, or had to be killed: it comes back or is lost, and which is said.

Above is `session`, which owns the kernel. Below are the session's checkpoints and a kernel's ability to wake one.
"""

import logging

import msgspec

from pisces.errors import DeadlineExceeded, KernelError, without_descriptor
from pisces.kernels.base import Checkpointing, Kernel
from pisces.kernels.deadline import Deadline
from pisces.model.events import KernelState, ProcessExit, Restore
from pisces.sessions.state import SessionState

_DIED_BETWEEN_CALLS = "The kernel had ended since the last call"

_RESTORE_CAP = 25.0
"""For one checkpoint: variables that are copied one by one take a while; waking a process takes milliseconds."""
_RECOVERY_CAP = 40.0
_SHARE = 0.625
"""One checkpoint gets at most so much of the time that is left, so that there is some for the others."""
_LONG = 10.0
"""Once so much time has been spent in vain, those that come back exactly go first: others are likely to hang alike."""

BY_VALUE_LACKS = "settings inside libraries, and what was patched into modules, are new"
"""What every state that comes back by value lacks, and nobody can list."""

_log = logging.getLogger(__name__)


class StateNews(msgspec.Struct, frozen=True):
    """Something happened to the state that no caller has been told yet."""

    state: KernelState
    text: str
    restore: Restore | None = None

    @classmethod
    def lost(cls, why: str) -> "StateNews":
        """The kernel is gone, and with it all it knew."""
        return cls("lost", f"{why}. The state is lost: variables and imports are gone.")

    @classmethod
    def restored(cls, why: str, restore: Restore) -> "StateNews":
        """The kernel is back from a checkpoint."""
        return cls("restored", f"{why}. {describe(restore)}", restore)

    @classmethod
    def nothing_to_lose(cls, why: str) -> "StateNews":
        """The kernel is gone, but it knew nothing that a fresh one does not."""
        text = f"{why}. No cell had finished before, so nothing is lost: a fresh kernel takes its place."
        return cls("restored", text, Restore("exact"))

    def then(self, later: "StateNews") -> "StateNews":
        """Both, for somebody who has heard of neither: a loss is never hidden by what came back before or after it."""
        if self.restore is None or later.restore is None:
            return self if self.restore is None else later
        how = self.restore.how if later.restore.how == "exact" else "by_value"
        missing = tuple(dict.fromkeys(self.restore.missing + later.restore.missing))
        cells = self.restore.cells_lost + later.restore.cells_lost
        total = f" Since your last call, the work of {cells} finished cells is gone in all." if cells else ""
        absent = f" Not back: {', '.join(missing)}." if missing else ""
        because = later.restore.because or self.restore.because
        return StateNews("restored", f"{later.text}{total}{absent}", Restore(how, cells, missing, because))


def died_between_calls(ended: ProcessExit | None) -> str:
    """Why there is no kernel although no cell ended it, as the beginning of a sentence."""
    return f"{_DIED_BETWEEN_CALLS}: it {ended.cause}" if ended is not None and ended.cause else _DIED_BETWEEN_CALLS


async def bring_back(kernel: Kernel, state: SessionState, why: str) -> StateNews | None:
    """Have a dead kernel go on from the newest checkpoint that wakes; None if none does, and it stays dead.

    Raises what waking raised when our process has no descriptor left: the checkpoint can be woken later.
    """
    if not isinstance(kernel, Checkpointing):
        return None
    deadline = Deadline.after(_RECOVERY_CAP)
    state.checkpoints.forget_unusable()  # Before going back gives up those after it, so that these are reported.
    candidates = state.checkpoints.backwards()
    while candidates:
        kept = candidates.pop(0)
        share = deadline.remaining() * (_SHARE if candidates else 1.0)
        try:
            revival = await kernel.restore(kept.checkpoint, Deadline.after(min(share, _RESTORE_CAP)))
        except (KernelError, DeadlineExceeded) as error:
            if without_descriptor(error) is not None:
                raise
            _log.warning("the checkpoint of after cell %d was not restored: %s", kept.position, error)
            if not kept.checkpoint.usable:  # One that the system would not wake now may be had later, by its name.
                state.checkpoints.forget_unusable()
            if deadline.remaining() < _RECOVERY_CAP - _LONG:
                candidates.sort(key=lambda other: other.checkpoint.by_value)
            continue
        restore = revival.restore(state.position - kept.position)
        state.went_back_to(kept, exact=revival.how == "exact")
        return StateNews.restored(why, restore)
    return None


def describe(restore: Restore) -> str:
    """How a state came back, how far back that is, and what is not there, for a reader."""
    how = "exactly"
    if restore.how == "by_value":
        because = f", because {restore.because}" if restore.because else ""
        how = f"by value (the variables were copied into a fresh kernel{because}; {BY_VALUE_LACKS})"
    if not restore.cells_lost:
        where = "to where the last finished cell had left it."
    elif restore.cells_lost == 1:
        where = "to where it was 1 cell earlier: what the last finished cell did is lost."
    else:
        lost = restore.cells_lost
        where = f"to where it was {lost} cells earlier: what the last {lost} finished cells did is lost."
    missing = f" Not back: {', '.join(restore.missing)}." if restore.missing else ""
    return f"The state was restored {how}, {where}{missing}"
