"""Which interpreter a session uses, and what its kernels see: asked once, remembered for the life of a runtime."""

import logging
from collections.abc import Mapping
from pathlib import Path

import msgspec

from pisces.environment.candidates import explicit_candidate
from pisces.environment.interpreter import Interpreter, Search, TimeLeft, resolve_interpreter
from pisces.environment.kernel_environment import kernel_environment
from pisces.environment.probe_cache import ProbeCache
from pisces.environment.shell_snapshot import SNAPSHOT_VARIABLE, snapshot_path
from pisces.settings.load import LoadedSettings
from pisces.settings.paths import Paths

_startup = logging.getLogger("pisces.startup")


class InterpreterLookup:
    """Finds interpreters for one working folder."""

    def __init__(self, cwd: Path, environ: Mapping[str, str], loaded: LoadedSettings, paths: Paths) -> None:
        self._search = Search(
            cwd=cwd,
            environ=environ,
            settings=loaded.settings,
            paths=paths,
            cache=ProbeCache(paths.cache),
            skip_check=loaded.switches.skip_check,
        )
        self._found: dict[str, Interpreter] = {}
        self._environments: dict[Interpreter, dict[str, str]] = {}

    @property
    def skips_check(self) -> bool:
        """Whether whoever calls wants nothing to be asked before it is used (`PI_PYTHON_SKIP_CHECK`)."""
        return self._search.skip_check

    def known(self, named: str | None) -> Interpreter | None:
        """The interpreter, if it was found before."""
        return self._found.get(named or "")

    def path_of(self, named: str) -> str:
        """Where that path or command leads from here; nothing is run to find out."""
        path = explicit_candidate(named, str(self._search.cwd), self._search.environ).path
        known = self.known(named) or self.known(path)
        return known.path if known else path

    def forget(self, named: str | None) -> None:
        """Look again next time, and ask rather than believe the cache: what was found did not work."""
        self._found.pop(named or "", None)
        self._search = msgspec.structs.replace(self._search, fresh=True)

    async def find(self, named: str | None, time_left: TimeLeft, *, ahead: bool = False) -> Interpreter:
        """The interpreter of that path or command; without one, that of the settings or the first that works.

        Raises what `resolve_interpreter` does; `ahead` is whether no call needs it yet.
        """
        known = self.known(named)
        if known is not None:
            return known
        search = msgspec.structs.replace(self._search, ahead=ahead) if ahead else self._search
        if named is not None:
            python = msgspec.structs.replace(search.settings.python, interpreter=named)
            settings = msgspec.structs.replace(search.settings, python=python)
            search = msgspec.structs.replace(search, settings=settings, named_by="kernel")
        found = self._found[named or ""] = await resolve_interpreter(search, time_left)
        _startup.debug("interpreter found")
        return found

    def environment(self, interpreter: Interpreter) -> dict[str, str]:
        """The environment that this interpreter's kernels start with; `injected` comes on top."""
        env = self._environments.get(interpreter)
        if env is None:
            search = self._search
            env = kernel_environment(interpreter, search.environ, search.settings, cwd=str(search.cwd))
            self._environments[interpreter] = env
        return env

    @property
    def injected(self) -> dict[str, str]:
        """The variables of Pisces itself that every kernel sees."""
        search = self._search
        artifacts = str(search.paths.artifacts)
        snapshot = {SNAPSHOT_VARIABLE: str(snapshot_path(search.environ, search.paths))}
        return {"PI_ARTIFACTS_DIR": artifacts, "ARTIFACTS": artifacts, **snapshot}
