"""The files of the background host: its socket, its locks, its log, and the record of who it is. All are private."""

import os
import stat
from collections.abc import Mapping
from pathlib import Path
from typing import Final

import msgspec

from pisces.errors import PiscesError
from pisces.settings.paths import Paths, make_private
from pisces.settings.recorded_process import process_start

_MAX_SOCKET_PATH: Final = 100
"""What every system takes for the path of a unix socket: Linux has room for 107 bytes, macOS for 103."""


class HostRecord(msgspec.Struct, frozen=True):
    """The host that is up, or that was the last to be up."""

    pid: int
    started: float
    """Seconds since the epoch."""
    version: str
    socket: str
    start_time: int = 0
    """When its process began, as the system counts: with the pid that names one process for ever. 0 if not known."""

    @property
    def is_running(self) -> bool:
        """Whether that very process is there; False also where the system does not tell."""
        return self.start_time != 0 and process_start(self.pid) == self.start_time


class HostFiles(msgspec.Struct, frozen=True):
    """Where a user's host is found. There is one host for each agent folder."""

    agent: Path
    socket: Path

    @classmethod
    def locate(cls, paths: Paths, environ: Mapping[str, str]) -> "HostFiles":
        """The files of this user's host; its socket is elsewhere when the path in the agent folder is too long."""
        files = cls(paths.agent, paths.host_socket)
        if len(os.fsencode(paths.host_socket)) <= _MAX_SOCKET_PATH:
            return files
        recorded = files.record()
        if recorded is not None:  # Whoever started it may have had another TMPDIR.
            return cls(paths.agent, Path(recorded.socket))
        return cls(paths.agent, _short_path(paths.agent, environ))

    @property
    def start_lock(self) -> Path:
        """Held by the client that starts a host."""
        return self.agent / "host.lock"

    @property
    def life_lock(self) -> Path:
        """Held by the host as long as it lives."""
        return self.agent / "host.alive"

    @property
    def record_file(self) -> Path:
        """Who the host is."""
        return self.agent / "host.json"

    @property
    def sessions_file(self) -> Path:
        """Which sessions the host has, for the one that comes after it."""
        return self.agent / "host-sessions.json"

    @property
    def log(self) -> Path:
        """What the host has to say."""
        return self.agent / "host.log"

    def record(self) -> HostRecord | None:
        """The host that is up, or was the last; None if there was none."""
        try:
            return msgspec.json.decode(self.record_file.read_bytes(), type=HostRecord)
        except (OSError, msgspec.DecodeError):
            return None

    def make_folders(self) -> None:
        """Make the folders. Raises `PiscesError` when the one for the socket is not ours alone."""
        make_private(self.agent)
        folder = self.socket.parent
        if folder == self.agent:
            return
        make_private(folder)
        status = folder.lstat()
        if not stat.S_ISDIR(status.st_mode) or status.st_uid != os.getuid() or status.st_mode & 0o077:
            raise PiscesError(
                f"The folder for the socket of the background host is not yours alone: {folder}",
                hint="Remove it, or set PISCES_HOME to a folder with a shorter path.",
            )


def _short_path(agent: Path, environ: Mapping[str, str]) -> Path:
    import hashlib  # only few homes have so long a path

    name = f"pisces-{os.getuid()}-{hashlib.sha256(os.fsencode(agent)).hexdigest()[:16]}"
    path = Path(os.path.abspath(environ.get("TMPDIR") or "/tmp"), name, "host.sock")
    return path if len(os.fsencode(path)) <= _MAX_SOCKET_PATH else Path("/tmp", name, "host.sock")


def cannot_start(agent: Path, error: OSError) -> PiscesError:
    """What a refusal of the system means to somebody who wants a host."""
    if isinstance(error, TimeoutError):
        hint = "A host that is ending may still hold it: try again, or see what that process does."
    else:
        hint = "It needs a folder that can be written to and has some space left; PISCES_HOME names another one."
    refusal = PiscesError(f"The background host cannot be started in {agent}: {error}", hint=hint)
    refusal.__cause__ = error  # The host sends what it says instead of raising it.
    return refusal
