"""The action `export`: a session's journal as a notebook, also when the session itself is gone."""

from pathlib import Path
from typing import Final

import anyio

from pisces.errors import InvalidCall, SessionError
from pisces.journal.export import Exported, export_notebook
from pisces.journal.folder import JournalInfo, JournalState
from pisces.model.results import ToolResult
from pisces.model.sessions import SessionDetails
from pisces.sessions.session import Session
from pisces.tools.session_result import counted, moment, told

_WHEREABOUTS: Final[dict[JournalState, str]] = {
    "live": "the session itself is kept by another process",
    "closed": "the session itself is gone",
    "not_closed": "the session itself is gone",
    "unknown": "whether the session itself still goes on elsewhere is not known",
}


def notebook_path(base: str, asked: str) -> Path:
    """The file to write, taken from `base`. Raises `InvalidCall` when it is no notebook, or cannot be one."""
    if not asked.endswith(".ipynb"):
        raise InvalidCall(f"Wrong value for `path`: the name of a notebook ends with .ipynb, got {asked!r}")
    try:
        target = Path(base, Path(asked).expanduser()).resolve()
        there = target.parent.is_dir()
    except (OSError, RuntimeError, ValueError) as error:
        raise InvalidCall(f"Wrong value for `path`: {asked!r} cannot be used ({error})") from None
    if not there:
        raise InvalidCall(f"Wrong value for `path`: there is no folder {target.parent}")
    if target.is_dir():
        raise InvalidCall(f"Wrong value for `path`: {target} is a folder")
    return target


async def export(session: Session, target: Path) -> ToolResult:
    """Write the cells that lead to the present state, with their outputs; a file that is there is replaced."""
    journal = session.journal
    if journal.path is None:
        raise SessionError(
            f"What happens in session {session.key.id!r} is not written down, so nothing can be exported"
        )
    journal.begin()
    journal.flush()
    exported = await anyio.to_thread.run_sync(export_notebook, journal.path, target)
    details = SessionDetails(action="export", session=session.key.id, path=str(target), cells=exported.cells)
    return told(f"Wrote {counted(exported.cells)} of session {session.key.id!r} to {target}.{_gaps(exported)}", details)


def export_past(past: JournalInfo, target: Path) -> ToolResult:
    """The same for a session that is not here, as its journal tells. Raises `JournalError`."""
    exported = export_notebook(past.path, target)
    details = SessionDetails(
        action="export", session=past.session, path=str(target), cells=exported.cells, from_journal=True
    )
    text = (
        f"Wrote {counted(exported.cells)} of session {past.session!r} to {target}, from its journal; "
        f"{_WHEREABOUTS[past.state]}. It began {moment(past.began)} in {past.cwd}.{_gaps(exported)}"
    )
    return told(text, details)


def _gaps(exported: Exported) -> str:
    lines = exported.unreadable
    unreadable = (
        f" {lines} damaged {'line' if lines == 1 else 'lines'} of its journal could not be read." if lines else ""
    )
    missing = f" Not in it, because their journals are gone: {', '.join(exported.missing)}." if exported.missing else ""
    return unreadable + missing
