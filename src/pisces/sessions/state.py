"""Where a session stands, and what it can go back to: the number of its finished cells, its folder, names, checkpoints.

Above is `session`, which owns one of these and the kernel that it is about. Below are the policy, the kept
checkpoints, and the ability of a kernel to make them.
"""

import msgspec

from pisces.errors import CheckpointError
from pisces.kernels.base import Checkpoint, Checkpointing, Kernel, Outlook
from pisces.kernels.deadline import Deadline
from pisces.model.events import VariableChanges
from pisces.sessions.checkpoint_policy import CheckpointPolicy, CheckpointRule, Skip
from pisces.sessions.checkpoints import Checkpoints, Kept
from pisces.sessions.variables import Names


class Place(msgspec.Struct, frozen=True, kw_only=True):
    """Where a session begins."""

    folder: str
    position: int = 0
    """How many cells the session that it was branched from had finished."""
    names: Names | None = None
    """What the namespace holds, as far as it is known; None where it holds nothing."""


class SessionState:
    """Changed only by whoever has the session's turn."""

    def __init__(self, rule: CheckpointRule, place: Place) -> None:
        self.start = place.position
        """The session's own beginning: what was before it, in another session, cannot be gone back to."""
        self.position = place.position
        """How many cells have finished, whatever came of them."""
        self.folder = place.folder
        """The folder that was last asked for: where a fresh kernel begins."""
        self.names = Names({}) if place.names is None else place.names.copy()
        self.policy = CheckpointPolicy(rule)
        self.checkpoints = Checkpoints(rule.max_mb)
        self._first_folder = place.folder
        self._unmeasured: tuple[Kept, float] | None = None

    @property
    def blank(self) -> bool:
        """Whether a fresh kernel is all that there was: no cell has finished, here or where this was branched from."""
        return self.position == 0

    @property
    def next_back(self) -> int:
        """How many cells back the next state lies that can be gone to; 0 at the end."""
        positions = [kept.position for kept in self.checkpoints.backwards(up_to=self.position - 1)]
        if self.start == 0:
            positions.append(0)  # A fresh kernel is what there was before any cell.
        back = self.position - max(positions, default=self.position)
        return back or self.steps_over_reset

    @property
    def steps_over_reset(self) -> int:
        """How many steps of undo take the last reset back, which is one of them; 0 if nothing leads there."""
        return 0 if self.checkpoints.before_reset is None else self.position - self.start + 1

    def cell_finished(
        self, changes: VariableChanges | None, folder: str | None, code: str = "", notebook: str = ""
    ) -> tuple[str, ...]:
        """One more cell came to its own end, and did this; `folder` if it was sent there first, and went.

        For a cell of a notebook: the names of others that it overwrote.
        """
        self.position += 1
        if folder is not None:
            self.folder = folder
        return self.names.apply(changes, code, notebook)

    async def keep_after_cell(self, kernel: Checkpointing, duration_ms: float, *, put_off_ms: float = 0.0) -> str:
        """Make a checkpoint if that is worth its cost; otherwise say why not, as a sentence for the reader."""
        self._learn_cost()
        outlook = kernel.outlook()
        decision = self.policy.after_cell(outlook, duration_ms, put_off_ms=put_off_ms)
        if isinstance(decision, Skip):
            return self._skipped(decision.reason)
        try:
            self._add(await kernel.checkpoint(), outlook, "")
        except CheckpointError as error:
            return self._skipped(str(error))
        return ""

    def worth_keeping_when_idle(self, kernel: Checkpointing) -> bool:
        """Whether the state of after the last cell has no checkpoint, and should have one now that nobody waits."""
        newest = next(iter(self.checkpoints.backwards()), None)
        unkept = self.position > (self.start if newest is None else newest.position)
        return unkept and self.policy.when_idle(kernel.outlook())

    async def keep_when_idle(self, kernel: Checkpointing) -> None:
        """Make up for a checkpoint that was too dear right after its cell. Raises `CheckpointError` or `KernelGone`."""
        outlook = kernel.outlook()
        self._add(await kernel.checkpoint(), outlook, "")

    async def keep_as(self, name: str, kernel: Checkpointing, deadline: Deadline) -> Kept:
        """Make a named checkpoint, whatever it costs, and wait until it is there.

        Raises `CheckpointError` when there can be none, `KernelGone`, or `DeadlineExceeded`; then nothing has changed.
        """
        outlook = self._possible(kernel)
        self.checkpoints.make_sure_of_room(name)
        made = await kernel.checkpoint(wanted=True)
        try:
            await made.settled(deadline)
        except BaseException:
            made.drop()
            raise
        return self._add(made, outlook, name)

    async def keep_beginning(self, kernel: Checkpointing) -> None:
        """Make a checkpoint of a kernel that has just been woken. Raises `CheckpointError` or `KernelGone`."""
        outlook = self._possible(kernel)
        self._add(await kernel.checkpoint(wanted=True), outlook, "")
        self.policy.began_anew()

    async def keep_for_undo(self, kernel: Kernel | None, deadline: Deadline) -> Kept:
        """A checkpoint of now that outlives the kernel; a new one only if the newest is an older one.

        Raises `CheckpointError` when there can be none, `KernelGone`, or `DeadlineExceeded`.
        """
        kept = next(iter(self.checkpoints.backwards()), None)
        if kept is None or kept.position != self.position:
            if self.policy.rule.mode == "off":
                raise CheckpointError("python.checkpoint is off")
            if not isinstance(kernel, Checkpointing):
                raise CheckpointError("this kernel cannot keep its state")
            outlook = kernel.outlook()
            obstacle = self.policy.obstacle(outlook)
            if obstacle:
                raise CheckpointError(obstacle)
            kept = self._add(await kernel.checkpoint(wanted=True), outlook, "")
        await kept.checkpoint.settled(deadline)
        return kept

    async def now(self, kernel: Checkpointing) -> Kept:
        """A checkpoint for the caller, who drops it. Raises `CheckpointError` if there can be none, or `KernelGone`."""
        self._possible(kernel)
        made = await kernel.checkpoint(wanted=True)
        self.policy.made()
        return self._here(made, "")

    def take_died(self) -> str:
        """A sentence about the checkpoints that have ended by themselves, told once; empty if there are none."""
        died = self.checkpoints.take_died()
        if not died:
            return ""
        each = ", ".join(self._named_in_sentence(kept) for kept in died)
        if len(died) == 1:
            what, it, that = f"The checkpoint {each}", "itself", "that state"
        else:
            what, it, that = f"{len(died)} checkpoints ({each})", "themselves", "those states"
        return f"{what} ended by {it} (killed, or out of memory): the session cannot go back to {that} any more."

    def _named_in_sentence(self, kept: Kept) -> str:
        cells = "1 cell" if kept.position == 1 else f"{kept.position} cells"
        where = f"of after {cells}" + (" before the reset" if kept.resets < self.checkpoints.resets else "")
        return f"{kept.name!r}, {where}," if kept.name else where

    def went_back_to(self, kept: Kept, *, exact: bool) -> None:
        """The kernel goes on from this checkpoint."""
        self.start, self.position = kept.start, kept.position
        self.folder = kept.folder
        self.names = kept.names.copy() if exact else Names(None)
        self.checkpoints.go_back_to(kept)
        self.policy.began_anew()

    def began_anew(self, *, same_folder: bool = True, undo_to: Kept | None = None) -> None:
        """There is, or will be, a fresh kernel: in the folder that was asked for last, or in the first one again.

        With `undo_to`, because of a reset that an undo can take back.
        """
        if undo_to is not None:
            self.checkpoints.reset(undo_to)
        self.start = self.position = 0
        self.folder = self.folder if same_folder else self._first_folder
        self._first_folder = self.folder
        self.names = Names({})
        self.checkpoints.go_back_to_start()
        self.policy.began_anew()

    def _add(self, made: Checkpoint, outlook: Outlook, name: str) -> Kept:
        kept = self._here(made, name)
        self.checkpoints.add(kept, outlook.resident_mb)
        self.policy.made()
        self._unmeasured = (kept, outlook.resident_mb)
        return kept

    def _here(self, made: Checkpoint, name: str) -> Kept:
        return Kept(
            checkpoint=made,
            position=self.position,
            folder=self.folder,
            names=self.names.copy(),
            start=self.start,
            resets=self.checkpoints.resets,
            name=name,
        )

    def _possible(self, kernel: Checkpointing) -> Outlook:
        outlook = kernel.outlook()
        obstacle = self.policy.obstacle(outlook)
        if obstacle:
            raise CheckpointError(f"No checkpoint can be made: {obstacle}.")
        return outlook

    def _learn_cost(self) -> None:
        """A checkpoint tells what it took after it was made: hear it before the next one is thought about."""
        if self._unmeasured is not None:
            kept, resident_mb = self._unmeasured
            blocked_ms = kept.checkpoint.blocked_ms
            if blocked_ms is not None:
                self.policy.measured(blocked_ms, resident_mb)
                self._unmeasured = None

    def _skipped(self, reason: str) -> str:
        if not reason:
            return ""
        newest = next(iter(self.checkpoints.backwards()), None)
        if newest is None:
            last = "there is none to go back to"
        else:
            back = self.position - newest.position
            last = f"the last one is {back} {'cell' if back == 1 else 'cells'} back"
        return f"No checkpoint was made after this cell ({reason}); {last}."
