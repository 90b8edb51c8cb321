"""Modules that could be imported, by looking for them only: none is imported to find out."""

from __future__ import annotations

import os
import pkgutil
import re
import sys
from importlib.machinery import PathFinder
from types import ModuleType

from .cursor_place import place_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

_IMPORT = re.compile(r"[ \t]*import[ \t]+(?:[\w.]+(?:[ \t]+as[ \t]+\w+)?[ \t]*,[ \t]*)*([\w.]*)\Z")
_FROM = re.compile(r"[ \t]*from[ \t]+([\w.]*)\Z")
_NAMES = re.compile(r"[ \t]*from[ \t]+([\w.]+)[ \t]+import[ \t]+\(?(?:\s*\w[\w\s]*,)*\s*(\w*)\Z")

_found: dict[tuple[str, float], list[str]] = {}
"""The modules in a folder, by its path and when it was last changed."""


def at_the_end_of(before: str) -> tuple[list[str], str] | None:
    """What could be imported at the end of some source, as `matching` tells it for a line."""
    place = place_of(before)
    return None if place.in_comment or place.string >= 0 else matching(before[place.line :])


def matching(line: str) -> tuple[list[str], str] | None:
    """What could be imported here, and what of its name is there already; None where nothing is imported."""
    names = _NAMES.match(line)
    if names is not None:
        known = [*_loaded_names(names[1]), *_submodules(names[1])]
        return _begun(known, names[2]), names[2]
    module = _IMPORT.match(line) or _FROM.match(line)
    if module is None:
        return None
    parent, _, begun = module[1].rpartition(".")
    return _begun(_submodules(parent) if parent else _top_level(), begun), begun


def _begun(names: Iterable[str], begun: str) -> list[str]:
    return sorted({name for name in names if name.startswith(begun) and (name[0] != "_" or begun[:1] == "_")})


def _top_level() -> list[str]:
    return [*sys.builtin_module_names, *_modules_in(sys.path)]


def _submodules(package: str) -> list[str]:
    """Also those that are where no folder of the package is, as `os.path`."""
    imported = [name[len(package) + 1 :] for name in list(sys.modules) if str(name).startswith(f"{package}.")]
    return [*_modules_in(_folders_of(package)), *(name for name in imported if name.isidentifier())]


def _folders_of(package: str) -> list[str]:
    """Where the modules of a package are: of one that is imported as it says, else as they are found on the path."""
    loaded = sys.modules.get(package)
    if loaded is not None:
        return [str(folder) for folder in vars(loaded).get("__path__", ())]
    folders: list[str] | None = None
    name = ""
    for part in package.split("."):
        name = f"{name}.{part}" if name else part
        spec = PathFinder.find_spec(name, folders) if part else None
        if spec is None or spec.submodule_search_locations is None:
            return []
        folders = list(spec.submodule_search_locations)
    return folders or []


def _loaded_names(module: str) -> list[str]:
    """The names of a module that has been imported; what one has that has not, is not known."""
    loaded = sys.modules.get(module)
    return [name for name in vars(loaded) if isinstance(name, str)] if isinstance(loaded, ModuleType) else []


def _modules_in(folders: Iterable[str]) -> list[str]:
    return [name for folder in folders for name in _listed(folder or ".")]


def _listed(folder: str) -> list[str]:
    try:
        key = (os.path.abspath(folder), os.stat(folder).st_mtime)
    except OSError:
        return []
    if key not in _found:
        _found[key] = [module.name for module in pkgutil.iter_modules([folder]) if module.name.isidentifier()]
    return _found[key]
