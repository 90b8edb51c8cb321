"""Which interpreter a session uses, and what its kernels see: asked once, remembered for the life of a runtime."""

import logging
import os
from collections.abc import Mapping
from pathlib import Path

import msgspec

from pisces.environment.interpreter import Interpreter, Search, TimeLeft, resolve_interpreter
from pisces.environment.kernel_environment import kernel_environment
from pisces.environment.probe_cache import ProbeCache
from pisces.settings.load import LoadedSettings
from pisces.settings.paths import Paths

_startup = logging.getLogger("pisces.startup")


class InterpreterLookup:
    """Finds interpreters for one working folder."""

    def __init__(self, cwd: Path, environ: Mapping[str, str], loaded: LoadedSettings, paths: Paths) -> None:
        self._loaded = loaded
        self._search = Search(
            cwd=cwd,
            environ=environ,
            settings=loaded.settings,
            paths=paths,
            cache=ProbeCache(paths.cache),
            skip_check=loaded.switches.skip_check,
        )
        self._found: dict[str, Interpreter] = {}
        self._environments: dict[str, dict[str, str]] = {}

    async def find(self, named: str | None, time_left: TimeLeft) -> Interpreter:
        """The interpreter of that path or command; without one, that of the settings or the first that works."""
        known = self._found.get(named or "")
        if known is not None and _exists(known.path):
            return known
        search = self._search
        if named is not None:
            python = msgspec.structs.replace(search.settings.python, interpreter=named)
            settings = msgspec.structs.replace(search.settings, python=python)
            search = msgspec.structs.replace(search, settings=settings, named_by="kernel")
        found = self._found[named or ""] = await resolve_interpreter(search, time_left)
        _startup.debug("interpreter found")
        return found

    def environment(self, interpreter: Interpreter) -> dict[str, str]:
        """The environment of this interpreter's kernels."""
        env = self._environments.get(interpreter.path)
        if env is None:
            env = kernel_environment(interpreter, self._search.environ, self._loaded.settings)
            self._environments[interpreter.path] = env
        return env


def _exists(path: str) -> bool:
    """A look at the file system that takes microseconds: an interpreter may have been removed since it was found."""
    return os.path.exists(path)
