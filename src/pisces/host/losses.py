"""Sessions that are gone with a host: the next one says so, once, to whoever asks for them."""

import logging
from collections.abc import Collection, Iterable, Mapping
from pathlib import Path
from typing import Final, Literal

import msgspec

from pisces.model.sessions import LostSession
from pisces.sessions.key import SessionKey
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
    kernels: dict[str, SessionKey] = {}
    """What each of all these ran, as far as it is known."""


class Losses:
    """What is gone, and what would be if this host ended now."""

    def __init__(self, path: Path) -> None:
        self._path = path
        before = _read(path)
        self._kept = _Kept(lost=_lost_after(before), kernels=before.kernels)
        self._forget_kernels()
        self._write()

    def of(self, name: str) -> str | None:
        """Why a session of this name is gone, if its loss has not been told."""
        return self._kept.lost.get(name)

    def kernel_of(self, name: str) -> SessionKey | None:
        """What the session of this name runs, or ran before it was lost."""
        return self._kept.kernels.get(name)

    def listed(self, but: Collection[str]) -> list[LostSession]:
        """The sessions that are gone without anybody having asked for it, without those that are back."""
        return _listed(self._kept.lost, self._kept.kernels, but)

    def told(self, name: str) -> None:
        """Somebody knows now."""
        if self._kept.lost.pop(name, None) is not None:
            self._forget_kernels()
            self._write()

    def made(self, key: SessionKey) -> None:
        """There is, or is about to be, a session with this kernel."""
        if self._kept.kernels.get(key.id) != key:
            self._kept.kernels[key.id] = key
            self._write()

    def follow(self, names: Iterable[str]) -> None:
        """These are the sessions that there are now."""
        sessions = sorted(names)
        if sessions != self._kept.sessions:
            self._kept.sessions = sessions
            self._forget_kernels()
            self._write()

    def end(self, ending: Ending) -> None:
        """The host ends, and this is why."""
        self._kept.ending = ending
        self._write()

    def _forget_kernels(self) -> None:
        """Keep those of sessions that are there, or are lost."""
        counted_on = {*self._kept.sessions, *self._kept.lost}
        self._kept.kernels = {name: key for name, key in self._kept.kernels.items() if name in counted_on}

    def _write(self) -> None:
        try:
            write_whole(self._path, msgspec.json.encode(self._kept))
        except OSError as error:
            _log.warning("a later host will not know which sessions are lost: %s", error)


def lost_sessions(path: Path) -> list[LostSession]:
    """The same as `Losses.listed`, where no host is up. The file stays as it is."""
    kept = _read(path)
    return _listed(_lost_after(kept), kept.kernels, ())


def _lost_after(kept: _Kept) -> dict[str, str]:
    """What is lost when the host is gone that wrote this."""
    gone = dict.fromkeys(kept.sessions, _WHY[kept.ending])
    return dict([*kept.lost.items(), *gone.items()][-_REMEMBERED:])


def _listed(lost: Mapping[str, str], kernels: Mapping[str, SessionKey], but: Collection[str]) -> list[LostSession]:
    unexpected = sorted(name for name, why in lost.items() if why == _WHY["unexpected"] and name not in but)
    ran = {name: key.interpreter for name, key in kernels.items()}
    return [LostSession(name, lost[name], ran.get(name, "")) for name in unexpected]


def _read(path: Path) -> _Kept:
    try:
        return msgspec.json.decode(path.read_bytes(), type=_Kept)
    except FileNotFoundError:
        return _Kept()
    except (OSError, msgspec.DecodeError) as error:
        _log.warning("which sessions an earlier host had is not known: %s", error)
        return _Kept()
