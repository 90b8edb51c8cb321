"""The Python that kernels run in: the first one that is there and answers."""

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Final, Protocol

import msgspec

from pisces.environment.candidates import Candidate, candidates, explicit_candidate
from pisces.environment.filter import filter_environment
from pisces.environment.folder_code import folder_entries, runs_folder_code
from pisces.environment.probe import ProbeAnswer, ProbeFailed, probe
from pisces.environment.probe_cache import SHIM_VARIABLES, ProbeCache, is_shim, signature_of
from pisces.errors import DeadlineExceeded, InterpreterError
from pisces.settings.paths import Paths
from pisces.settings.schema import Settings

PROBE_SECONDS: Final = 5.0
"""What one interpreter gets to answer in."""


class TimeLeft(Protocol):
    """The deadline of the call, as far as this layer needs it (`pisces.kernels.deadline.Deadline` is one)."""

    def remaining(self, cap: float = ..., /) -> float:
        """Seconds left, at most `cap`, never below zero."""
        ...


class Interpreter(msgspec.Struct, frozen=True):
    """A Python that kernels can run in."""

    path: str
    """What to run: absolute, and the interpreter itself where a shim was found."""
    source: str
    """Who named it: `python.interpreter`, `VIRTUAL_ENV`, `.venv`, `venv`, `CONDA_PREFIX`, `managed`, `PATH`."""
    prefix: str
    base_prefix: str
    version: tuple[int, int, int] | None = None
    """None when the check was skipped."""
    implementation: str = "unknown"
    platform: str = "unknown"
    has_ipython: bool | None = None
    """Whether IPython can be imported; None when it was not asked this time. `fresh=True` asks."""

    @property
    def venv(self) -> str | None:
        """The folder of the virtual environment it belongs to, if it does."""
        return self.prefix if self.prefix != self.base_prefix else None

    @property
    def conda(self) -> str | None:
        """The folder of the conda environment it belongs to, if it does."""
        return self.prefix if os.path.isdir(os.path.join(self.prefix, "conda-meta")) else None


class Search(msgspec.Struct, frozen=True, kw_only=True):
    """What an interpreter is looked for with."""

    cwd: Path
    """The folder of the session, absolute."""
    environ: Mapping[str, str]
    settings: Settings
    paths: Paths
    cache: ProbeCache
    named_by: str = "python.interpreter"
    """What names the interpreter, where one is named: the setting, or a parameter."""
    skip_check: bool = False
    """`PI_PYTHON_SKIP_CHECK`: take the first that is there."""
    fresh: bool = False
    """Ask again whatever the cache says."""
    ahead: bool = False
    """No call needs it yet: run nothing that may run code of the folder, unless it has run here before."""


class NotUsedYet(InterpreterError):
    """The interpreter that a call would use may run code of the folder, and has not run here before."""

    def __init__(self, interpreter: Interpreter, folder: str) -> None:
        super().__init__(
            f"{interpreter.path} (from {interpreter.source}) may run code of {folder}, and has not been used "
            "there yet.",
            hint="The first call that needs it uses it; `pisces doctor --run` does too.",
        )
        self.interpreter = interpreter
        """What it looks like from outside."""


async def resolve_interpreter(search: Search, time_left: TimeLeft) -> Interpreter:
    """Find the interpreter: the named one, or the first of the known places that works.

    Raises `InterpreterError` with every place that was tried and why not, `NotUsedYet` if the search is ahead of a
    call, and `DeadlineExceeded`. Cancelling it leaves no process behind.
    """
    cwd = str(search.cwd)
    if search.settings.python.interpreter:
        chosen = explicit_candidate(search.settings.python.interpreter, cwd, search.environ)
        try:
            return await _try(chosen, search, cwd, time_left)
        except ProbeFailed as failure:
            raise InterpreterError(
                f"The interpreter of `{search.named_by}` ({search.settings.python.interpreter}) does not work: "
                f"{chosen.path} {failure}.",
                hint=f"Correct `{search.named_by}`, or leave it out to have one looked for.",
            ) from failure
    tried: list[str] = []
    for candidate in candidates(cwd, search.environ, search.paths):
        try:
            return await _try(candidate, search, cwd, time_left)
        except ProbeFailed as failure:
            tried.append(f"{candidate.path} ({candidate.source}): {failure}")
    raise InterpreterError(
        f"No working Python interpreter found. Tried: {'; '.join(tried)}",
        hint="Run `pisces setup python` to make one, or name one with the setting `python.interpreter`.",
    )


async def _try(candidate: Candidate, search: Search, cwd: str, time_left: TimeLeft) -> Interpreter:
    if candidate.problem:
        raise ProbeFailed(candidate.problem)
    entries = folder_entries(cwd, search.environ)
    signature = (*signature_of(candidate.path, cwd, search.environ), *entries)
    # What depends on the folder is remembered for each folder.
    key = f"{candidate.path}\0{cwd}" if entries or is_shim(candidate.path) else candidate.path
    if (search.ahead or search.skip_check) and not search.cache.has_run(key, signature):
        if search.ahead and runs_folder_code(candidate.path, cwd, search.environ):
            raise NotUsedYet(_unchecked(candidate), cwd)
        if search.skip_check:
            search.cache.put(key, signature, None)
    if search.skip_check:
        return _unchecked(candidate)
    answer = None if search.fresh else search.cache.get(key, signature)
    if answer is None:
        try:
            answer = await _ask(candidate, search, cwd, time_left)
        except ProbeFailed:
            if not search.cache.has_run(key, signature):
                search.cache.put(key, signature, None)  # It has run all the same.
            raise
        search.cache.put(key, signature, answer)
    return _interpreter(candidate, answer)


async def _ask(candidate: Candidate, search: Search, cwd: str, time_left: TimeLeft) -> ProbeAnswer:
    seconds = time_left.remaining(PROBE_SECONDS)
    # A shim needs its own variables to choose; the interpreter it chooses is then run without them.
    allowed = (*search.settings.python.env.allow, *SHIM_VARIABLES)
    env = filter_environment(search.environ, allowed)
    try:
        if seconds > 0:
            return await probe(candidate.path, cwd=cwd, env=env, seconds=seconds)
    except ProbeFailed:
        if time_left.remaining(PROBE_SECONDS) > 0:
            raise
    raise DeadlineExceeded(
        f"The time of the call ran out while looking for a Python interpreter, at {candidate.path}.",
        hint="Call again with a longer timeout, or name the interpreter with the setting `python.interpreter`.",
    )


def _interpreter(candidate: Candidate, answer: ProbeAnswer) -> Interpreter:
    # A shim stands for an interpreter somewhere else; a binary is run by the name that it was found by.
    real = answer.executable if is_shim(candidate.path) and os.path.isfile(answer.executable) else candidate.path
    return Interpreter(
        path=real,
        source=candidate.source,
        prefix=answer.prefix,
        base_prefix=answer.base_prefix,
        version=answer.version,
        implementation=answer.implementation,
        platform=answer.platform,
        has_ipython=answer.has_ipython,
    )


def _unchecked(candidate: Candidate) -> Interpreter:
    root = os.path.dirname(os.path.dirname(candidate.path))
    is_venv = os.path.isfile(os.path.join(root, "pyvenv.cfg"))
    return Interpreter(path=candidate.path, source=candidate.source, prefix=root, base_prefix="" if is_venv else root)
