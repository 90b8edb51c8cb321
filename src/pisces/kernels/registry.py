"""The table of backends: a new one is a folder beside this file and a line here."""

from collections.abc import Callable
from importlib import import_module
from typing import Any, Literal

import anyio
import msgspec

from pisces.errors import KernelError
from pisces.kernels.base import Backend
from pisces.settings.load import LoadedSettings
from pisces.settings.paths import Paths

BackendName = Literal["native", "zmq", "gateway", "external"]

_PLACES: dict[BackendName, str] = {
    "native": "pisces.kernels.native.backend:NativeBackend",
    "zmq": "pisces.kernels.zmq.backend:ZmqBackend",
    "gateway": "pisces.kernels.gateway.local:LocalBackend",
    "external": "pisces.kernels.gateway.external:ExternalBackend",
}
"""By name, where the class is; it is imported when it is first used."""

_BACKEND = "python.backend"
_MISSING = {"zmq": "pisces-runtime[zmq]"}
"""What brings a module along that not every installation has."""


class BackendChoice(msgspec.Struct, frozen=True):
    """Which backend, and what it needs to know; two equal ones are one backend."""

    name: BackendName
    url: str = ""
    token: str = ""
    shared: bool = True
    """Whether the local gateway may be used at all (`python.sharedGateway`)."""

    @classmethod
    def of(cls, loaded: LoadedSettings) -> "BackendChoice":
        """What the settings and the environment ask for; `auto` is an external gateway where one is named.

        A project's file does not take code away from the gateway that the user's environment names. Raises
        `SettingsError` when that one cannot be an address.
        """
        python, switches = loaded.settings.python, loaded.switches
        by_project = loaded.provenance[_BACKEND].layer == "project"
        wanted = "auto" if by_project and switches.gateway_url else python.backend
        if wanted in ("native", "zmq"):
            return cls(wanted)
        if switches.gateway_url:
            from pisces.kernels.gateway.address import checked_token, checked_url

            url, token = checked_url(switches.gateway_url), checked_token(switches.gateway_token)
            return cls("external", url=url, token=token)
        return cls("gateway", shared=python.shared_gateway) if wanted == "gateway" else cls("native")

    def for_kernelspecs(self) -> "BackendChoice":
        """The one for kernels that only Jupyter can run: the same, unless that is ours."""
        return BackendChoice("zmq") if self.name == "native" else self


class Backends:
    """The backends of one runtime, each made when it is first asked for."""

    def __init__(self, paths: Paths, *, idle: float, cull: float, given: Backend | None = None) -> None:
        """What kernels share is given up after `idle` seconds without any; `given` takes the place of all others.

        A kernel that was left on our own gateway, and that nobody has come back to for `cull` seconds, is ended there.
        """
        self._paths = paths
        self._idle = idle
        self._cull = cull
        self._given = given
        self._made: dict[BackendChoice, Backend] = {}

    @property
    def given(self) -> bool:
        """Whether the choice is not ours."""
        return self._given is not None

    def get(self, choice: BackendChoice) -> Backend:
        """That backend. Raises `KernelError` when what it needs is not installed."""
        if self._given is not None:
            return self._given
        backend = self._made.get(choice)
        if backend is None:
            backend = self._made[choice] = self._make(choice)
        return backend

    def _make(self, choice: BackendChoice) -> Backend:
        factory = _load(choice.name)
        options: dict[str, Any]
        match choice.name:
            case "native":
                options = {"idle": self._idle}
            case "zmq":
                options = {}
            case "gateway":
                options = {"paths": self._paths, "idle": self._idle, "cull": int(self._cull), "shared": choice.shared}
            case "external":
                options = {"url": choice.url, "token": choice.token}
        return factory(**options)

    async def aclose(self) -> None:
        """End every process that belongs to them."""
        made, self._made = list(self._made.values()), {}
        async with anyio.create_task_group() as group:
            for backend in [*made, *([self._given] if self._given is not None else [])]:
                group.start_soon(backend.aclose)


def _load(name: BackendName) -> Callable[..., Backend]:
    module, _, attribute = _PLACES[name].partition(":")
    try:
        factory: Callable[..., Backend] = getattr(import_module(module), attribute)
    except ModuleNotFoundError as error:
        wanted = _MISSING.get((error.name or "").partition(".")[0])
        if wanted is None:
            raise
        raise KernelError(
            f"Kernels of this kind need {error.name}, which is not installed", hint=f"Run: pip install '{wanted}'"
        ) from error
    return factory
