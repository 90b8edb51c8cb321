"""The part of the examination about gateways: the external one that is named, or the local one of the interpreter."""

import subprocess
import time
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

import anyio
import msgspec

from pisces.cli.findings import Finding
from pisces.environment.interpreter import Interpreter
from pisces.environment.kernel_environment import kernel_environment
from pisces.errors import PiscesError, SettingsError
from pisces.kernels.deadline import Deadline
from pisces.kernels.gateway.external import ExternalGateway
from pisces.kernels.gateway.flavors import Flavor
from pisces.kernels.gateway.launch import GUEST, not_installed
from pisces.kernels.gateway.lock import describe_holder
from pisces.kernels.gateway.lock_file import STALE_SECONDS
from pisces.kernels.gateway.record import GatewayFolder, gateway_folders, venv_of
from pisces.kernels.gateway.status import GatewayStatus, lock_holder, look_at, look_at_all
from pisces.kernels.registry import BackendChoice
from pisces.settings.load import LoadedSettings
from pisces.settings.paths import Paths

_NAME: Final = "gateway"
_CHECK_CAP: Final = 10.0


class _Packages(msgspec.Struct, frozen=True):
    """What the user's interpreter has of Jupyter."""

    missing: tuple[str, ...]
    versions: Mapping[str, str] = {}
    problem: str = ""


async def examine_gateway(
    interpreter: Interpreter | None, cwd: Path, environ: Mapping[str, str], loaded: LoadedSettings, deadline: Deadline
) -> Finding:
    """Look at the gateway that kernels would run on, if they did. Nothing is started."""
    try:
        choice = BackendChoice.of(loaded)
    except SettingsError as error:
        return Finding(name=_NAME, status="problem", summary=str(error), fix=error.hint, blocks=True)
    if loaded.switches.gateway_url:
        return await _examine_external(choice, loaded, deadline)
    if choice.name == "gateway" and not choice.shared:
        return Finding(
            name=_NAME,
            status="problem",
            summary="Shared Python gateway required; local gateways are disabled",
            fix="Set python.sharedGateway to true, or python.backend to native, or PI_PYTHON_GATEWAY_URL.",
            blocks=True,
        )
    if interpreter is None:
        return Finding(name=_NAME, status="off", summary="not examined: there is no interpreter to have one")
    return await _examine_local(interpreter, cwd, environ, loaded, deadline, needed=choice.name == "gateway")


async def _examine_external(choice: BackendChoice, loaded: LoadedSettings, deadline: Deadline) -> Finding:
    needed = choice.name == "external"
    try:
        gateway = ExternalGateway(loaded.switches.gateway_url, loaded.switches.gateway_token)
    except PiscesError as error:
        return Finding(name=_NAME, status="problem", summary=str(error), fix=error.hint, blocks=needed)
    try:
        offered = await gateway.rest.check(deadline)
        kind = await gateway.kind(deadline)
    except PiscesError as error:
        return Finding(name=_NAME, status="problem", summary=str(error), fix=error.hint, blocks=needed)
    finally:
        await gateway.aclose()
    of_server = "Jupyter Server " if kind.flavor is Flavor.KERNEL_GATEWAY else ""
    version = f" ({of_server}{kind.version})" if kind.version else ""
    specs = ", ".join(sorted(offered.kernelspecs)) or "none"
    unused = () if needed else ("It is not used: python.backend is not auto or gateway.",)
    return Finding(
        name=_NAME,
        status="ok",
        summary=f"external at {gateway.rest.url}: {kind.flavor}{version}",
        details=(f"kernelspecs: {specs}", *unused),
    )


async def _examine_local(
    interpreter: Interpreter,
    cwd: Path,
    environ: Mapping[str, str],
    loaded: LoadedSettings,
    deadline: Deadline,
    *,
    needed: bool,
) -> Finding:
    env = kernel_environment(interpreter, environ, loaded.settings, cwd=str(cwd))
    paths = Paths.locate(environ)
    folder = GatewayFolder.locate(paths, interpreter.path, venv_of(interpreter.path, env))
    packages = await _packages(interpreter.path, env, deadline)
    if packages is None or packages.missing or packages.problem:
        return _unusable(interpreter.path, packages, needed=needed)
    others = [other for other in gateway_folders(paths) if other != folder]
    details = [f"another: {_described(status)}" for status in await look_at_all(others, deadline)]
    about = ", ".join(f"{name} {version}".rstrip() for name, version in packages.versions.items())
    return _finding(await look_at(folder, deadline), [about, *details], folder, needed=needed)


def _unusable(interpreter: str, packages: _Packages | None, *, needed: bool) -> Finding:
    why, fix = "cannot be asked for its packages", ""
    if packages is not None and packages.missing:
        why, fix = f"lacks {' and '.join(packages.missing)}", str(not_installed(interpreter))
    elif packages is not None:
        why, fix = f"has a gateway that does not do: {packages.problem.partition('. Run: ')[0]}", packages.problem
    return Finding(
        name=_NAME,
        status="problem" if needed else "off",
        summary=f"cannot be used with {interpreter}, which {why}",
        details=() if needed else ("Kernels do not run on it here: none is needed.",),
        fix=fix.partition("Run: ")[2],
        blocks=needed,
    )


def _finding(status: GatewayStatus, details: list[str], folder: GatewayFolder, *, needed: bool) -> Finding:
    holder = lock_holder(folder)
    if holder is not None:
        details.append(f"its lock is held{describe_holder(holder)}")
        if time.monotonic() - holder.beat > STALE_SECONDS:
            details.append("that process hangs: the next start takes the lock from it")
    if status.state == "silent":
        return Finding(
            name=_NAME,
            status="problem",
            summary=f"{_described(status)}: {status.why}",
            details=tuple(details),
            fix="`pisces gateway stop` ends it; the next start replaces it by itself.",
        )
    if status.state == "unreadable":
        details.append(f"{folder.record_file} cannot be read: it is replaced at the next start")
    elif status.state == "ended":
        details.append(f"{folder.record_file} names process {status.pid}, which has ended: it is replaced when needed")
    elif status.state == "running":
        return Finding(name=_NAME, status="ok", summary=_described(status), details=tuple(details))
    used = "started when a kernel is needed" if needed else "python.backend = gateway uses it"
    return Finding(name=_NAME, status="ok", summary=f"not running; {used}", details=tuple(details))


def _described(status: GatewayStatus) -> str:
    if status.state == "unreadable":
        return f"{status.id} has a record that cannot be read"
    since = datetime.fromtimestamp(status.since, UTC).isoformat(timespec="seconds")
    whose = f"at {status.url}, process {status.pid}, of {status.python}"
    if status.state == "running":
        return f"running {whose}, since {since}, kernels: {status.kernels}"
    return f"{'does not answer' if status.state == 'silent' else 'has ended'}, {whose}"


async def _packages(interpreter: str, env: Mapping[str, str], deadline: Deadline) -> _Packages | None:
    """What the interpreter has; None when it does not say."""
    command = [interpreter, str(GUEST), "gateway-check"]
    try:
        with deadline.scope(_CHECK_CAP):
            done = await anyio.run_process(
                command, env=env, cwd="/", stdin=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False
            )
            return msgspec.json.decode(done.stdout.splitlines()[-1], type=_Packages)
    except (OSError, IndexError, msgspec.DecodeError):
        return None
    return None
