"""Having a host to talk to: the one that is up, or one that is started for it, of the same version as the client."""

import os
import signal
from collections.abc import Mapping
from typing import BinaryIO, Final

from pisces._version import __version__
from pisces.errors import PiscesError, SettingsError
from pisces.host.client import HostClient, connect
from pisces.host.files import HostFiles, cannot_start
from pisces.host.guard import locked
from pisces.host.protocol import Hello, Refusal, decode_reply
from pisces.settings.own_process import module_command
from pisces.settings.paths import Paths, make_private

_START_SECONDS: Final = 30.0
_ATTEMPTS: Final = 5
_LOG_ROLLS_OVER: Final = 4 * 1024 * 1024


class OtherVersion(PiscesError):
    """The host that is up is of another version, and has sessions that would end with it."""

    def __init__(self, hello: Hello) -> None:
        names = ", ".join(line.name for line in hello.sessions) or "none"
        super().__init__(
            f"The background host is of version {hello.version} (protocol {hello.protocol}); this is {__version__}.",
            hint=f"`pisces host stop` ends it, and then a new one is started on demand. Its sessions end with it, with "
            f"all they know: {names}. Or go on with them by the version {hello.version}.",
        )


def find_host(environ: Mapping[str, str]) -> HostClient | None:
    """The host that is up, of whatever version; None when there is none. Nothing is started."""
    return connect(HostFiles.locate(Paths.locate(environ), environ))


def have_host(environ: Mapping[str, str]) -> HostClient:
    """A host of this version. One is started when there is none; one of another version is replaced if it is idle.

    Raises `OtherVersion` when it is not, and `PiscesError` when none can be started.
    """
    files = HostFiles.locate(Paths.locate(environ), environ)
    for _ in range(_ATTEMPTS):
        client = connect(files) or _start(files, environ)
        if client is None:
            continue  # It ended as soon as it was up: another one was quicker, or it had a very short life.
        if client.is_of_this_version:
            return client
        if client.hello.sessions:
            client.close()
            raise OtherVersion(client.hello)
        client.stop(with_sessions=False)
    raise PiscesError(
        "The background host ends as soon as it has been started.", hint=f"Its log may say why: {files.log}"
    )


def kill_host(environ: Mapping[str, str]) -> bool:
    """Kill the host that is recorded as up and does not answer; False when it is not there, or not certainly a host."""
    record = HostFiles.locate(Paths.locate(environ), environ).record()
    if record is None or not record.is_running:
        return False
    os.kill(record.pid, signal.SIGKILL)
    return True


def _start(files: HostFiles, environ: Mapping[str, str]) -> HostClient | None:
    """Start a host and connect to it, unless another client has just done so."""
    try:
        make_private(files.agent)
        with locked(files.start_lock, _START_SECONDS):
            client = connect(files)
            if client is None:
                _spawn(files, environ)
                client = connect(files)
            return client
    except TimeoutError:
        raise PiscesError(
            f"Another command has been starting the background host for {_START_SECONDS:g} seconds.",
            hint=f"Try again; the log may say more: {files.log}",
        ) from None
    except OSError as error:
        raise cannot_start(files.agent, error) from error


def _spawn(files: HostFiles, environ: Mapping[str, str]) -> None:
    """Start a host and wait until it listens."""
    import subprocess  # only the command that starts a host needs it

    reading, writing = os.pipe()
    try:
        with _open_log(files) as log:
            starting = subprocess.Popen(
                [*module_command("pisces.host"), str(writing)],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                cwd=files.agent,
                env=dict(environ),
                pass_fds=[writing],
                start_new_session=True,
            )
        os.close(writing)
        starting.wait(_START_SECONDS)  # It forks, and what goes on is not our child.
        said = _read_line(reading)
    finally:
        os.close(reading)
    if said == b"\n":
        return
    refusal = decode_reply(said) if said else None
    if isinstance(refusal, Refusal):
        kind = SettingsError if refusal.kind == "settings" else PiscesError
        raise kind(refusal.message, hint=refusal.hint)
    raise PiscesError("The background host ended while it started.", hint=f"Its log may say why: {files.log}")


def _read_line(descriptor: int) -> bytes:
    """One line, or what came before the other end was closed. Raises `TimeoutError`."""
    import select
    import time

    line, end = b"", time.monotonic() + _START_SECONDS
    while not line.endswith(b"\n"):
        if not select.select([descriptor], [], [], max(0.0, end - time.monotonic()))[0]:
            raise TimeoutError
        received = os.read(descriptor, 65536)
        if not received:
            return b""
        line += received
    return line


def _open_log(files: HostFiles) -> BinaryIO:
    if files.log.exists() and files.log.stat().st_size > _LOG_ROLLS_OVER:
        files.log.replace(files.log.with_suffix(".log.1"))
    return open(files.log, "ab", opener=lambda path, flags: os.open(path, flags | os.O_CLOEXEC, 0o600))
