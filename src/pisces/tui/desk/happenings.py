"""What a journal tells beside cells, in the words that a person reads."""

from pisces.journal.entries import (
    AnyEntry,
    Branched,
    CheckpointNamed,
    Reset,
    SessionBegan,
    SessionClosed,
    StateChanged,
    WentBack,
)
from pisces.render.from_journal import notice_of
from pisces.render.view import Notice


def notice_about(entry: AnyEntry) -> Notice | None:
    """What is to be said of an entry; None where nothing is."""
    if isinstance(entry, StateChanged):
        return notice_of(entry)
    text = _text(entry)
    return Notice("info", text) if text else None


def beginning(entry: SessionBegan, *, first: bool) -> Notice | None:
    """What is to be said of a session that begins: of a branch where it comes from, and that a later life is one."""
    if entry.branched_from is not None:
        return Notice(
            "info", f"Session {entry.session!r} goes on from here: a branch of {entry.branched_from.session!r}."
        )
    if first:
        return None
    kernel = "the kernel that its gateway still had, or a fresh one" if may_go_on(entry) else "a fresh kernel"
    return Notice("info", f"The session has begun anew, with {kernel}.")


def may_go_on(entry: SessionBegan) -> bool:
    """Whether a session that begins may have found the kernel of its earlier life: on a gateway it may outlive us."""
    return entry.backend == "gateway"


def _text(entry: AnyEntry) -> str:
    match entry:
        case WentBack():
            where = (
                f"that of the checkpoint {entry.name!r}" if entry.name else f"that of after {_cells(entry.position)}"
            )
            return f"{'Undo' if entry.how == 'undo' else 'Restore'}: the state is {where}."
        case Reset():
            return "Reset: a fresh kernel."
        case CheckpointNamed():
            return f"Checkpoint {entry.name!r}."
        case Branched():
            return f"Session {entry.session!r} branched off here."
        case SessionClosed():
            return f"The session was closed{': ' + entry.why if entry.why else ''}."
        case _:
            return ""


def _cells(count: int) -> str:
    return "no cell" if count == 0 else f"{count} cell{'' if count == 1 else 's'}"
