"""The files of a local gateway: who it is, its lock, its log. There is one folder for each interpreter and venv."""

import hashlib
import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final

import msgspec

from pisces.errors import without_descriptor
from pisces.settings.paths import Paths, make_private
from pisces.settings.private_file import write_whole
from pisces.settings.recorded_process import RecordedProcess

_RECORD: Final = "gateway.json"


class GatewayRecord(msgspec.Struct, frozen=True, kw_only=True):
    """The gateway that is up, or that was the last to be up. It has the token, so it is never shown as it is."""

    url: str
    pid: int
    started_at: float
    """Seconds since the epoch."""
    python: str
    venv: str
    token: str
    start_time: int = 0
    """When its process began, as the system counts: with the pid that names one process for ever. 0 if not known."""
    keeper: RecordedProcess = RecordedProcess(0)
    """The process that ends all that the gateway started when the gateway has ended; it goes after that."""

    def __repr__(self) -> str:
        """Without the token: it must not get into a log."""
        return f"GatewayRecord({self.url!r}, pid={self.pid}, python={self.python!r})"

    @property
    def process(self) -> RecordedProcess:
        """The process that serves."""
        return RecordedProcess(self.pid, self.start_time)


class GatewayFolder(msgspec.Struct, frozen=True):
    """Where the gateway of one interpreter is found."""

    path: Path

    @classmethod
    def locate(cls, paths: Paths, interpreter: str, venv: str) -> "GatewayFolder":
        """The folder for this interpreter in this virtual environment; empty when it is in none."""
        whose = f"{os.path.realpath(interpreter)}\0{venv}"
        return cls(paths.gateways / hashlib.sha256(os.fsencode(whose)).hexdigest()[:12])

    @property
    def record_file(self) -> Path:
        """Who the gateway is."""
        return self.path / _RECORD

    @property
    def lock_file(self) -> Path:
        """Held while a gateway is looked at, started or ended."""
        return self.path / "gateway.lock"

    @property
    def log(self) -> Path:
        """What the gateway has to say, and what kernels say on its standard error."""
        return self.path / "gateway.log"

    @property
    def runtime(self) -> Path:
        """Where the gateway keeps the connection files of its kernels."""
        return self.path / "runtime"

    def make(self) -> None:
        """Make the folders, private to the user."""
        make_private(self.runtime)

    def record(self) -> GatewayRecord | None:
        """The gateway that is up, or was the last; None if there was none, or its record cannot be read.

        Raises `OSError` when no file can be opened to look.
        """
        try:
            return msgspec.json.decode(self.record_file.read_bytes(), type=GatewayRecord)
        except (OSError, msgspec.DecodeError) as error:
            if without_descriptor(error) is not None:
                raise
            return None

    def write(self, record: GatewayRecord) -> None:
        """Record the gateway that is up."""
        write_whole(self.record_file, msgspec.json.encode(record))

    def forget(self) -> None:
        """Remove the record."""
        self.record_file.unlink(missing_ok=True)


def gateway_folders(paths: Paths) -> Iterator[GatewayFolder]:
    """Every folder that has a record, readable or not, in order of name."""
    try:
        names = sorted(os.listdir(paths.gateways))
    except OSError:
        return
    for name in names:
        folder = GatewayFolder(paths.gateways / name)
        if folder.record_file.exists():
            yield folder


def venv_of(interpreter: str, env: Mapping[str, str]) -> str:
    """The virtual environment that an interpreter belongs to; empty when it belongs to none.

    Two environments may share one binary, so the path of that would not tell them apart.
    """
    active = env.get("VIRTUAL_ENV", "")  # The environment of a kernel names the interpreter's own, or none.
    if active:
        return os.path.realpath(active)
    root = os.path.dirname(os.path.dirname(os.path.abspath(interpreter)))
    return os.path.realpath(root) if os.path.isfile(os.path.join(root, "pyvenv.cfg")) else ""
