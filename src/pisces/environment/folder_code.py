"""Whether an interpreter may run code that came with the folder at hand: that is for a call to start, never for us.

Where it lies decides, not who names it: an editor activates the `.venv` of whatever is opened.
"""

import os
from collections.abc import Iterator, Mapping
from typing import Final

from pisces.environment.probe_cache import is_shim, is_version_manager_shim, version_files

_REPOSITORIES: Final = (".git", ".hg", ".jj")
_SEARCH_PATHS: Final = ("PYTHONPATH", "LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH")
"""Variables that kernels get, by which code is found that runs at the start of an interpreter."""
_MOST_LINKS: Final = 40

_Identity = tuple[int, int]


def project_folder(cwd: str) -> str:
    """The outermost repository that a folder is in, or else the folder itself.

    A submodule came with what is around it.
    """
    folder = project = os.path.realpath(cwd)
    while True:
        if any(os.path.lexists(os.path.join(folder, name)) for name in _REPOSITORIES):
            project = folder
        above = os.path.dirname(folder)
        if above == folder:
            return project
        folder = above


def folder_entries(cwd: str, environ: Mapping[str, str]) -> list[str]:
    """What of the search paths leads into the project, each with its place and what identifies the folder there."""
    given = [(name, environ[name].split(os.pathsep)) for name in _SEARCH_PATHS if environ.get(name)]
    if not given:
        return []
    project = _identity(project_folder(cwd))
    places = [(name, os.path.join(cwd, entry)) for name, entries in given for entry in entries]
    return [f"{name}={place} {_identity(place)}" for name, place in places if _leads_into(place, project)]


def runs_folder_code(path: str, cwd: str, environ: Mapping[str, str]) -> bool:
    """Whether the interpreter at `path` may run code of the project.

    It does if its path, or anything that leads to, lies in the project. A shim may run anything there, except for those
    of pyenv and asdf, which go by version files and, for the version `system`, by PATH.
    """
    folder = project_folder(cwd)
    project = _identity(folder)
    if _leads_into(path, project) or folder_entries(cwd, environ):
        return True
    if not is_version_manager_shim(path):
        return is_shim(path)
    on_path = filter(None, environ.get("PATH", "").split(os.pathsep))
    if any(not os.path.isabs(entry) or _leads_into(entry, project) for entry in on_path):
        return True
    return any(_is_below(file, project) for file in version_files(cwd) if os.path.lexists(file))


def _leads_into(path: str, project: _Identity | None) -> bool:
    return any(_is_below(place, project) for place in _places(path))


def _places(path: str) -> Iterator[str]:
    """The path as it is written and as its folders really are, and the same for each link on the way to the file."""
    for _ in range(_MOST_LINKS):
        yield os.path.normpath(path)
        folder, name = os.path.split(path)
        real = os.path.join(os.path.realpath(folder), name)
        yield real
        if not os.path.islink(real):
            return
        path = os.path.join(os.path.dirname(real), os.readlink(real))


def _is_below(path: str, project: _Identity | None) -> bool:
    """Whether a folder above is the project, or it is itself; by identity, as a file system may ignore case."""
    while project is not None:
        if _identity(path) == project:
            return True
        above = os.path.dirname(path)
        if above == path:
            return False
        path = above
    return False


def _identity(path: str) -> _Identity | None:
    try:
        status = os.stat(path)
    except OSError:
        return None
    return status.st_dev, status.st_ino
