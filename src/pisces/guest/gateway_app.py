"""The local gateway as a process: configured by us alone, private, and gone when nobody needs it any more."""

from __future__ import annotations

import asyncio
import logging
import os
import resource
import secrets
import shutil
import signal
import socket
import time
from typing import Any

from kernel_gateway.gatewayapp import KernelGatewayApp
from tornado import httpserver
from tornado.ioloop import IOLoop, PeriodicCallback
from traitlets.config import Config

from . import processes
from .gateway import tell
from .gateway_api import Connection, Nobody, Refused, guard
from .gateway_kernels import Kernels, OwnPython
from .gateway_quick import NOT_QUICK

_LOOK_SECONDS = 0.5
_STOP_SECONDS = 2.0
_LOG_MAX = 4 * 1024 * 1024
_LOG_KEPT = 256 * 1024
_OPEN_FILES = 8192
_MOST_SILENT = 256


class Server(httpserver.HTTPServer):
    """Cuts the oldest connection that has not shown the token when there are too many of those.

    Any user of the machine can connect, and each connection takes a descriptor, which kernels need too.
    """

    silent: dict[Any, None]

    def handle_stream(self, stream: Any, address: Any) -> None:
        self.silent[stream] = None
        while len(self.silent) > _MOST_SILENT:
            oldest = next(iter(self.silent))
            del self.silent[oldest]
            oldest.close()
        super().handle_stream(stream, address)


class GatewayApp(KernelGatewayApp):  # type: ignore[misc]  # untyped
    """Kernel Gateway on a socket that is open already."""

    def __init__(self, order: dict[str, Any], keeper: int, **options: Any) -> None:
        super().__init__(**options)
        self._order = order
        self._keeper = keeper
        self._socket = socket.socket(fileno=order["socket"])
        self._socket.setblocking(False)
        self._socket.set_inheritable(False)
        self.port = self._socket.getsockname()[1]
        self._refused = Refused(order["token"], self.port)
        self._since = time.monotonic()
        self._ending = False

    def migrate_config(self) -> None:
        """Do not touch what the user has for other programs."""

    def load_config_file(self, *_arguments: Any, **_options: Any) -> None:
        """Take nothing from the user's files: they are for another gateway, which may be open to the world."""

    def init_signal(self) -> None:
        """Let only SIGTERM end it, in good order; its terminal, if it ever had one, is not asked."""
        signal.signal(signal.SIGTERM, self._signal_stop)

    def init_webapp(self) -> None:
        super().init_webapp()
        guard(self.web_app, self._refused)
        logging.getLogger("tornado.access").setLevel(logging.WARNING)

    def init_http_server(self) -> None:
        self.http_server = Server(self.web_app)
        self.http_server.silent = self._refused.silent
        self.http_server.add_sockets([self._socket])

    def start_app(self) -> None:
        super().start_app()
        if NOT_QUICK:
            self.log.warning("Messages take the usual way, not the quick one: %s", NOT_QUICK)
        PeriodicCallback(self._look, _LOOK_SECONDS * 1000).start()
        IOLoop.current().add_callback(self._greet)

    def _greet(self) -> None:
        keeper = {"pid": self._keeper, "start_time": processes.start_time(self._keeper)}
        ours = {"pid": os.getpid(), "start_time": processes.start_time(os.getpid())}
        tell(self._order["ready"], {**ours, "keeper": keeper})

    async def _stop(self) -> None:
        """End the kernels, then the process. What does not end in time is left to the keeper."""
        try:
            await asyncio.wait_for(super()._stop(), _STOP_SECONDS)
        except asyncio.TimeoutError:
            self.log.warning("Not everything has ended within %g seconds.", _STOP_SECONDS)
        finally:
            self.io_loop.stop()

    async def _look(self) -> None:
        """End the kernels whose owners have gone, and ourselves when there is no kernel and nobody asks for one."""
        await asyncio.gather(*map(self._end_ownerless, self.kernel_manager.ownerless()))
        now = time.monotonic()
        if self.kernel_manager.list_kernel_ids():
            self._since = now
        if now - max(self._since, self._refused.last_request) >= self._order["idle"] and not self._ending:
            self._ending = True
            self.log.info("No kernel and no request for %g seconds: this gateway ends.", self._order["idle"])
            self.stop()
        bound_log(self._order["log"])

    async def _end_ownerless(self, kernel_id: str) -> None:
        self.log.warning("The process that owned kernel %s has ended: so does the kernel.", kernel_id)
        self.kernel_manager.own(kernel_id, None)
        await self.kernel_manager.shutdown_kernel(kernel_id, now=True)


def bound_log(path: str) -> None:
    """Keep the end of a log that has grown too long. Kernels append to the same file, so it has to stay the same."""
    try:
        if os.stat(path).st_size <= _LOG_MAX:
            return
        with open(path, "r+b") as log, open(path + ".1", "wb", opener=_private) as kept:
            log.seek(-_LOG_KEPT, os.SEEK_END)
            shutil.copyfileobj(log, kept)
            log.truncate(0)
    except OSError:
        pass  # It was moved or removed: then it does not grow either.


def _private(path: str, flags: int) -> int:
    return os.open(path, flags, 0o600)


def _configuration(order: dict[str, Any]) -> Config:
    """All of it: nothing comes from files, and variables of Kernel Gateway have been taken away."""
    return Config(
        {
            "GatewayApp": {
                "api": "_pisces_guest.gateway_api",
                "auth_token": order["token"],
                "allow_origin": "",
                "cookie_secret": secrets.token_bytes(32),
                "identity_provider_class": Nobody,
                "kernel_manager_class": Kernels,
                "kernel_spec_manager_class": OwnPython,
                "kernel_websocket_connection_class": Connection,
                "log_level": logging.INFO,
                "ws_ping_interval": 0,  # A connection that ends is seen here; one that is busy must not be cut.
            },
            "Personality": {"list_kernels": True},
            "Kernels": {
                "root_dir": "/",
                "default_kernel_name": "python3",
                "cull_idle_timeout": order["cull"],
                "cull_interval": 60,
                "cull_connected": False,
            },
            "Kernel": {"shutdown_wait_time": 3.0},  # Half of it is for functions that are registered for the end.
            "AsyncIOLoopKernelRestarter": {"restart_limit": 0, "time_to_dead": 1.0},
            "ZMQChannelsWebsocketConnection": {"limit_rate": False},
        }
    )


def run(order: dict[str, Any], keeper: int) -> None:
    """Serve until there is nothing left to do."""
    os.set_inheritable(order["ready"], False)
    for name in [name for name in os.environ if name.startswith("KG_")]:
        del os.environ[name]
    _allow_many_files()
    processes.become_subreaper()
    app = GatewayApp.instance(order, keeper, runtime_dir=order["runtime"], config=_configuration(order))
    app.initialize(argv=[])
    app.start()


def _allow_many_files() -> None:
    """Each kernel takes some thirty descriptors here."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = _OPEN_FILES if hard == resource.RLIM_INFINITY else min(hard, _OPEN_FILES)
    if soft != resource.RLIM_INFINITY and soft < wanted:
        resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))
