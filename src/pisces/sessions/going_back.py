"""Going to another state because somebody wants to: undo, and restore by name.

Above is `session`, which has the turn. What is not in the process is not taken back by any of this: files, the
network, other processes.
"""

from typing import Protocol

import msgspec

from pisces.errors import CheckpointError, DeadlineExceeded, KernelError
from pisces.kernels.base import Checkpointing, Kernel
from pisces.kernels.deadline import Deadline
from pisces.model.events import Restore
from pisces.sessions.checkpoints import Kept
from pisces.sessions.recovery import StateNews
from pisces.sessions.state import SessionState


class WentBack(msgspec.Struct, frozen=True):
    """Where the session stands now, and what that means."""

    cells: int
    """How many finished cells were taken back; below 0 when it went forward again, to a named checkpoint."""
    position: int
    """How many finished cells there are now."""
    next_back: int
    """How many cells further back the next state lies that can be gone to; 0 at the end."""
    restore: Restore
    name: str = ""
    """The name of the checkpoint; empty for one without, and for a fresh kernel."""
    fresh: bool = False
    """Whether this is the beginning: a fresh kernel."""
    reset: bool = False
    """Whether a reset was taken back, with the cells after it."""


class Traveller(Protocol):
    """A session, as far as this is concerned."""

    state: SessionState
    kernel: Kernel | None

    async def ensure_kernel(self, deadline: Deadline) -> Kernel: ...
    async def has_kernel(self) -> bool: ...
    async def end_kernel(self) -> None: ...
    async def recover_if_dead(self) -> None: ...
    def able_to_keep(self, kernel: Kernel) -> Checkpointing: ...
    def came_back(self) -> None: ...
    def announce(self, news: StateNews, *, but: str = "") -> None: ...


def undo_target(state: SessionState, steps: int) -> Kept | None:
    """The checkpoint of right before the last cells, or before the reset that they came after.

    None for the beginning. Raises `CheckpointError` if none is.
    """
    own = state.position - state.start
    over_reset = state.steps_over_reset
    if over_reset and steps == over_reset:
        return state.checkpoints.before_reset
    if own == 0 and not over_reset:
        what = "no cell has finished in it yet" if state.start == 0 else "no cell has finished since it was branched"
        raise CheckpointError(f"There is nothing to undo in this session: {what}.")
    if not 1 <= steps <= own:
        hint = f"undo with steps: {over_reset} takes the reset before them back too." if over_reset else ""
        raise CheckpointError(f"{steps} cells cannot be undone: the session has finished {own}.", hint=hint)
    target = state.position - steps
    for kept in state.checkpoints.backwards(up_to=target):
        if kept.position == target:
            return kept
    if target == 0:
        return None
    raise _out_of_reach(state, steps)


def _out_of_reach(state: SessionState, steps: int) -> CheckpointError:
    """Nothing is kept of exactly before the last cells. Going further back than was asked for is not ours to decide."""
    last = "cell" if steps == 1 else f"{steps} cells"
    told = f"The state of before the last {last} is not kept"
    nearer = max((kept.position for kept in state.checkpoints.backwards(up_to=state.position - steps)), default=0)
    if nearer > 0 or state.start == 0:
        back = state.position - nearer
        cells = "1 cell" if nearer == 1 else f"{nearer} cells"
        where = "the beginning, with a fresh kernel" if nearer == 0 else f"where it stood after {cells}"
        return CheckpointError(f"{told}.", hint=f"undo with steps: {back} takes the session back to {where}.")
    return CheckpointError(f"{told}: this is the end of what can be undone.", hint="`branch` keeps what there is now.")


async def go_back(
    session: Traveller, kept: Kept | None, deadline: Deadline, *, owner: str, over_reset: bool = False
) -> WentBack:
    """Go on from this checkpoint, or from a fresh kernel; whoever has the turn. Every owner but this one is told.

    With `over_reset`, the checkpoint is that of before the last reset.
    """
    state = session.state
    left, own = state.position, state.position - state.start
    if kept is None:
        session.able_to_keep(await _some_kernel(session, deadline))
        await session.end_kernel()
        state.began_anew(same_folder=False)  # The next call starts the fresh kernel.
        restore = Restore("exact")
    else:
        restore = await _wake(session, kept, deadline)
    cells = own if over_reset else left - state.position
    session.announce(_news(cells, kept, restore), but=owner)
    name = "" if kept is None else kept.name
    return WentBack(cells, state.position, state.next_back, restore, name, kept is None, over_reset)


async def _wake(session: Traveller, kept: Kept, deadline: Deadline) -> Restore:
    kernel = session.able_to_keep(await _some_kernel(session, deadline))
    try:
        await kept.checkpoint.settled(deadline)  # What is still being made would end with the live process.
        revival = await kernel.restore(kept.checkpoint, deadline)
    except (KernelError, DeadlineExceeded) as error:
        if not kept.checkpoint.usable:  # One that took too long, or was refused a fork, can be had later.
            session.state.checkpoints.drop(kept)
        alive = await session.has_kernel()
        await session.recover_if_dead()
        cells = "1 cell" if kept.position == 1 else f"{kept.position} cells"
        raise CheckpointError(
            f"The checkpoint of after {cells} could not be woken: {error.clause}.",
            hint="Nothing has changed: the session goes on where it stands."
            if alive
            else "The kernel had ended. The next result of the session says where it stands now.",
        ) from error
    session.state.went_back_to(kept, exact=revival.how == "exact")
    session.came_back()
    return revival.restore(0)


async def _some_kernel(session: Traveller, deadline: Deadline) -> Kernel:
    """The session's kernel, alive or dead; a fresh one if it has none."""
    return session.kernel if session.kernel is not None else await session.ensure_kernel(deadline)


def _news(cells: int, kept: Kept | None, restore: Restore) -> StateNews:
    """For the others who hold the session."""
    count = f"{abs(cells)} {'cell' if abs(cells) == 1 else 'cells'}"
    where = f"taken back by {count}" if cells > 0 else f"taken forward by {count}" if cells < 0 else "restored"
    to = "a fresh kernel" if kept is None else f"the checkpoint {kept.name!r}" if kept.name else "a checkpoint"
    told = msgspec.structs.replace(restore, cells_lost=max(0, cells))
    missing = f" Not back: {', '.join(restore.missing)}." if restore.missing else ""
    return StateNews("restored", f"Somebody who shares this session has had it {where}, to {to}.{missing}", told)
