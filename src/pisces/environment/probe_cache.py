"""Answers of interpreters that worked, kept in memory and on disk, so that a start need not ask again.

An answer counts as long as the files it came from are the same; failures are never kept. The disk copy saves the
next process the 30 to 150 ms of a probe; losing it costs only that.
"""

import logging
import os
import zlib
from collections.abc import Mapping
from pathlib import Path
from typing import Final

import msgspec

from pisces.environment.probe import ProbeAnswer
from pisces.settings.paths import make_private

_log = logging.getLogger(__name__)

SHIM_VARIABLES: Final = ("PYENV_VERSION", "PYENV_ROOT", "PYENV_DIR", "ASDF_PYTHON_VERSION", "MISE_PYTHON_VERSION")
"""What tells a shim (a script that stands for one of several interpreters) which one to be."""

_VERSION_FILES: Final = (".python-version", ".tool-versions", "mise.toml", ".mise.toml")
_GLOBAL_VERSION_FILES: Final = (".pyenv/version", ".tool-versions", ".config/mise/config.toml")

Signature = tuple[str, ...]
"""Everything that an answer depends on: if any of it changes, the question has to be asked again."""


class _Entry(msgspec.Struct, frozen=True):
    signature: Signature
    executable: Signature
    answer: ProbeAnswer


class ProbeCache:
    """What is known of interpreters. `folder` is where it lasts; None keeps it in memory only."""

    def __init__(self, folder: Path | None = None) -> None:
        self._folder = folder
        self._entries: dict[str, _Entry] = {}

    def get(self, path: str, signature: Signature) -> ProbeAnswer | None:
        """The answer that the interpreter at `path` gave when its signature was the same."""
        entry = self._entries.get(path) or self._read(path)
        if entry is None or entry.signature != signature or entry.executable != _file(entry.answer.executable):
            return None
        self._entries[path] = entry
        return entry.answer

    def put(self, path: str, signature: Signature, answer: ProbeAnswer) -> None:
        """Keep an answer. A cache that cannot be written is told to the log and to nobody else."""
        entry = _Entry(signature, _file(answer.executable), answer)
        self._entries[path] = entry
        if self._folder is None:
            return
        # Whether IPython is there can change with one `pip install`, which leaves the signature as it was.
        lasting = msgspec.structs.replace(entry, answer=msgspec.structs.replace(answer, has_ipython=None))
        file = self._file(self._folder, path)
        scratch = file.with_suffix(f".{os.getpid()}")
        try:
            make_private(self._folder)
            scratch.write_bytes(msgspec.json.encode(lasting))
            scratch.replace(file)
        except (OSError, UnicodeEncodeError) as error:
            _log.debug("interpreter cache not written: %s", error)

    def _read(self, path: str) -> _Entry | None:
        if self._folder is None:
            return None
        try:
            return msgspec.json.decode(self._file(self._folder, path).read_bytes(), type=_Entry)
        except FileNotFoundError:
            return None
        except (OSError, msgspec.DecodeError) as error:
            _log.debug("interpreter cache not read: %s", error)
            return None

    @staticmethod
    def _file(folder: Path, path: str) -> Path:
        # A short name will do: the entry has the whole path in its signature, so a collision is only a miss.
        return folder / f"{zlib.crc32(os.fsencode(path)):08x}.json"


def signature_of(path: str, cwd: str, environ: Mapping[str, str]) -> Signature:
    """What the interpreter at `path` depends on: its file, its `pyvenv.cfg`, and for a script all that shims go by."""
    real = os.path.realpath(path)
    parts = [path, real, *_file(real)]
    for beside in (os.path.dirname(path), os.path.dirname(os.path.dirname(path))):
        parts += _file(os.path.join(beside, "pyvenv.cfg"))
    if is_script(real):
        parts += [cwd, *(f"{name}={environ.get(name)}" for name in SHIM_VARIABLES)]
        home = environ.get("HOME", "")
        roots = [os.path.join(home, name) for name in _GLOBAL_VERSION_FILES]
        if environ.get("PYENV_ROOT"):
            roots.append(os.path.join(environ["PYENV_ROOT"], "version"))
        for file in (*_version_files(cwd), *roots):
            parts += _file(file)
    return tuple(parts)


def is_script(path: str) -> bool:
    """Whether the file is a script, which may run an interpreter that is somewhere else."""
    try:
        with open(path, "rb") as file:
            return file.read(2) == b"#!"
    except OSError:
        return False


def _version_files(cwd: str) -> list[str]:
    folders = [Path(cwd), *Path(cwd).parents]
    return [str(folder / name) for folder in folders for name in _VERSION_FILES]


def _file(path: str) -> Signature:
    """A file's identity; nothing but its absence when it is not there."""
    try:
        status = os.stat(path)
    except OSError:
        return ("-",)
    return (f"{status.st_ino}:{status.st_size}:{status.st_mtime_ns}",)
