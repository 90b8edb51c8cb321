"""What `pisces modules check` does: load every module as a session would, and say how that went."""

import os
from functools import partial

import anyio
import click

from pisces.cli.cells_to_run import from_here
from pisces.cli.json_text import json_line
from pisces.cli.modules_list import one_line
from pisces.environment.helper_cache import HelperCache
from pisces.environment.modules import ModuleFolders
from pisces.errors import DeadlineExceeded
from pisces.kernels.deadline import Deadline
from pisces.runtime import Runtime
from pisces.sessions.kernel_modules import KernelModules, ModuleOutcome, start_with_modules
from pisces.sessions.stop import StopSignal
from pisces.tools.base import Services
from pisces.tools.registry import ALL_TOOLS
from pisces.tools.seat import find_seat

_START_SECONDS = 60.0
_STOP_SECONDS = 10.0
"""For one that takes too long to be interrupted, and for the kernel to start again without it."""


def check_modules(cwd: str | None, interpreter: str | None, *, as_json: bool) -> int:
    """Try them, print what was found, and return the exit code."""
    chosen = {} if interpreter is None else {"python.interpreter": from_here(interpreter)}
    outcomes = anyio.run(_try_all, cwd, {**ALL_TOOLS, **chosen})
    if as_json:
        click.echo(json_line([_plain(outcome) for outcome in outcomes]), nl=False)
    elif not outcomes:
        click.echo("There are no extension modules here. `pisces modules list` says where they are looked for.")
    for outcome in () if as_json else outcomes:
        _print(outcome)
    return 1 if any(outcome.problem for outcome in outcomes) else 0


async def _try_all(cwd: str | None, settings: dict[str, object]) -> list[ModuleOutcome]:
    async with Runtime(cwd=cwd, settings=settings) as runtime:
        services = runtime.services_at(runtime.cwd, dict(os.environ), settings)
        return await _try_in_kernel(services)


async def _try_in_kernel(services: Services) -> list[ModuleOutcome]:
    """Raises `KernelStartError`, `InterpreterError` and `DeadlineExceeded`."""
    folders = ModuleFolders.of(services.paths, services.cwd)
    files = folders.in_force()
    if not files:
        return []
    seconds = services.settings.python.modules.timeout
    deadline = Deadline.after(_START_SECONDS + (seconds + _STOP_SECONDS) * len(files))
    seat = await find_seat(services, None, StopSignal(deadline), deadline)
    if seat is None:
        raise DeadlineExceeded("No interpreter answered in time")
    terms = seat.terms(services, durable=False)
    # Not strict: each of them is tried.
    modules = KernelModules(folders, HelperCache(services.paths.helpers), seconds=seconds)
    make = partial(terms.backend.kernel, terms.launch(services.cwd))
    kernel, outcomes = await start_with_modules(make, modules, deadline)
    with anyio.CancelScope(shield=True):
        await kernel.shutdown()
    return outcomes


def _plain(outcome: ModuleOutcome) -> dict[str, object]:
    return {
        "path": outcome.path,
        "ok": not outcome.problem,
        "problem": outcome.problem,
        "line": outcome.line,
        "printed": outcome.printed,
    }


def _print(outcome: ModuleOutcome) -> None:
    mark, color = ("FAILED", "red") if outcome.problem else ("ok", "green")
    said = f": {outcome.explained}" if outcome.problem else ""
    click.echo(f"{click.style(f'{mark:<6}', fg=color)}  {one_line(outcome.path + said)}")
    for remark in [*([f"It printed: {outcome.printed}"] if outcome.printed else []), *outcome.more]:
        click.echo(f"        {remark}")
