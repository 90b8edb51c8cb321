"""Looking at the local gateways, starting one, and ending them."""

import os
import time
from pathlib import Path
from typing import Any, Final

import click
import msgspec

from pisces.cli.main import FAILED
from pisces.environment.lookup import InterpreterLookup
from pisces.errors import InvalidCall
from pisces.kernels.deadline import Deadline
from pisces.kernels.gateway.coordinator import acquire_shared_gateway, shutdown_shared_gateway
from pisces.kernels.gateway.launch import GatewayPlan
from pisces.kernels.gateway.record import GatewayFolder, gateway_folders, venv_of
from pisces.kernels.gateway.status import GatewayStatus, look_at, look_at_all
from pisces.settings.load import load_settings
from pisces.settings.paths import Paths

_SECONDS: Final = 60.0
_STATES: Final = {
    "silent": "does not answer",
    "ended": "has ended",
    "unreadable": "has a record that cannot be read",
}


async def show_status(*, as_json: bool) -> int:
    """List the gateways; the exit code is 1 when none runs."""
    folders = list(gateway_folders(_paths()))
    found = await look_at_all(folders, Deadline.after(_SECONDS))
    if as_json:
        told = {"gateways": [msgspec.to_builtins(status) for status in found]}
        click.echo(msgspec.json.encode(told).decode("utf-8"))
    else:
        for status in found:
            click.echo(_line(status))
        if not found:
            click.echo("No local gateway is running.")
    return 0 if any(status.state == "running" for status in found) else FAILED


async def start_gateway(*, as_json: bool) -> int:
    """Have the gateway of the interpreter here, and print where it is."""
    deadline = Deadline.after(_SECONDS)
    plan, folder = await _here(deadline)
    folder_before = folder.record()
    record = await acquire_shared_gateway(plan, folder, deadline)
    if as_json:
        click.echo(msgspec.json.encode(msgspec.to_builtins(await look_at(folder, deadline))).decode("utf-8"))
        return 0
    how = "runs already" if record == folder_before else "has been started"
    click.echo(f"The gateway of {record.python} {how}: {record.url}, process {record.pid}.")
    return 0


async def stop_gateways(gateway_id: str | None, *, every: bool) -> int:
    """End one gateway, or all."""
    deadline = Deadline.after(_SECONDS)
    folders = list(gateway_folders(_paths())) if every else [await _named(gateway_id, deadline)]
    ended = 0
    for folder in folders:
        status = await look_at(folder, deadline)
        if await shutdown_shared_gateway(folder, deadline):
            ended += 1
            lost = f" Kernels that ended with it: {status.kernels}." if status.kernels else ""
            click.echo(f"The gateway of {status.python} has been stopped.{lost}", err=True)
    if not ended:
        others = [] if every else [folder for folder in gateway_folders(_paths()) if folder not in folders]
        running = [found.id for found in await look_at_all(others, deadline) if found.state == "running"]
        click.echo("That gateway is not running." if running else "No local gateway is running.", err=True)
        if running:
            click.echo(f"Others are: {', '.join(running)}. Name one, or use --all.", err=True)
    return 0


async def log_of(gateway_id: str | None) -> Path:
    """Where the log of a gateway is."""
    return (await _named(gateway_id, Deadline.after(_SECONDS))).log


async def _named(gateway_id: str | None, deadline: Deadline) -> GatewayFolder:
    """The gateway of this id, or of the interpreter here. Raises `InvalidCall` when no id fits, or several do."""
    if gateway_id is None:
        return (await _here(deadline, ahead=True))[1]
    folders = list(gateway_folders(_paths()))
    fitting = [folder for folder in folders if folder.path.name.startswith(gateway_id)]
    if len(fitting) != 1:
        there = ", ".join(folder.path.name for folder in folders) or "none"
        many = "Several gateways have an id that begins with" if fitting else "There is no gateway with the id"
        raise InvalidCall(f"{many} {gateway_id!r}.", hint=f"Gateways: {there}")
    return fitting[0]


async def _here(deadline: Deadline, *, ahead: bool = False) -> tuple[GatewayPlan, GatewayFolder]:
    """What the interpreter that code in this folder runs with would have.

    With `ahead` it raises `NotUsedYet` rather than run one that came with the folder: that has no gateway.
    """
    cwd, paths = Path.cwd(), _paths()
    loaded = load_settings(cwd, os.environ)
    lookup = InterpreterLookup(cwd, os.environ, loaded, paths)
    found = await lookup.find(None, deadline, ahead=ahead)
    env = lookup.environment(found)
    python = loaded.settings.python
    plan = GatewayPlan(
        interpreter=found.path,
        venv=venv_of(found.path, env),
        env=env,
        idle=python.idle_timeout,
        cull=int(python.named_idle_timeout),
    )
    return plan, GatewayFolder.locate(paths, found.path, plan.venv)


def _line(status: GatewayStatus) -> str:
    if status.state == "unreadable":
        return f"{status.id}  {_STATES[status.state]}"
    parts: list[Any] = [status.id, status.url, f"process {status.pid}", status.python]
    if status.state == "running":
        age = max(0.0, time.time() - status.since)
        parts += [f"for {age:.0f} s", f"kernels: {status.kernels}"]
    else:
        parts.append(_STATES[status.state])
    return "  ".join(parts)


def _paths() -> Paths:
    return Paths.locate(os.environ)
