"""Extension modules on disk: the user's own and those that a project brings along, in the order they are loaded in.

Nothing is run here. The files are read as text, and a kernel is sent that.
"""

import os
import stat
from pathlib import Path
from typing import Final, Literal

import msgspec

from pisces.settings.paths import Paths

ModuleOrigin = Literal["user", "project"]

_MOST_BYTES: Final = 1 << 20
_FOLDER: Final = "modules"


class ModuleFile(msgspec.Struct, frozen=True):
    """One file in a folder of modules."""

    path: str
    origin: ModuleOrigin
    overridden: bool = False
    """Whether it is not loaded, because the project has one of the same name."""
    problem: str = ""
    """Why it cannot be read, where that is plain already; or why its folder cannot be, which `path` is then."""
    stamp: tuple[int, int, int] = (0, 0, 0)
    """What changes when the file does: its inode, size and time."""

    @property
    def name(self) -> str:
        """The name of the file, by which modules are put in order and take each other's place."""
        return os.path.basename(self.path)


class ModuleSource(msgspec.Struct, frozen=True):
    """A module that has been read: its text, or why there is none."""

    path: str
    text: str = ""
    problem: str = ""


class ModuleFolders(msgspec.Struct, frozen=True):
    """Where modules are looked for."""

    user: Path
    project: Path

    @classmethod
    def of(cls, paths: Paths, cwd: str | Path) -> "ModuleFolders":
        """Those of this user, in this project."""
        return cls(paths.agent / _FOLDER, Path(cwd) / ".pisces" / _FOLDER)

    def files(self) -> list[ModuleFile]:
        """Every module there is, in order of file name; one that another takes the place of comes before that."""
        project = _listed(self.project, "project")
        own = {file.name for file in project}
        user = [
            msgspec.structs.replace(file, overridden=file.name in own and file.path != str(self.user))
            for file in _listed(self.user, "user")
        ]
        return sorted([*user, *project], key=lambda file: file.name)  # Stable: the user's stays before the project's.

    def in_force(self) -> list[ModuleFile]:
        """Those that a kernel loads."""
        return [file for file in self.files() if not file.overridden]


def read_module(file: ModuleFile) -> ModuleSource:
    """The text of a module, which is UTF-8 and of a size that a person could have written."""
    if file.problem:
        return ModuleSource(file.path, problem=file.problem)
    try:
        with open(file.path, "rb") as opened:
            content = opened.read(_MOST_BYTES + 1)
        if len(content) > _MOST_BYTES:
            return ModuleSource(file.path, problem=f"ValueError: it is larger than {_MOST_BYTES} bytes")
        return ModuleSource(file.path, content.decode("utf-8-sig"))
    except OSError as error:
        return ModuleSource(file.path, problem=_words(error))
    except UnicodeDecodeError as error:
        return ModuleSource(file.path, problem=f"UnicodeDecodeError: {error}")


def _listed(folder: Path, origin: ModuleOrigin) -> list[ModuleFile]:
    try:
        with os.scandir(folder) as entries:
            names = [entry.name for entry in entries if entry.name.endswith(".py") and entry.name[0] not in "._"]
    except (FileNotFoundError, NotADirectoryError):
        return []
    except OSError as error:
        return [ModuleFile(str(folder), origin, problem=_words(error))]
    found = (_looked_at(os.path.join(folder, name), origin) for name in names)
    return [file for file in found if file is not None]


def _looked_at(path: str, origin: ModuleOrigin) -> ModuleFile | None:
    """The module at this path; None for a folder."""
    try:
        status = os.stat(path)
        path.encode("utf-8")
    except OSError as error:
        return ModuleFile(path, origin, problem=_words(error))
    except UnicodeEncodeError:
        return ModuleFile(ascii(path)[1:-1], origin, problem="ValueError: the name of the file is not UTF-8")
    if stat.S_ISDIR(status.st_mode):
        return None
    stamp = (status.st_ino, status.st_size, status.st_mtime_ns)
    problem = "" if stat.S_ISREG(status.st_mode) else "OSError: it is not a regular file"
    return ModuleFile(path, origin, problem=problem, stamp=stamp)


def _words(error: OSError) -> str:
    return f"{type(error).__name__}: {error.strerror or error}"
