"""Sessions that are gone with a host: the next one says so, once, to whoever asks for them."""

import logging
from collections.abc import Iterable
from pathlib import Path
from typing import Final, Literal

import msgspec

from pisces.model.results import Details, TextBlock, ToolResult
from pisces.sessions.recovery import StateNews
from pisces.settings.private_file import write_whole

Ending = Literal["unexpected", "stopped", "idle"]

_REMEMBERED: Final = 1000
_WHY: Final[dict[Ending, str]] = {
    "unexpected": "The background host that kept the session ended without being asked to",
    "stopped": "The background host that kept the session was stopped",
    "idle": "The session had been idle for too long and was ended, and so was the background host",
}

_log = logging.getLogger(__name__)


class _Kept(msgspec.Struct):
    """What the file has: written whenever a session comes or goes, so that it is true after any ending."""

    sessions: list[str] = []
    ending: Ending = "unexpected"
    """How the host ended that wrote it; until it has ended in good order, nobody knows better."""
    lost: dict[str, str] = {}
    """Sessions that are gone and why, as far as nobody has been told."""


class Losses:
    """What is gone, and what would be if this host ended now."""

    def __init__(self, path: Path) -> None:
        self._path = path
        before = _read(path)
        gone = dict.fromkeys(before.sessions, _WHY[before.ending])
        self._kept = _Kept(lost=dict([*before.lost.items(), *gone.items()][-_REMEMBERED:]))
        self._write()

    def of(self, name: str) -> str | None:
        """Why a session of this name is gone, if its loss has not been told."""
        return self._kept.lost.get(name)

    def told(self, name: str) -> None:
        """Somebody knows now."""
        if self._kept.lost.pop(name, None) is not None:
            self._write()

    def follow(self, names: Iterable[str]) -> None:
        """These are the sessions that there are now."""
        sessions = sorted(names)
        if sessions != self._kept.sessions:
            self._kept.sessions = sessions
            self._write()

    def end(self, ending: Ending) -> None:
        """The host ends, and this is why."""
        self._kept.ending = ending
        self._write()

    def _write(self) -> None:
        try:
            write_whole(self._path, msgspec.json.encode(self._kept))
        except OSError as error:
            _log.warning("a later host will not know which sessions are lost: %s", error)


def with_loss(result: ToolResult, why: str) -> ToolResult:
    """The result of the first call in a fresh session that takes the place of a lost one."""
    if not isinstance(result.details, Details):
        return result
    notice = f"[State: lost] {StateNews.lost(why).text}"
    details = result.details
    details.notices = [notice, *details.notices]
    if details.kernel is not None:
        details.kernel = msgspec.structs.replace(details.kernel, state="lost")
    content = [TextBlock(f"{notice}\n\n{result.text}"), *result.content[1:]]
    return ToolResult(content=content, details=details, is_error=result.is_error)


def _read(path: Path) -> _Kept:
    try:
        return msgspec.json.decode(path.read_bytes(), type=_Kept)
    except FileNotFoundError:
        return _Kept()
    except (OSError, msgspec.DecodeError) as error:
        _log.warning("which sessions an earlier host had is not known: %s", error)
        return _Kept()
