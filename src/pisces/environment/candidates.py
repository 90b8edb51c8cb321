"""Where a Python interpreter may be, in the order in which they are tried. Nothing is run here."""

import os
from collections.abc import Iterator, Mapping
from typing import Final

import msgspec

from pisces.settings.paths import Paths

PATH_COMMANDS: Final = ("python", "python3")


class Candidate(msgspec.Struct, frozen=True):
    """One place to look."""

    source: str
    """Who names it: `python.interpreter`, `VIRTUAL_ENV`, `.venv`, `venv`, `CONDA_PREFIX`, `managed`, `PATH`."""
    path: str
    """The file to run, absolute; when there is none, what was looked for."""
    problem: str = ""
    """Why it cannot be run, known from the file system alone; empty when it can be tried."""


def explicit_candidate(interpreter: str, cwd: str, environ: Mapping[str, str]) -> Candidate:
    """What the setting `python.interpreter` names: a path, a folder of a virtual environment, or a command."""
    source = "python.interpreter"
    if interpreter.startswith("~/"):
        interpreter = os.path.join(environ.get("HOME") or os.path.expanduser("~"), interpreter[2:])
    if os.sep not in interpreter:
        found = next(_on_path(interpreter, environ), None)
        return Candidate(source, found) if found else Candidate(source, interpreter, "not found on PATH")
    path = os.path.normpath(os.path.join(cwd, interpreter))
    return _in_folder(source, path) if os.path.isdir(path) else _checked(source, path)


def candidates(cwd: str, environ: Mapping[str, str], paths: Paths) -> Iterator[Candidate]:
    """Every place to look when none is named, best first. Places that are not there at all are left out."""
    folders = (
        ("VIRTUAL_ENV", environ.get("VIRTUAL_ENV", "")),
        (".venv", os.path.join(cwd, ".venv")),
        ("venv", os.path.join(cwd, "venv")),
        ("CONDA_PREFIX", environ.get("CONDA_PREFIX", "")),
    )
    for source, folder in folders:
        if folder and (source in environ or os.path.lexists(folder)):
            yield _in_folder(source, os.path.normpath(os.path.join(cwd, folder)))
    if os.path.lexists(paths.managed_venv):
        yield managed_candidate(paths)
    for command in PATH_COMMANDS:
        found = list(_on_path(command, environ))
        yield from (Candidate("PATH", path) for path in found)
        if not found:
            yield Candidate("PATH", command, "not found on PATH")


def managed_candidate(paths: Paths) -> Candidate:
    """The managed virtual environment, unless making it was not finished."""
    if os.path.lexists(paths.managed_venv_unfinished):
        problem = "its set-up was not finished; run `pisces setup python`"
        return Candidate("managed", str(paths.managed_venv), problem)
    return _in_folder("managed", str(paths.managed_venv))


def _in_folder(source: str, folder: str) -> Candidate:
    if not os.path.isdir(folder):
        return _checked(source, folder) if os.path.lexists(folder) else Candidate(source, folder, "no such folder")
    for command in PATH_COMMANDS:
        path = os.path.join(folder, "bin", command)
        if os.path.lexists(path):
            return _checked(source, path)
    return Candidate(source, folder, "has no bin/python")


def _checked(source: str, path: str) -> Candidate:
    if os.path.islink(path) and not os.path.exists(path):
        return Candidate(source, path, f"is a broken link to {os.readlink(path)}")
    if not os.path.exists(path):
        return Candidate(source, path, "no such file")
    if not os.path.isfile(path):
        return Candidate(source, path, "is not a file")
    if not os.access(path, os.X_OK):
        return Candidate(source, path, "is not executable")
    return Candidate(source, path)


def _on_path(command: str, environ: Mapping[str, str]) -> Iterator[str]:
    """Every executable of that name on PATH, once each.

    Relative entries are passed over: with one of them, the folder at hand would choose what is run.
    """
    seen: set[str] = set()
    for folder in environ.get("PATH", os.defpath).split(os.pathsep):
        path = os.path.join(folder, command)
        if os.path.isabs(folder) and not _checked("PATH", path).problem:
            identity = os.path.join(os.path.realpath(folder), command)
            if identity not in seen:
                seen.add(identity)
                yield path
