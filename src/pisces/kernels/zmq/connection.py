"""Where a kernel listens: a private folder with its connection file and, where the kernel can, its sockets."""

import json
import os
import secrets
import shutil
import socket
import tempfile
from pathlib import Path
from typing import Final

from pisces.errors import KernelStartError

CHANNELS: Final = ("shell", "iopub", "stdin", "control", "hb")
_MOST_BYTES: Final = 100
"""How long the path of a socket may be: the system's limit is 108 bytes, or 104, with the end of the text."""
_NAME: Final = "k"
_PREFIX: Final = "pisces-"
_SHORT_PLACE: Final = "/tmp"


class Connection:
    """The addresses and the key of one kernel. Nobody but this user can look into the folder."""

    def __init__(self, *, files: bool) -> None:
        """Listen on socket files rather than on ports of this machine. Raises `KernelStartError`."""
        self.key = secrets.token_hex(32)
        try:
            self.folder = _private_folder()
        except OSError as error:
            raise KernelStartError(f"Cannot make a folder for a kernel's sockets: {error}") from error
        self.transport = "ipc" if files and _fits(self.folder) else "tcp"
        self._ip = str(self.folder / _NAME) if self.transport == "ipc" else "127.0.0.1"
        self.file = self.folder / "connection.json"
        try:
            numbers = range(1, len(CHANNELS) + 1) if self.transport == "ipc" else _free_ports(len(CHANNELS))
            self._ports = dict(zip(CHANNELS, numbers, strict=True))
            self._write()
        except OSError as error:
            self.remove()
            raise KernelStartError(f"Cannot write the connection file of a kernel: {error}") from error

    def address(self, channel: str) -> str:
        """What to connect to."""
        separator = "-" if self.transport == "ipc" else ":"
        return f"{self.transport}://{self._ip}{separator}{self._ports[channel]}"

    def remove(self) -> None:
        """Remove the folder; it can be called more than once."""
        shutil.rmtree(self.folder, ignore_errors=True)

    def _write(self) -> None:
        content = {
            "transport": self.transport,
            "ip": self._ip,
            **{f"{channel}_port": number for channel, number in self._ports.items()},
            "signature_scheme": "hmac-sha256",
            "key": self.key,
        }
        descriptor = os.open(self.file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with open(descriptor, "w", encoding="utf-8") as file:
            json.dump(content, file)


def _private_folder() -> Path:
    """A new one, where the paths of sockets are short enough if there is such a place."""
    folder = Path(tempfile.mkdtemp(prefix=_PREFIX))
    if not _fits(folder) and os.access(_SHORT_PLACE, os.W_OK | os.X_OK):
        folder.rmdir()
        folder = Path(tempfile.mkdtemp(prefix=_PREFIX, dir=_SHORT_PLACE))
    return folder


def _fits(folder: Path) -> bool:
    return len(os.fsencode(folder / f"{_NAME}-{len(CHANNELS)}")) <= _MOST_BYTES


def _free_ports(count: int) -> list[int]:
    """Ports that nobody has now. Somebody may take one before the kernel does: then it ends, and says so."""
    held = []
    try:
        for _ in range(count):
            held.append(socket.socket())
            held[-1].bind(("127.0.0.1", 0))
        return [one.getsockname()[1] for one in held]
    finally:
        for one in held:
            one.close()
