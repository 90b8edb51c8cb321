"""Extension modules for tests, and the shells that they are loaded in."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from pisces.runtime import Runtime
from tests.fakes.runtimes import runtime_on

SHELLS: Mapping[str, tuple[str, Mapping[str, Any]]] = {
    "native-builtin": ("plain_python", {}),
    "native-ipython": ("ipython_python", {}),
    "zmq": ("jupyter_python", {"backend": "zmq"}),
}
"""By name: the fixture of the interpreter, and the settings that have its kernels."""

Start = Callable[..., Runtime]
"""Makes a runtime of one of the shells, in the test's folder: the fixture `start_in_shell`."""


def user_modules(folder: Path) -> Path:
    """Where the modules of the user are whose home is that of a test's runtime."""
    return folder / "home" / ".pisces" / "agent" / "modules"


def project_modules(folder: Path) -> Path:
    """Where the modules of the project are."""
    return folder / ".pisces" / "modules"


def write_modules(where: Path, sources: Mapping[str, str]) -> Path:
    """Put these files there."""
    where.mkdir(parents=True, exist_ok=True)
    for name, source in sources.items():
        (where / name).write_text(source, encoding="utf-8")
    return where


def runtime_in_shell(shell: str, request: pytest.FixtureRequest, folder: Path, **python: Any) -> Runtime:
    """A runtime whose kernels have this shell."""
    fixture, settings = SHELLS[shell]
    return runtime_on(request.getfixturevalue(fixture), folder, **settings, **python)


def note(path: Path, problem: str) -> str:
    """What the reader of a result is told of a module that failed."""
    return f"Extension module {path} was not loaded: {problem}"
