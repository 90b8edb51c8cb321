"""Which server this is, and what follows from that: what to ask of it when a kernel is started."""

import getpass
import math
import re
from enum import StrEnum
from typing import Any, Final

import msgspec

from pisces.errors import KernelStartError
from pisces.kernels.base import LaunchSpec
from pisces.kernels.deadline import Deadline
from pisces.kernels.gateway.failure import GatewayError
from pisces.kernels.gateway.models import Kernelspecs, KernelWish
from pisces.kernels.gateway.rest import CHECK_CAP, GatewayRest

_PYTHON: Final = "python"
_NOBODY: Final = "pisces"
"""In whose name root asks: Enterprise Gateway starts no kernel for root."""
_FORWARDED: Final = "KERNEL_"
_PLAIN: Final = re.compile(r"[\w ./,:;=@+~-]+")
"""What a shell leaves as it is between double quotes: there Enterprise Gateway puts variables for a host behind SSH."""


class Flavor(StrEnum):
    """A kind of server; its value is its name for a person."""

    KERNEL_GATEWAY = "Jupyter Kernel Gateway"
    ENTERPRISE_GATEWAY = "Jupyter Enterprise Gateway"
    JUPYTER_SERVER = "Jupyter Server"
    JUPYTERHUB = "Jupyter Server on JupyterHub"
    UNKNOWN = "a server with Jupyter's kernels API"


class ServerKind(msgspec.Struct, frozen=True):
    """What a server says of itself."""

    flavor: Flavor
    version: str = ""
    """As the server gives it: of Enterprise Gateway its own, of the others that of Jupyter Server beneath."""


async def recognise(rest: GatewayRest, deadline: Deadline) -> ServerKind:
    """Find out what a server is; one that does not tell is taken for any. Raises `DeadlineExceeded`."""
    try:
        answer = await rest.request("GET", "/api", deadline, cap=CHECK_CAP)
        told = _told(answer.body)
        version = str(told.get("version", ""))
        if "gateway_version" in told:
            return ServerKind(Flavor.ENTERPRISE_GATEWAY, str(told["gateway_version"]))
        if "x-jupyterhub-version" in answer.headers:
            return ServerKind(Flavor.JUPYTERHUB, version)
        if not version:
            return ServerKind(Flavor.UNKNOWN)
        status = await rest.request("GET", "/api/status", deadline, cap=CHECK_CAP)
    except GatewayError:
        return ServerKind(Flavor.UNKNOWN)
    # Kernel Gateway says the same of itself as the Jupyter Server beneath it, but has only its kernels.
    return ServerKind(Flavor.KERNEL_GATEWAY if status.status == 404 else Flavor.JUPYTER_SERVER, version)


def _told(body: bytes) -> dict[str, Any]:
    try:
        return msgspec.json.decode(body, type=dict[str, Any])
    except msgspec.DecodeError:
        return {}


def choose_kernelspec(offered: Kernelspecs, wanted: str, label: str) -> str:
    """The name of the kernelspec to start: the one that is wanted, or else one that runs Python.

    Raises `KernelStartError`, which names those there are.
    """
    specs = offered.kernelspecs
    there = ", ".join(f"{name} ({entry.spec.language or 'unknown language'})" for name, entry in sorted(specs.items()))
    hint = f"It has: {there}" if there else "It has none at all."
    if wanted:
        if wanted in specs:
            return wanted
        raise KernelStartError(f"{label} has no kernelspec {wanted!r}", hint=hint)
    python = [name for name, entry in sorted(specs.items()) if entry.spec.language.lower() == _PYTHON]
    if offered.default in python:
        return offered.default or ""
    if not python:
        raise KernelStartError(f"{label} has no kernelspec that runs Python", hint=hint)
    return python[0]


def wish_for(
    spec: LaunchSpec, name: str, kind: ServerKind, *, shares_machine: bool, patience: float = math.inf
) -> KernelWish:
    """What to ask of a server of this kind for a kernel as in `spec`, which is waited for so many seconds.

    Variables go only to Enterprise Gateway, which is told by them for whom and where a kernel runs: Kernel Gateway
    would give them to later kernels too.
    """
    path = spec.cwd if shares_machine else ""
    if kind.flavor is not Flavor.ENTERPRISE_GATEWAY:
        return KernelWish(name, path)
    env = {key: value for key, value in spec.env.items() if key.startswith(_FORWARDED)}
    env.setdefault("KERNEL_USERNAME", _username())
    if _PLAIN.fullmatch(spec.cwd):
        env.setdefault("KERNEL_WORKING_DIR", spec.cwd)
    if patience < math.inf:
        # A kernel that comes up when nobody waits for it any more would stay: the server has to give up when we do.
        env.setdefault("KERNEL_LAUNCH_TIMEOUT", str(max(1, math.ceil(patience))))
    return KernelWish(name, path, env)


def _username() -> str:
    try:
        name = getpass.getuser()
    except (OSError, KeyError):  # A user id that has no name, as in a container.
        return _NOBODY
    return _NOBODY if name == "root" else name
