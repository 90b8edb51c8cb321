"""Which Jupyter kernels are installed: folders with a `kernel.json`, in the places where Jupyter looks.

Only files are read; neither pyzmq nor jupyter_client is needed for it. The places are those of Jupyter's own
documentation, and those of the interpreter that a session uses.
"""

import os
import re
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

import msgspec

from pisces.errors import KernelStartError

_SYSTEM: Final = ("/usr/local/share/jupyter", "/usr/share/jupyter")
_FILE: Final = "kernel.json"
_NAME: Final = re.compile(r"[a-z0-9._-]+", re.IGNORECASE)
_PLACEHOLDER: Final = re.compile(r"\{([A-Za-z0-9_]+)\}")
_VARIABLE: Final = re.compile(r"\$(?:\{([A-Za-z_][A-Za-z0-9_]*)\}|([A-Za-z_][A-Za-z0-9_]*)|(\$))")
_YES: Final = {"1", "true", "yes", "on", "y", "t"}


class KernelSpecInfo(msgspec.Struct, frozen=True):
    """One installed kernel."""

    name: str
    """What it is asked for by."""
    language: str
    display_name: str
    folder: str
    """Where its `kernel.json` is."""
    argv: tuple[str, ...]
    env: Mapping[str, str] = {}
    interrupt_mode: str = "signal"
    """`signal`, or `message` for a kernel that wants to be asked."""

    @property
    def prefix(self) -> str:
        """The environment it was installed into: three folders up, if it lies where kernels lie in one; else empty."""
        place = Path(self.folder).parent
        return str(place.parents[2]) if place.parts[-3:] == ("share", "jupyter", "kernels") else ""

    def command(self, connection_file: str, interpreter: str) -> tuple[str, ...]:
        """What to run, with the placeholders filled in.

        A bare `python` is the interpreter of the environment that the kernel was installed into: ours, the session's,
        or whatever the kernel finds on its PATH.
        """
        values = {"connection_file": connection_file, "resource_dir": self.folder, "prefix": self.prefix or sys.prefix}
        first, *rest = fill(self.argv, values)
        if re.fullmatch(r"python[0-9.]*", first):
            known = {sys.prefix: sys.executable, prefix_of(interpreter): interpreter}
            first = known.get(self.prefix, first)
        return first, *rest

    def environment(self, env: Mapping[str, str]) -> dict[str, str]:
        """The environment of the process: this one, and on top the kernel's own variables, which may refer to it."""
        return {**env, **{name: expand(value, env) for name, value in self.env.items()}}


def fill(argv: tuple[str, ...], values: Mapping[str, str]) -> tuple[str, ...]:
    """The arguments with each `{name}` replaced by its value; what has none stays as it is."""
    return tuple(_PLACEHOLDER.sub(lambda found: values.get(found[1], found[0]), argument) for argument in argv)


def expand(text: str, env: Mapping[str, str]) -> str:
    """The text with `${NAME}` and `$NAME` replaced by that variable, `$$` by a dollar; unknown ones stay."""
    return _VARIABLE.sub(lambda found: "$" if found[3] else env.get(found[1] or found[2], found[0]), text)


def prefix_of(interpreter: str) -> str:
    """The environment that an interpreter belongs to, by where it lies; its links are not followed."""
    return os.path.dirname(os.path.dirname(os.path.abspath(interpreter)))


def places(interpreter: str | None, environ: Mapping[str, str]) -> list[Path]:
    """The folders to look in, the first to have a kernel wins.

    `JUPYTER_PATH`, the interpreter's environment, the user's own folder, the environment that we run in, the system.
    """
    named = [place for place in environ.get("JUPYTER_PATH", "").split(os.pathsep) if place]
    near = [os.path.join(prefix_of(interpreter), "share", "jupyter")] if interpreter else []
    ours = os.path.join(sys.prefix, "share", "jupyter")
    found = dict.fromkeys([*named, *near, *_of_the_user(environ), ours, *_SYSTEM])
    return [Path(place, "kernels") for place in found]


def _of_the_user(environ: Mapping[str, str]) -> list[str]:
    if environ.get("JUPYTER_DATA_DIR"):
        return [environ["JUPYTER_DATA_DIR"]]
    home = environ.get("HOME") or os.path.expanduser("~")
    data = environ.get("XDG_DATA_HOME") or os.path.join(home, ".local", "share")
    if sys.platform == "darwin":
        by_platform = os.path.join(home, "Library", "Application Support", "Jupyter")
        usual = os.path.join(home, "Library", "Jupyter")
        return [by_platform if environ.get("JUPYTER_PLATFORM_DIRS", "").lower() in _YES else usual]
    return [os.path.join(data, "jupyter")]


def installed(interpreter: str | None, environ: Mapping[str, str]) -> list[KernelSpecInfo]:
    """Every kernel that can be asked for, by name. One whose file cannot be read is left out: `find` says why."""
    found: dict[str, KernelSpecInfo] = {}
    for folder in _folders(interpreter, environ):
        name = folder.name.lower()
        if name not in found:
            try:
                found[name] = _read(folder)
            except KernelStartError:
                continue
    return [found[name] for name in sorted(found)]


def find(name: str, interpreter: str | None, environ: Mapping[str, str]) -> KernelSpecInfo:
    """The kernel of this name. Raises `KernelStartError`, which names those that there are."""
    for folder in _folders(interpreter, environ):
        if folder.name.lower() == name.lower():
            return _read(folder)
    there = ", ".join(spec.name for spec in installed(interpreter, environ)) or "none"
    raise KernelStartError(
        f"There is no Jupyter kernel named {name!r}.",
        hint=f"Installed: {there}. Others come with their packages.",
    )


def _folders(interpreter: str | None, environ: Mapping[str, str]) -> list[Path]:
    found: list[Path] = []
    for place in places(interpreter, environ):
        try:
            names = sorted(os.listdir(place))
        except OSError:
            continue  # Most of the places are not there.
        found += [place / name for name in names if _NAME.fullmatch(name) and (place / name / _FILE).is_file()]
    return found


def _read(folder: Path) -> KernelSpecInfo:
    file = folder / _FILE
    try:
        content = msgspec.json.decode(file.read_bytes())
        return _spec(folder, content)
    except (OSError, ValueError, TypeError, AttributeError) as error:
        hint = f"Mend the file, or install the kernel {folder.name!r} again."
        raise KernelStartError(f"The kernelspec {file} cannot be used: {error}", hint=hint) from error


def _spec(folder: Path, content: Any) -> KernelSpecInfo:
    argv = content.get("argv")
    if not isinstance(argv, list) or not argv or not all(isinstance(argument, str) for argument in argv):
        raise ValueError("`argv` is not a list of texts")
    env = content.get("env") or {}
    return KernelSpecInfo(
        name=folder.name.lower(),
        language=str(content.get("language", "")),
        display_name=str(content.get("display_name", "")) or folder.name,
        folder=str(folder),
        argv=tuple(argv),
        env={str(key): str(value) for key, value in env.items()},
        interrupt_mode="message" if str(content.get("interrupt_mode", "")).lower() == "message" else "signal",
    )
