"""Make a virtual environment from a file of exact versions, unless it is there already.

    make_environment.py TARGET [--requirements FILE] [--source FOLDER]

TARGET then has just what FILE names, checked against its hashes, and FOLDER can be imported from where it is, so that
a change of the source counts at once. A copy of FILE inside the environment is written last: it is the sign that the
environment is complete, and `./pisces` compares it to see whether there is anything to do. An environment that was
begun and not finished, or made from other versions, is made anew.

Any number of these may run at once: one works, the others wait for it. Only the standard library is used.
"""

import argparse
import fcntl
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

STAMP = "pisces-requirements.txt"
SOURCE_LINK = "pisces-source.pth"
WAIT_SECONDS = 900.0
POLL_SECONDS = 0.1
FOREIGN_TARGETS = ("PIP_PREFIX", "PIP_ROOT", "PIP_TARGET", "PIP_USER")


class SetUpFailed(Exception):
    """The environment could not be made; the message says why and what to do."""


def make_environment(target: Path, *, requirements: Path | None = None, source: Path | None = None) -> Path:
    """Return the interpreter of the environment at `target`, which is made first if it is not complete.

    Raises `SetUpFailed`. What is left of a failed attempt is never taken for an environment.
    """
    wanted = requirements.read_bytes() if requirements else b""
    interpreter = target / "bin" / "python"
    if is_complete(target, wanted):
        return interpreter
    target.parent.mkdir(parents=True, exist_ok=True)
    with locked(target.with_name(target.name + ".lock")) as lock:
        if is_complete(target, wanted):
            return interpreter
        started = time.monotonic()
        report(f"making {target} with Python {sys.version.split()[0]}; this is done once")
        clear(target)
        create(target, lock)
        if requirements:
            report(f"installing {count(wanted)} packages, checked by hash")
            install(interpreter, requirements, lock)
        if source:
            link_source(target, source)
        (target / STAMP).write_bytes(wanted)
        report(f"ready after {time.monotonic() - started:.0f} s")
    return interpreter


def filled_once(target: Path, is_complete: Callable[[Path], bool], fill: Callable[[Path, int], None]) -> Path:
    """Return `target`, which `fill` fills first if it is not complete; it is told the lock that is held meanwhile."""
    if is_complete(target):
        return target
    target.parent.mkdir(parents=True, exist_ok=True)
    with locked(target.with_name(target.name + ".lock")) as lock:
        if not is_complete(target):
            fill(target, lock)
    return target


def is_complete(target: Path, wanted: bytes) -> bool:
    """Whether the environment was finished, with these versions, for this release of Python."""
    try:
        stamp = (target / STAMP).read_bytes()
    except OSError:
        return False
    return stamp == wanted and os.access(target / "bin" / "python", os.X_OK) and site_packages(target).is_dir()


def site_packages(target: Path) -> Path:
    """Where this release of Python keeps the packages of the environment."""
    return target / "lib" / f"python{sys.version_info[0]}.{sys.version_info[1]}" / "site-packages"


@contextmanager
def locked(path: Path) -> Iterator[int]:
    """Hold the lock at `path`. The system releases it when its last holder ends, however that happens."""
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
    try:
        give_up = time.monotonic() + WAIT_SECONDS
        waiting = False
        while not try_lock(descriptor):
            if not waiting:
                report("another set-up is under way; waiting for it")
                waiting = True
            if time.monotonic() > give_up:
                raise SetUpFailed(
                    f"another set-up has held {path} for {WAIT_SECONDS:.0f} s. End that process and try again."
                )
            time.sleep(POLL_SECONDS)
        yield descriptor
    finally:
        os.close(descriptor)


def try_lock(descriptor: int) -> bool:
    """Take the lock if it is free."""
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def clear(target: Path) -> None:
    """Remove what an earlier attempt or an older version left."""
    if target.is_symlink() or target.is_file():
        target.unlink()
    elif target.exists():
        (target / STAMP).unlink(missing_ok=True)
        shutil.rmtree(target)


