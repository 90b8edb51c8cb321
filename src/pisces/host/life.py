"""The life of a host process, from the lock that it holds to the last session that it ends."""

import logging
import os
import signal
from typing import Final

import anyio

from pisces.environment.secret_names import drop_own_tokens
from pisces.errors import PiscesError, SettingsError
from pisces.host.files import HostFiles, cannot_start
from pisces.host.guard import locked
from pisces.host.log import write_log
from pisces.host.protocol import Refusal, RefusalKind, encode, printable
from pisces.host.server import Host, listen
from pisces.runtime import Runtime
from pisces.settings.load import load_settings
from pisces.settings.paths import Paths

_PREDECESSOR_SECONDS: Final = 20.0
"""How long a host that is ending may take: its kernels get a moment each, all at once."""

_log = logging.getLogger(__name__)


def live(ready: int) -> None:
    """Be the host until there is nothing left to do. `ready` hears when clients can come, or why they cannot."""
    paths = Paths.locate(os.environ)
    files = HostFiles.locate(paths, os.environ)
    write_log()
    try:
        files.make_folders()
        with locked(files.life_lock, _PREDECESSOR_SECONDS):
            anyio.run(_serve, files, ready)
    except (PiscesError, OSError) as error:
        _log.error("%s", error)
        told = cannot_start(files.agent, error) if isinstance(error, OSError) else error
        kind: RefusalKind = "settings" if isinstance(error, SettingsError) else "failed"
        _tell(ready, encode(Refusal(kind, printable(str(told)), printable(told.hint))))


async def _serve(files: HostFiles, ready: int) -> None:
    # Nothing of a project counts here: the host serves all of them.
    python = load_settings(files.agent, os.environ).settings.python
    runtime = Runtime(cwd=files.agent, session_idle=python.named_idle_timeout)
    drop_own_tokens(os.environ)
    async with runtime:
        host = Host(runtime, files, idle_timeout=python.idle_timeout)
        listening = listen(files)
        host.record()
        _tell(ready, b"\n")
        _log.info("listening at %s", files.socket)
        async with anyio.create_task_group() as group:
            group.start_soon(_heed_signals, host)
            await host.serve(listening)
            group.cancel_scope.cancel()
    _log.info("ended")


async def _heed_signals(host: Host) -> None:
    with anyio.open_signal_receiver(signal.SIGTERM) as signals:
        async for _ in signals:
            host.stop()


def _tell(ready: int, line: bytes) -> None:
    try:
        os.write(ready, line)
        os.close(ready)
    except OSError:  # The client has gone, or has been told already; others will come.
        return
