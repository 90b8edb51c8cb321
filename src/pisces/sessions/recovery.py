"""What becomes of the state when a kernel has died, or had to be killed: it comes back or is lost, and which is said.

Above is `session`, which owns the kernel. Below is the one ability of a kernel that this is about.
"""

import msgspec

from pisces.kernels.base import Checkpointing, Kernel
from pisces.kernels.deadline import Deadline
from pisces.model.events import KernelState, Restore

DIED_BETWEEN_CALLS = "The kernel had ended since the last call"

_RESTORE_CAP = 5.0


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
        """The kernel is back from its last checkpoint."""
        return cls("restored", f"{why}. {_describe(restore)}", restore)


async def bring_back(kernel: Kernel, why: str) -> StateNews | None:
    """Have a dead kernel go on from its last checkpoint; None if it has none, and stays dead."""
    if not isinstance(kernel, Checkpointing):
        return None
    restore = await kernel.restore(Deadline.after(_RESTORE_CAP))
    return None if restore is None else StateNews.restored(why, restore)


def _describe(restore: Restore) -> str:
    how = "exactly as it was" if restore.how == "exact" else "by value"
    cells = "the last cell" if restore.cells_lost == 1 else f"the last {restore.cells_lost} cells"
    lost = f" Lost: what {cells} did." if restore.cells_lost else ""
    missing = f" Not back: {', '.join(restore.missing)}." if restore.missing else ""
    return f"The state of the last checkpoint was restored, {how}.{lost}{missing}"
