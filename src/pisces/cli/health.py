"""The examination behind `pisces doctor`: settings, folders, interpreter, kernel, and what the system allows."""

import os
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Final

import msgspec

from pisces.cli.findings import Finding
from pisces.cli.health_gateway import examine_gateway
from pisces.cli.health_jupyter import examine_jupyter_kernel
from pisces.cli.health_kernel import broken, examine_kernel
from pisces.cli.health_state import examine_host
from pisces.environment.candidates import Candidate, candidates
from pisces.environment.filter import filter_environment
from pisces.environment.interpreter import PROBE_SECONDS, Interpreter, NotUsedYet, Search, resolve_interpreter
from pisces.environment.kernel_environment import kernel_environment
from pisces.environment.probe import ProbeFailed, probe
from pisces.environment.probe_cache import SHIM_VARIABLES, ProbeCache
from pisces.errors import PiscesError, SettingsError
from pisces.kernels.base import LaunchSpec
from pisces.kernels.deadline import Deadline
from pisces.kernels.registry import BackendChoice
from pisces.settings.load import LoadedSettings, load_settings
from pisces.settings.paths import Paths
from pisces.settings.schema import Settings

_SECONDS: Final = 60.0
"""For the whole examination."""


async def examine(may_run: Callable[[str], bool], *, in_folder: bool) -> list[Finding]:
    """Look at everything, for the folder and the environment at hand.

    `may_run` is asked before an interpreter runs that may run code of the folder, with a sentence that says which.
    Kernels start in the folder with `in_folder`, else in an empty one: Python imports what lies where it starts.
    """
    cwd, environ = Path.cwd(), dict(os.environ)
    paths = Paths.locate(environ)
    loaded, finding = _examine_settings(cwd, environ)
    findings = [finding, _examine_folders(paths)]
    search = Search(
        cwd=cwd,
        environ=environ,
        settings=loaded.settings,
        paths=paths,
        cache=ProbeCache(paths.cache),
        fresh=True,
        ahead=True,
    )
    interpreter, finding = await _examine_interpreter(search, may_run)
    deadline = Deadline.after(_SECONDS)
    # An external gateway needs none here.
    findings.append(msgspec.structs.replace(finding, blocks=finding.blocks and not _is_elsewhere(loaded)))
    # Before a kernel is started, which may mend what is wrong with it.
    gateway = await examine_gateway(interpreter, cwd, environ, loaded, deadline)
    if in_folder or _is_elsewhere(loaded):
        findings += await _examine_kernel(interpreter, cwd, environ, loaded, deadline, start_in=str(cwd))
    else:
        findings += await _examine_kernel_outside(interpreter, cwd, environ, loaded, deadline)
    return [*findings, examine_host(environ), gateway]


def _is_elsewhere(loaded: LoadedSettings) -> bool:
    try:
        return BackendChoice.of(loaded).name == "external"
    except SettingsError:
        return True  # It is meant to be; that the address is wrong is told elsewhere.


async def _examine_kernel_outside(
    interpreter: Interpreter | None, cwd: Path, environ: Mapping[str, str], loaded: LoadedSettings, deadline: Deadline
) -> list[Finding]:
    """Start a kernel in an empty folder that only the user can write to."""
    try:
        empty = tempfile.TemporaryDirectory(prefix="pisces-doctor-")
    except OSError as error:
        hint = "Set TMPDIR to a folder that is writable, or let the kernel start here: `pisces doctor --run`."
        return [broken(f"there is no place for a temporary folder: {error.strerror}", hint)]
    with empty as start_in:
        return await _examine_kernel(interpreter, cwd, environ, loaded, deadline, start_in=start_in)


async def _examine_kernel(
    interpreter: Interpreter | None,
    cwd: Path,
    environ: Mapping[str, str],
    loaded: LoadedSettings,
    deadline: Deadline,
    *,
    start_in: str,
) -> list[Finding]:
    """Start a kernel of the kind that code would run in."""
    try:
        choice = BackendChoice.of(loaded)
    except SettingsError:
        return []  # The address of the gateway is wrong: what is found out about that says so.
    if choice.name == "external":
        spec = LaunchSpec(choice.url, start_in, {})
    elif interpreter is not None:
        env = kernel_environment(interpreter, environ, loaded.settings, cwd=str(cwd))
        spec = LaunchSpec(interpreter.path, start_in, env)
    else:
        return []
    if choice.name == "native":
        return await examine_kernel(spec, loaded, deadline)
    return [await examine_jupyter_kernel(choice, spec, environ, loaded=loaded, deadline=deadline)]


