"""The sessions that a person can look at: those of the background host, those of other programs, those of the past."""

from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any, Literal

import anyio.to_thread
import msgspec

from pisces.journal.folder import JournalInfo
from pisces.journal.shelf import Shelf
from pisces.model.results import ToolResult
from pisces.model.sessions import SessionDetails, SessionInfo
from pisces.tui.desk.host_link import HostLink

Where = Literal["host", "elsewhere", "past"]
"""In the background host, where cells can be run; in another program, to watch; or over."""

_NEWEST = 200


class SeenSession(msgspec.Struct, frozen=True, kw_only=True):
    """One session."""

    name: str
    where: Where
    journal: Path | None
    """None as long as nothing has happened in it."""
    folder: str = ""
    busy: bool = False
    cells: int = 0
    last_used: float = 0.0
    """Seconds since the epoch."""
    info: SessionInfo | None = None
    """What the host says of it."""


async def seen_sessions(infos: Sequence[SessionInfo], journals: Path) -> list[SeenSession]:
    """All of them: those that the host names first, then those of other programs, then the past, the newest first."""
    known = await anyio.to_thread.run_sync(lambda: _shelf(journals).look(limit=_NEWEST))
    return [*_of_host(infos), *_of_journals(known, {info.journal for info in infos})]


@lru_cache(maxsize=4)
def _shelf(journals: Path) -> Shelf:
    """The same for every look, because it knows what has been read."""
    return Shelf(journals)


async def host_sessions(link: HostLink) -> list[SessionInfo]:
    """The sessions of the background host; none where there is no host, and none is started for this."""
    if await link.hello() is None:
        return []
    return session_details(await link.call("session", {"action": "list"})).sessions


def session_details(result: ToolResult) -> SessionDetails:
    """What the `session` tool says, typed."""
    details: Mapping[str, Any] = result.details if isinstance(result.details, dict) else {"action": "list"}
    return msgspec.convert(details, SessionDetails)


def _of_host(infos: Iterable[SessionInfo]) -> Iterable[SeenSession]:
    for info in infos:
        yield SeenSession(
            name=info.id,
            where="host",
            journal=Path(info.journal) if info.journal else None,
            folder=info.folder,
            busy=info.busy,
            cells=info.cells,
            info=info,
        )


def _of_journals(known: Iterable[JournalInfo], of_host: set[str]) -> list[SeenSession]:
    others = [
        SeenSession(
            name=each.session,
            where="elsewhere" if each.state == "live" else "past",
            journal=each.path,
            folder=each.cwd,
            cells=each.cells,
            last_used=each.last_written,
        )
        for each in known
        if str(each.path) not in of_host
    ]
    return sorted(others, key=lambda seen: seen.where)