def create(target: Path, lock: int) -> None:
    """Make an empty virtual environment with pip."""
    try:
        import ensurepip  # noqa: F401  # Debian packs it apart from Python
        import venv  # noqa: F401
    except ImportError as error:
        release = f"{sys.version_info[0]}.{sys.version_info[1]}"
        raise SetUpFailed(
            f"{sys.executable} cannot make virtual environments: {error}.\n"
            f"On Debian and Ubuntu: apt install python{release}-venv. Elsewhere, install the full Python, or name "
            "another one: PISCES_PYTHON=/path/to/python3"
        ) from error
    run([versioned_executable(), "-I", "-m", "venv", str(target)], lock, "The virtual environment could not be made.")


def versioned_executable() -> str:
    """This interpreter by its versioned name, if it has one beside it.

    An environment made through plain `python3` would go on with another release, and without its packages, once the
    system moves that name; made through `python3.x` it is seen to be broken, and made anew.
    """
    exact = Path(sys.executable).with_name(f"python{sys.version_info[0]}.{sys.version_info[1]}")
    return str(exact) if os.access(exact, os.X_OK) else sys.executable


def install(interpreter: Path, requirements: Path, lock: int) -> None:
    """Install exactly what the file names."""
    command = [str(interpreter), "-I", "-m", "pip", "--disable-pip-version-check", "--no-input", "install", "--quiet"]
    command += ["--no-deps", "--require-hashes", "--requirement", str(requirements)]
    run(command, lock, "The packages could not be installed. Is the network there, and does pip work otherwise?")


def run(command: list[str], lock: int, failure: str, *, cwd: Path | None = None) -> None:
    """Run a step; its output goes to stderr. It shares the lock, so that nobody starts over while it still works."""
    environment = {name: value for name, value in os.environ.items() if name not in FOREIGN_TARGETS}
    done = subprocess.run(
        command, stdin=subprocess.DEVNULL, stdout=sys.stderr, env=environment, cwd=cwd, pass_fds=(lock,), check=False
    )
    if done.returncode != 0:
        raise SetUpFailed(f"{failure}\nThis failed with exit code {done.returncode}: {' '.join(command)}")


def link_source(target: Path, source: Path) -> None:
    """Let the environment import from `source`; the path is relative, so that the whole tree can be moved."""
    packages = site_packages(target)
    relative = os.path.relpath(source.resolve(), packages.resolve())
    (packages / SOURCE_LINK).write_text(f"{relative}\n", encoding="utf-8")


def count(wanted: bytes) -> int:
    """How many packages a requirements file names."""
    return sum(1 for line in wanted.splitlines() if b"==" in line)


def report(message: str) -> None:
    """Tell the person who waits; stdout stays free for what they asked for."""
    print(f"pisces: {message}", file=sys.stderr, flush=True)


def main() -> int:
    """Make the environment that the command line describes."""
    parser = argparse.ArgumentParser(description="Make a virtual environment, unless it is there already.")
    parser.add_argument("target", type=Path)
    parser.add_argument("--requirements", type=Path, help="exact versions with hashes; without it, a bare environment")
    parser.add_argument("--source", type=Path, help="a folder to import from where it is")
    arguments = parser.parse_args()
    try:
        make_environment(arguments.target, requirements=arguments.requirements, source=arguments.source)
    except SetUpFailed as error:
        report(str(error))
        return 1
    except PermissionError as error:
        report(
            f"{arguments.target} has to be made anew, and {error.filename} cannot be written ({error.strerror}). "
            "Start pisces once as the owner of that folder, or use a clone of your own."
        )
        return 1
    except KeyboardInterrupt:
        report("interrupted; the next start begins anew")
        return 130
    return 0


if __name__ == "__main__":
    sys.exit(main())