def _examine_settings(cwd: Path, environ: Mapping[str, str]) -> tuple[LoadedSettings, Finding]:
    try:
        loaded = load_settings(cwd, environ)
    except SettingsError as error:
        finding = Finding(
            name="settings",
            status="problem",
            summary=str(error),
            details=("The rest was examined with the defaults.",),
            fix=error.hint,
            blocks=True,
        )
        return load_settings(cwd, environ, Settings()), finding
    changed = [f"{info.name} from {origin}" for info, _, origin in loaded.rows() if origin.layer != "default"]
    summary = f"{len(changed)} changed" if changed else "all at their defaults"
    return loaded, Finding(name="settings", status="ok", summary=summary, details=tuple(changed))


def _examine_folders(paths: Paths) -> Finding:
    """Whether there is a place for artifacts, caches and the log, and whether it is private."""
    folder = paths.home
    there = next(level for level in (folder, *folder.parents) if level.exists())
    if not there.is_dir() or not os.access(there, os.W_OK | os.X_OK):
        return Finding(
            name="folders",
            status="problem",
            summary=f"{folder} cannot be used: {there} is not a folder that you can write to",
            details=("Code runs, but long outputs are cut for good and nothing is cached.",),
            fix="Make it writable, or set PISCES_HOME to a folder that is.",
        )
    places = (folder, paths.agent, paths.artifacts, paths.cache)
    closed = [str(place) for place in places if place.exists() and not os.access(place, os.W_OK | os.X_OK)]
    if closed:
        fix = f"chmod u+rwx {' '.join(closed)}"
        return Finding(name="folders", status="problem", summary=f"{closed[0]} is not writable", fix=fix)
    if paths.artifacts.exists() and paths.artifacts.stat().st_mode & 0o077:
        fix = f"chmod go-rwx {paths.artifacts}"
        return Finding(
            name="folders", status="problem", summary=f"{paths.artifacts} can be read by other users", fix=fix
        )
    summary = f"{folder}, private to you" if there == folder else f"{folder}, made when it is first needed"
    return Finding(name="folders", status="ok", summary=summary)


async def _examine_interpreter(search: Search, may_run: Callable[[str], bool]) -> tuple[Interpreter | None, Finding]:
    deadline = Deadline.after(_SECONDS)
    try:
        found = await resolve_interpreter(search, deadline)
    except NotUsedYet as unused:
        if may_run(str(unused)):
            return await _examine_interpreter(msgspec.structs.replace(search, ahead=False), may_run)
        fix = "`pisces doctor --run` runs it; so does the first call that needs it."
        return None, Finding(name="interpreter", status="off", summary=f"not examined: {unused}", fix=fix)
    except PiscesError as error:
        return None, Finding(name="interpreter", status="problem", summary=str(error), fix=error.hint, blocks=True)
    version = "unknown version" if found.version is None else ".".join(map(str, found.version))
    return found, Finding(
        name="interpreter",
        status="ok",
        summary=f"{found.implementation} {version} at {found.path} (from {found.source})",
        details=await _passed_over(search, deadline),
    )


async def _passed_over(search: Search, deadline: Deadline) -> tuple[str, ...]:
    """Each place before the one that works, with the reason why it was not taken."""
    refused: list[str] = []
    if search.settings.python.interpreter:
        return ()  # The one that was named is taken, or none.
    for candidate in candidates(str(search.cwd), search.environ, search.paths):
        why = await _why_not(candidate, search, deadline)
        if why is None:
            break
        refused.append(f"passed over: {candidate.path} ({candidate.source}) {why}")
    return tuple(refused)


async def _why_not(candidate: Candidate, search: Search, deadline: Deadline) -> str | None:
    if candidate.problem:
        return candidate.problem
    env = filter_environment(search.environ, (*search.settings.python.env.allow, *SHIM_VARIABLES))
    try:
        await probe(candidate.path, cwd=str(search.cwd), env=env, seconds=deadline.remaining(PROBE_SECONDS))
    except ProbeFailed as failure:
        return str(failure)
    return None
