"""The lines of a journal: one tagged union of frozen structs, each with its time.

A journal is a file of JSON lines. The tag (`type`) says which struct a line is; fields at their defaults are left out.
A field may be added with a default, and a struct may be added: older readers skip what they do not know, and count it.
"""

from typing import Final, Literal

import msgspec

from pisces.model.events import AnyEvent, KernelState, ProcessExit, Restore
from pisces.model.results import Outcome

SUFFIX: Final = ".jsonl"
"""How the name of a journal's file ends."""


class Entry(msgspec.Struct, frozen=True, tag=True, omit_defaults=True):
    """The root of the union; only its subclasses are ever made."""

    time: float
    """Seconds since 1970, UTC."""


class BranchPoint(msgspec.Struct, frozen=True):
    """Where a session left the one that it is a branch of."""

    session: str
    journal: str
    """The path of the origin's journal."""
    offset: int
    """How many bytes of the origin's journal are part of the branch's past."""


class SessionBegan(Entry, frozen=True):
    """The first line of every journal."""

    session: str
    cwd: str = ""
    interpreter: str = ""
    backend: str = ""
    version: str = ""
    branched_from: BranchPoint | None = None
    kernelspec: str = ""
    """The kernelspec that was asked for by its name; empty for the Python that is configured."""


class CellBegan(Entry, frozen=True):
    """A cell was sent to the kernel."""

    cell: int
    """Counts the tries at cells in this journal, from 1."""
    code: str
    title: str = ""
    call: int = 0
    """Counts the calls of this session, from 1."""
    index: int = 0
    """The place of the cell in its call, from 0."""


class Output(Entry, frozen=True):
    """What the cell said, as the kernel said it; neighbouring text of one stream may be put together."""

    cell: int
    event: AnyEvent


class TextCut(Entry, frozen=True):
    """Here so many characters of the cell's text are not in the journal."""

    cell: int
    characters: int


class CellEnded(Entry, frozen=True):
    """The cell is over, whatever became of it."""

    cell: int
    outcome: Outcome = "ok"
    position: int = 0
    """How many cells the state has seen finish, this one included if it did."""
    began: bool = True
    """Whether its code began to run, and may have had side effects."""
    died: bool = False
    """Whether the kernel ended under it: what the cell did is then not part of the state."""
    execution_count: int | None = None
    duration_ms: float = 0.0
    exit_code: int = 0
    process_exit: ProcessExit | None = None
    artifact_id: str | None = None
    """Where the whole text of the call is, if it was too much to show."""
    left_out: int = 0
    """How many displays and statuses were more, or larger, than a journal takes."""


class StateChanged(Entry, frozen=True):
    """The kernel had died or was ended, and the state came back or was lost."""

    state: KernelState
    text: str
    position: int = 0
    """How many finished cells the state has now."""
    restore: Restore | None = None


class CheckpointNamed(Entry, frozen=True):
    """The state of this moment was kept under a name; a name that is used again means the newer one."""

    name: str
    position: int


class WentBack(Entry, frozen=True):
    """Somebody chose to go back to an earlier state, or forward again to a named one."""

    how: Literal["undo", "restore"]
    position: int
    name: str = ""
    """The checkpoint that was gone to, if it had a name."""
    over_reset: bool = False
    """Whether it was that of before the last reset that could be taken back."""


class Reset(Entry, frozen=True):
    """Somebody chose to begin with a fresh kernel."""

    can_be_undone: bool = False
    """Whether the state of before it was kept."""


class Branched(Entry, frozen=True):
    """Another session goes on from the state of this moment."""

    session: str
    journal: str
    position: int


class SessionClosed(Entry, frozen=True):
    """The last line, when the session ended in good order."""

    why: str = ""


AnyEntry = (
    SessionBegan
    | CellBegan
    | Output
    | TextCut
    | CellEnded
    | StateChanged
    | CheckpointNamed
    | WentBack
    | Reset
    | Branched
    | SessionClosed
)
