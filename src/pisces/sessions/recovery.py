"""What happens when a kernel has died, or had to be killed: its state comes back or is lost, and which is said."""

from pisces.kernels.base import Checkpointing, Kernel
from pisces.kernels.deadline import Deadline
from pisces.model.events import Restore
from pisces.sessions.session import Session, StateNews

_RESTORE_CAP = 5.0


async def recover(session: Session, kernel: Kernel, why: str) -> None:
    """After the death of the session's kernel: restored from a checkpoint, or lost; the next cell gets a fresh one.

    The session then has the news of it for every owner.
    """
    if isinstance(kernel, Checkpointing):
        restore = await kernel.restore(Deadline.after(_RESTORE_CAP))
        if restore is not None:
            session.generation += 1
            session.announce(StateNews("restored", f"{why}. {_describe(restore)}", restore))
            return
    await session.bury(why)


def _describe(restore: Restore) -> str:
    how = "exactly as it was" if restore.how == "exact" else "by value"
    lost = f" Lost besides: the {restore.cells_lost} cells before it." if restore.cells_lost else ""
    missing = f" Not back: {', '.join(restore.missing)}." if restore.missing else ""
    return f"The state of before the cell was restored, {how}.{lost}{missing}"
