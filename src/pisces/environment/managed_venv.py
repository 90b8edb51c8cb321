"""The virtual environment of Pisces itself, for users who have no other: made whole, or made again.

A system's own Python often refuses to have packages installed (PEP 668), so they go into an environment in the home
folder of Pisces. A file beside it is there while it is being made: what is found with that file is half made, is not
used, and is begun anew. Two set-ups at once take turns.
"""

import contextlib
import fcntl
import os
import shutil
import sys
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from pathlib import Path
from typing import IO, Final

import anyio
import anyio.to_thread

from pisces.environment.candidates import managed_candidate
from pisces.environment.captured_process import CapturedProcess
from pisces.environment.mask import SecretMask
from pisces.environment.probe import ProbeFailed, probe
from pisces.environment.secret_names import has_denied_ending, is_never_passed
from pisces.errors import DeadlineExceeded, InterpreterError
from pisces.settings.paths import Paths, make_private

Progress = Callable[[str], None]
"""Gets one line at a time of what is going on."""

TIME_LIMIT: Final = 900.0
_PROBE_SECONDS: Final = 10.0
_LAST_LINES: Final = 8

_MISLEADING: Final = frozenset({"PYTHONPATH", "PYTHONHOME", "VIRTUAL_ENV", "PIP_TARGET", "PIP_PREFIX", "PIP_ROOT"})
"""Variables that would have pip install somewhere else."""


async def create_managed_venv(
    paths: Paths,
    environ: Mapping[str, str],
    *,
    base: str | None = None,
    packages: Sequence[str] = ("ipython",),
    progress: Progress | None = None,
    seconds: float = TIME_LIMIT,
) -> str:
    """Make the managed virtual environment, or complete the one that is there; return its interpreter's path.

    `base` is the Python to make it from, by default the one that runs Pisces. Raises `InterpreterError`, with what venv
    or pip said, and `DeadlineExceeded`. Cancelling it ends what it started; the next set-up then begins anew.
    """
    work = _Setup(paths, environ, progress or (lambda _line: None))
    with anyio.move_on_after(seconds):
        async with work.turn():
            if not await work.is_working():
                await work.make(base or sys.executable)
            await work.install(packages)
            paths.managed_venv_unfinished.unlink(missing_ok=True)
        return work.python
    raise DeadlineExceeded(
        f"The managed Python environment was not ready after {seconds:g} seconds.",
        hint="Look at the network and the disk, then run `pisces setup python` again.",
    )


class _Setup:
    """One set-up: where it happens, with which environment, and who hears of it."""

    def __init__(self, paths: Paths, environ: Mapping[str, str], progress: Progress) -> None:
        self._paths = paths
        self._env = _setup_environment(environ)
        self._mask = SecretMask(environ)
        self._progress = progress
        self.python = str(paths.managed_venv / "bin" / "python")

    @contextlib.asynccontextmanager
    async def turn(self) -> AsyncIterator[None]:
        """Wait until no other process sets up the same environment. The lock goes with the process that holds it."""
        with _lock_file(self._paths) as lock:
            if not _lock(lock):
                self._progress("Waiting for another set-up of the same environment to finish")
                while not _lock(lock):  # noqa: ASYNC110 - another process lets it go, and no event tells
                    await anyio.sleep(0.1)
            yield

    async def is_working(self) -> bool:
        """Whether the environment is there, finished, and answers."""
        candidate = managed_candidate(self._paths)
        if candidate.problem:
            return False
        try:
            await probe(candidate.path, cwd=str(self._paths.home), env=self._env, seconds=_PROBE_SECONDS)
        except ProbeFailed as failure:
            self._progress(f"The environment in {self._paths.managed_venv} {failure}; making it anew")
            return False
        return True

    async def make(self, base: str) -> None:
        """Make the environment, without packages, in place of whatever is there."""
        folder = self._paths.managed_venv
        self._paths.managed_venv_unfinished.touch(mode=0o600)
        await anyio.to_thread.run_sync(_remove, folder)
        self._progress(f"Making a virtual environment in {folder}")
        code, said = await self._run([base, "-m", "venv", str(folder)])
        if code == 0:
            return
        hint = "Mend what it says, then run `pisces setup python` again."
        if "ensurepip" in said or "No module named venv" in said:
            hint = (
                "This Python comes without venv or ensurepip. On Debian and Ubuntu the package `python3-venv` has "
                "them; otherwise use another Python as the base."
            )
        raise InterpreterError(f"{base} could not make a virtual environment in {folder} ({code}):\n{said}", hint=hint)

    async def install(self, packages: Sequence[str]) -> None:
        """Install the packages by name, with the environment's own pip."""
        if not packages:
            return
        self._progress(f"Installing {', '.join(packages)}")
        code, said = await self._run([self.python, "-m", "pip", "install", "--", *packages])
        if code != 0:
            raise InterpreterError(
                f"pip could not install {', '.join(packages)} into {self._paths.managed_venv} ({code}):\n{said}",
                hint="Look at the network and pip's configuration, then run `pisces setup python` again.",
            )

    async def _run(self, command: Sequence[str]) -> tuple[int | None, str]:
        """Run a command, tell its lines as they come, and return its exit code and last lines."""
        try:
            process = CapturedProcess(command, cwd=str(self._paths.home), env=self._env)
        except OSError as error:
            raise InterpreterError(
                f"{command[0]} cannot be started: {error.strerror or error}.",
                hint="Use a Python that works as the base.",
            ) from error
        lines: list[str] = []
        rest = b""
        async with process:
            while chunk := await process.read():
                *whole, rest = (rest + chunk).split(b"\n")
                lines = [*lines, *map(self._tell, whole)][-_LAST_LINES:]
            lines.append(self._tell(rest))
        return process.exit_code, "\n".join(line for line in lines[-_LAST_LINES:] if line)

    def _tell(self, line: bytes) -> str:
        text = self._mask.text(line.decode("utf-8", "replace").strip())
        if text:
            self._progress(text)
        return text


def _setup_environment(environ: Mapping[str, str]) -> dict[str, str]:
    """What venv and pip see: the user's configuration of pip, but no keys, and nothing that leads pip astray."""
    kept = {
        name: value
        for name, value in environ.items()
        if not (is_never_passed(name) or has_denied_ending(name) or name in _MISLEADING)
    }
    return {**kept, "PIP_NO_INPUT": "1", "PIP_USER": "0", "PIP_DISABLE_PIP_VERSION_CHECK": "1", "PYTHONUNBUFFERED": "1"}


def _lock_file(paths: Paths) -> IO[bytes]:
    return open(make_private(paths.home) / "python-env.lock", "ab")


def _lock(file: IO[bytes]) -> bool:
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _remove(folder: Path) -> None:
    if folder.is_symlink() or folder.is_file():
        folder.unlink()
    elif os.path.lexists(folder):
        shutil.rmtree(folder)
