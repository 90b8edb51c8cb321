"""Where Pisces keeps what it keeps: one home folder per user, private to that user."""

import os
from collections.abc import Mapping
from pathlib import Path

import msgspec


class Paths(msgspec.Struct, frozen=True):
    """The places below the home folder. Naming a place does not make it: see `make_private`."""

    home: Path
    """`~/.pisces`, or where `PISCES_HOME` says."""

    @classmethod
    def locate(cls, environ: Mapping[str, str]) -> "Paths":
        """The places of the user whose environment this is."""
        moved = environ.get("PISCES_HOME", "")
        user_home = environ.get("HOME") or os.path.expanduser("~")
        if not moved:
            return cls(Path(user_home, ".pisces"))
        if moved == "~" or moved.startswith("~/"):
            moved = user_home + moved[1:]
        return cls(Path(os.path.abspath(moved)))

    @property
    def agent(self) -> Path:
        """What an agent has for itself: its settings, its artifacts."""
        return self.home / "agent"

    @property
    def settings_file(self) -> Path:
        """The user's own settings."""
        return self.agent / "settings.toml"

    @property
    def artifacts(self) -> Path:
        """Whole outputs, of which results show a part."""
        return self.agent / "artifacts"

    @property
    def journals(self) -> Path:
        """What happened in each session."""
        return self.agent / "sessions"

    @property
    def kernels(self) -> Path:
        """Where the kernels of sessions are that outlive a process."""
        return self.agent / "kernels"

    @property
    def host_socket(self) -> Path:
        """Where the background host listens, if a socket can have so long a path: see `pisces.host.files`."""
        return self.agent / "host.sock"

    @property
    def gateways(self) -> Path:
        """The folders of the local gateways, one for each interpreter: see `pisces.kernels.gateway.record`."""
        return self.agent / "python-gateway"

    @property
    def cache(self) -> Path:
        """What can be deleted at any time and is then made again."""
        return self.home / "cache"

    @property
    def helpers(self) -> Path:
        """What kernels told of the helpers they have."""
        return self.cache / "helpers"

    @property
    def managed_venv(self) -> Path:
        """The virtual environment that `pisces setup python` makes."""
        return self.home / "python-env"

    @property
    def managed_venv_unfinished(self) -> Path:
        """A file that is there from the first to the last step of making the managed environment."""
        return self.home / "python-env.unfinished"

    @property
    def log_file(self) -> Path:
        """The log, traces included."""
        return self.home / "logs" / "pisces.log"


def project_settings_file(cwd: Path) -> Path:
    """The settings that a project brings along."""
    return cwd / ".pisces" / "settings.toml"


def make_private(folder: Path) -> Path:
    """Make the folder, and those above it that are missing, readable by the user alone; return it.

    A folder that is there already keeps the permissions that somebody gave it.
    """
    for level in reversed([folder, *folder.parents]):
        try:
            level.mkdir(mode=0o700)
        except OSError:
            # Not only "exists": on a read-only file system mkdir says that first.
            if not level.is_dir():
                raise
    return folder
