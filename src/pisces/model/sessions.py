"""Sessions as the `session` tool tells of them: values only."""

from typing import Any, Literal

import msgspec

from pisces.model.events import Variable
from pisces.model.kernel_info import Phase
from pisces.model.results import JobInfo

SessionAction = Literal[
    "list", "checkpoint", "restore", "undo", "branch", "interrupt", "close", "variables", "jobs", "wait", "cancel",
    "output", "export",
]  # fmt: skip


class CheckpointInfo(msgspec.Struct, frozen=True):
    """A checkpoint that somebody named."""

    name: str
    cells: int
    """How many cells of the session had finished when it was made."""
    made: str
    """ISO 8601 in UTC."""


class SessionInfo(msgspec.Struct, frozen=True, kw_only=True):
    """A session as it is now."""

    id: str
    interpreter: str
    folder: str
    """Where its kernel was last asked to work."""
    phase: Phase
    busy: bool
    idle_seconds: float
    """Since the last call ended, or began if it runs."""
    generation: int
    """How many processes it has had."""
    cells: int
    """How many cells have finished, on the way to the present state."""
    automatic_checkpoints: int = 0
    checkpoints: tuple[CheckpointInfo, ...] = ()
    jobs: tuple[str, ...] = ()
    """The ids of jobs that run or wait in it."""
    memory_mb: float | None = None
    """What its kernel holds, where that is known without asking it."""
    journal: str = ""
    """Where what happens in it is written down; empty as long as nothing has."""


class LostSession(msgspec.Struct, frozen=True):
    """A session that is gone although nobody asked for that; named until it is used again or closed."""

    id: str
    why: str
    interpreter: str = ""
    """What it ran; empty where that is not known."""

    @property
    def line(self) -> str:
        """A line for a list."""
        ran = f"; {self.interpreter}" if self.interpreter else ""
        return f"{self.id}: lost; {self.why[:1].lower()}{self.why[1:]}{ran}"


class SessionDetails(msgspec.Struct, kw_only=True, omit_defaults=True):
    """The structured half of a result of the `session` tool; what an action has nothing to say about is left out."""

    action: SessionAction
    session: str = ""
    """The session that was acted on, or made."""
    sessions: list[SessionInfo] = msgspec.field(default_factory=list)
    lost: list[LostSession] = msgspec.field(default_factory=list)
    """Sessions of a background host that ended unexpectedly."""
    jobs: list[JobInfo] = msgspec.field(default_factory=list)
    job: JobInfo | None = None
    result: Any = None
    """What a job came to: the details of the `python` tool."""
    checkpoint: str = ""
    cells: int | None = None
    """How many cells have finished, on the way to the present state."""
    cells_taken_back: int | None = None
    reset_taken_back: bool = False
    """Whether the reset before these cells was taken back too."""
    how: str = ""
    """How the state came back: `exact`, `by_value`, or `fresh` for the beginning of the session."""
    missing: list[str] = msgspec.field(default_factory=list)
    """What did not come back."""
    variables: list[Variable] | None = None
    as_of_last_cell: bool = False
    """Whether a cell runs, and the variables are those of before it."""
    artifact_id: str = ""
    path: str = ""
    from_journal: bool = False
    """Whether the session is not here any more, and what was exported is what its journal has of it."""
    is_error: bool = False
