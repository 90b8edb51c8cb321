"""Answers of interpreters that worked, kept in memory and on disk, so that a start need not ask again.

An answer counts as long as the files it came from are the same; failures are never kept. The disk copy saves the
next process the 30 to 150 ms of a probe. It is also the record of what was run here before: an interpreter that may
run code of a folder is not started ahead of a call without it (see `folder_code`).
"""

import logging
import os
import re
import zlib
from collections.abc import Mapping
from pathlib import Path
from typing import Final

import msgspec

from pisces.environment.probe import ProbeAnswer
from pisces.settings.paths import make_private
from pisces.settings.private_file import write_whole

_log = logging.getLogger(__name__)

SHIM_VARIABLES: Final = ("PYENV_VERSION", "PYENV_ROOT", "PYENV_DIR", "ASDF_PYTHON_VERSION", "MISE_PYTHON_VERSION")
"""What tells a shim (see `is_shim`) which interpreter to be."""

_VERSION_FILES: Final = (".python-version", ".tool-versions", "mise.toml", ".mise.toml")
_GLOBAL_VERSION_FILES: Final = (".pyenv/version", ".tool-versions", ".config/mise/config.toml")

_PYTHON_NAME: Final = re.compile("python|pypy|graalpy", re.IGNORECASE)
_VERSION_MANAGER: Final = re.compile(rb"""\n\s*exec\s[^\n]*\b(pyenv|asdf)["']?\s+exec\s[^\n]*\s*\Z""")
"""How the shims of pyenv and asdf end. They lie in a folder `shims`."""
_BEGINNING_BYTES: Final = 4096

Signature = tuple[str, ...]
"""Everything that an answer depends on: if any of it changes, the question has to be asked again."""


class _Entry(msgspec.Struct, frozen=True):
    signature: Signature
    executable: Signature
    answer: ProbeAnswer | None
    """None if it was run without being asked."""


class ProbeCache:
    """What is known of interpreters. `folder` is where it lasts; None keeps it in memory only."""

    def __init__(self, folder: Path | None = None) -> None:
        self._folder = folder
        self._entries: dict[str, _Entry] = {}

    def get(self, key: str, signature: Signature) -> ProbeAnswer | None:
        """The answer that the interpreter of this key gave when its signature was the same."""
        entry = self._valid(key, signature)
        return None if entry is None else entry.answer

    def has_run(self, key: str, signature: Signature) -> bool:
        """Whether that interpreter was run before, as it is now."""
        return self._valid(key, signature) is not None

    def put(self, key: str, signature: Signature, answer: ProbeAnswer | None) -> None:
        """Keep an answer, or that it was run without one. A cache that cannot be written is told to the log only."""
        entry = _Entry(signature, _file(answer.executable) if answer else (), answer)
        self._entries[key] = entry
        if self._folder is None:
            return
        # Whether IPython is there can change with one `pip install`, which leaves the signature as it was.
        lasting = None if answer is None else msgspec.structs.replace(answer, has_ipython=None)
        try:
            make_private(self._folder)
            content = msgspec.json.encode(msgspec.structs.replace(entry, answer=lasting))
            write_whole(self._file(self._folder, key), content)
        except (OSError, UnicodeEncodeError) as error:
            _log.debug("interpreter cache not written: %s", error)

    def _valid(self, key: str, signature: Signature) -> _Entry | None:
        entry = self._entries.get(key) or self._read(key)
        if entry is None or entry.signature != signature:
            return None
        if entry.answer is not None and entry.executable != _file(entry.answer.executable):
            return None
        self._entries[key] = entry
        return entry

    def _read(self, key: str) -> _Entry | None:
        if self._folder is None:
            return None
        try:
            return msgspec.json.decode(self._file(self._folder, key).read_bytes(), type=_Entry)
        except FileNotFoundError:
            return None
        except (OSError, msgspec.DecodeError) as error:
            _log.debug("interpreter cache not read: %s", error)
            return None

    @staticmethod
    def _file(folder: Path, key: str) -> Path:
        # A short name will do: the entry has the whole path in its signature, so a collision is only a miss.
        return folder / f"{zlib.crc32(os.fsencode(key)):08x}.json"


def signature_of(path: str, cwd: str, environ: Mapping[str, str]) -> Signature:
    """What the interpreter at `path` depends on: its file, its `pyvenv.cfg`, and all that a shim goes by."""
    real = os.path.realpath(path)
    parts = [path, real, *_file(real)]
    for beside in (os.path.dirname(path), os.path.dirname(os.path.dirname(path))):
        parts += _file(os.path.join(beside, "pyvenv.cfg"))
    if is_shim(path):
        parts += [cwd, *(f"{name}={environ.get(name)}" for name in SHIM_VARIABLES)]
        home = environ.get("HOME", "")
        roots = [os.path.join(home, name) for name in _GLOBAL_VERSION_FILES]
        if environ.get("PYENV_ROOT"):
            roots.append(os.path.join(environ["PYENV_ROOT"], "version"))
        for file in (*version_files(cwd), *roots):
            parts += _file(file)
    return tuple(parts)


def is_shim(path: str) -> bool:
    """Whether the file may run an interpreter that is somewhere else: a script, or a link to another program.

    The shims of mise are links to its own program, which goes by the name that it is run by.
    """
    if _beginning(path).startswith(b"#!"):
        return True
    return os.path.islink(path) and _PYTHON_NAME.match(os.path.basename(os.path.realpath(path))) is None


def is_version_manager_shim(path: str) -> bool:
    """Whether the file is a shim of pyenv or asdf. These choose the interpreter by version files and PATH only."""
    text = _beginning(path)
    is_theirs = os.path.basename(os.path.dirname(path)) == "shims" and text.startswith(b"#!")
    return is_theirs and _VERSION_MANAGER.search(text) is not None


def _beginning(path: str) -> bytes:
    try:
        with open(path, "rb") as file:
            return file.read(_BEGINNING_BYTES)
    except OSError:
        return b""


def version_files(cwd: str) -> list[str]:
    """Where a shim looks for the version that it is to be."""
    folders = [Path(cwd), *Path(cwd).parents]
    return [str(folder / name) for folder in folders for name in _VERSION_FILES]


def _file(path: str) -> Signature:
    """A file's identity; nothing but its absence when it is not there."""
    try:
        status = os.stat(path)
    except OSError:
        return ("-",)
    return (f"{status.st_ino}:{status.st_size}:{status.st_mtime_ns}",)
