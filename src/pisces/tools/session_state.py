"""The actions on the state of a session: `checkpoint`, `restore`, `undo`, `branch` and `variables`."""

from itertools import count
from typing import Any

from pisces.kernels.deadline import Deadline
from pisces.model.events import Restore
from pisces.model.results import ToolResult
from pisces.model.sessions import SessionAction, SessionDetails
from pisces.sessions.going_back import WentBack
from pisces.sessions.recovery import BY_VALUE_LACKS
from pisces.sessions.session import Session
from pisces.tools.base import Services
from pisces.tools.session_result import counted, told

NOT_TAKEN_BACK = "Files, the network and child processes were not taken back: what cells did there stays as it is."


async def checkpoint(session: Session, name: str, deadline: Deadline) -> ToolResult:
    """Keep the state of now under a name."""
    kept = await session.checkpoint(name, deadline)
    text = (
        f"Checkpoint {name!r} of session {session.key.id!r} made, after {counted(kept.position)}. "
        "It is kept until it is dropped, its name is used again, or the session ends."
    )
    return told(text, _details("checkpoint", session, checkpoint=name))


def drop_checkpoint(session: Session, name: str) -> ToolResult:
    """Give a named checkpoint up."""
    session.drop_checkpoint(name)
    text = f"Checkpoint {name!r} of session {session.key.id!r} is no longer kept."
    return told(text, _details("checkpoint", session, checkpoint=name))


async def restore(session: Session, name: str | None, deadline: Deadline, owner: str) -> ToolResult:
    """Go to the state of a named checkpoint, or of the newest."""
    went = await session.restore_to(name, deadline, owner=owner)
    where = f"the checkpoint {went.name!r}" if went.name else "the newest checkpoint"
    moved = counted(abs(went.cells))
    way = f", {moved} back" if went.cells > 0 else f", {moved} ahead" if went.cells < 0 else ""
    return _went_back("restore", session, went, f"Session {session.key.id!r} is at {where}{way}.")


async def undo(session: Session, steps: int, deadline: Deadline, owner: str) -> ToolResult:
    """Take the last cells back."""
    went = await session.undo(deadline, steps=steps, owner=owner)
    taken = "the last cell" if went.cells == 1 else f"the last {went.cells} cells"
    what = f"{taken} of session {session.key.id!r}{' and the reset' if went.reset else ''}"
    if went.reset and not went.cells:
        what = f"the reset of session {session.key.id!r}"
    return _went_back("undo", session, went, f"Took back {what}.{_further_back(went)}")


def _further_back(went: WentBack) -> str:
    """Where undo could go from here, unless that is plain."""
    if went.next_back == 0:
        return " This is the end: undo can go no further back."
    if went.next_back == 1:
        return ""
    what = "the beginning" if went.next_back == went.position else "the next state that is kept"
    return f" From here, {what} lies {counted(went.next_back)} back: undo with steps: {went.next_back} goes there."


async def branch(services: Services, session: Session, to: str | None, deadline: Deadline, owner: str) -> ToolResult:
    """A second session with the state of this one."""
    name = to or _free_name(services, session.key.id)
    made = await services.pool.branch(session, name, owner, deadline)
    assert made.origin is not None
    text = (
        f"Session {name!r} has the state of {session.key.id!r} after {counted(made.position)}. From here on neither "
        f"sees what the other does; files and the network are shared. {_how(made.origin.restore)}"
    )
    details = _details("branch", made, how=made.origin.restore.how, missing=list(made.origin.restore.missing))
    return told("\n".join([text.rstrip(), *made.take_notes()]), details)


async def variables(session: Session, deadline: Deadline, owner: str) -> ToolResult:
    """What the namespace holds, without showing values. What became of the state is told by the next result, too."""
    found = await session.variables(deadline)
    news = session.news_for(owner)
    lines = [f"{item.name}: {item.type}{f' {item.size}' if item.size else ''}" for item in found.variables]
    remarks = []
    if not found.current:
        remarks.append("As of the last finished cell.")
    if not found.complete:
        remarks.append("The list may not be complete.")
    head = [f"[State: {news.state}] {news.text}"] if news is not None else []
    head += [f"[{' '.join(remarks)}]"] if remarks else []
    details = _details("variables", session, variables=list(found.variables), as_of_last_cell=not found.current)
    return told("\n".join([*head, *(lines or ["(no variables)"])]), details)


def _went_back(action: SessionAction, session: Session, went: WentBack, first: str) -> ToolResult:
    beginning = "It goes on with a fresh kernel, as at its beginning."
    where = beginning if went.fresh else f"It stands after {counted(went.position)}."
    text = " ".join(part for part in (first, where, "" if went.fresh else _how(went.restore)) if part)
    details = _details(
        action,
        session,
        checkpoint=went.name,
        cells_taken_back=went.cells,
        reset_taken_back=went.reset,
        how="fresh" if went.fresh else went.restore.how,
        missing=list(went.restore.missing),
    )
    return told(f"{text}\n{NOT_TAKEN_BACK}", details)


def _how(restore: Restore) -> str:
    how = ""
    if restore.how == "by_value":
        because = f", because {restore.because}" if restore.because else ""
        how = f"The variables came back by value, in a fresh kernel{because}; {BY_VALUE_LACKS}."
    missing = f"Not back: {', '.join(restore.missing)}." if restore.missing else ""
    return " ".join(part for part in (how, missing) if part)


def _details(action: SessionAction, session: Session, **more: Any) -> SessionDetails:
    return SessionDetails(action=action, session=session.key.id, cells=session.position, **more)


def _free_name(services: Services, origin: str) -> str:
    """The name of the origin with the first number from 2 on that no session has."""
    taken = {session.key.id for session in services.pool.sessions}
    return next(name for number in count(2) if (name := f"{origin}-{number}") not in taken)
