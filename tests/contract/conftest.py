"""The backends that the suite runs against, and the cases that cannot apply to one of them.

A new backend is a line in `BACKENDS`; a case that it cannot have is a line in `CANNOT`, with the reason.
"""

from collections.abc import AsyncIterator, Callable
from pathlib import Path

import pytest

from pisces.kernels.base import Backend, Kernel, LaunchSpec, Revival
from pisces.kernels.deadline import Deadline
from pisces.kernels.memory import MemoryBackend
from pisces.kernels.native.backend import NativeBackend
from tests.fakes.drive import PATIENCE, plain_environment
from tests.fakes.tiny_python import tiny_python

BACKENDS: dict[str, tuple[Callable[[], Backend], str]] = {
    "memory": (lambda: MemoryBackend(tiny_python, revival=Revival("exact")), ""),
    "native-ipython": (NativeBackend, "ipython_python"),
    "native-builtin": (NativeBackend, "plain_python"),
}
"""By name: what makes the backend, and the fixture that knows the interpreter."""

NO_PROCESS = "the scripted kernel has no process of its own"
NO_SHELL = "the scripted kernel has no shell: what a cell shows is what its script says"

CANNOT: dict[tuple[str, str], str] = {
    ("memory", "needs_process"): NO_PROCESS,
    ("memory", "needs_shell"): NO_SHELL,
}
"""By backend and marker: why the cases with that marker cannot apply to it."""


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "needs_process: the case is about a process of the operating system")
    config.addinivalue_line("markers", "needs_shell: the case is about what Python and IPython do with code")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        callspec = getattr(item, "callspec", None)
        backend = callspec.params.get("backend_name") if callspec else None
        for marker in item.iter_markers():
            reason = CANNOT.get((backend, marker.name)) if backend else None
            if reason:
                item.add_marker(pytest.mark.skip(reason=reason))


@pytest.fixture(scope="session", params=list(BACKENDS))
def backend_name(request: pytest.FixtureRequest) -> str:
    name: str = request.param
    return name


@pytest.fixture(scope="session")
async def backend(backend_name: str, spec: LaunchSpec) -> AsyncIterator[Backend]:
    """One for all cases; what its kernels share is running before the first case begins."""
    made = BACKENDS[backend_name][0]()
    first = made.kernel(spec)
    await first.start(Deadline.after(PATIENCE))
    await first.shutdown()
    yield made
    await made.aclose()


@pytest.fixture(scope="session")
def spec(backend_name: str, request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> LaunchSpec:
    """Where and with what a kernel starts."""
    fixture = BACKENDS[backend_name][1]
    interpreter = request.getfixturevalue(fixture) if fixture else "memory"
    folder = tmp_path_factory.mktemp("cwd")
    return LaunchSpec(interpreter, str(folder), plain_environment(HOME=str(folder)))


@pytest.fixture(scope="session")
async def kernel(backend: Backend, spec: LaunchSpec) -> AsyncIterator[Kernel]:
    """One kernel for all cases that leave it alive."""
    shared = backend.kernel(spec)
    await shared.start(Deadline.after(PATIENCE))
    yield shared
    await shared.shutdown()


@pytest.fixture
async def fresh(backend: Backend, spec: LaunchSpec, tmp_path: Path) -> AsyncIterator[Kernel]:
    """A kernel of the case's own, to be killed or led astray."""
    own = backend.kernel(LaunchSpec(spec.interpreter, str(tmp_path), spec.env))
    await own.start(Deadline.after(PATIENCE))
    yield own
    await own.shutdown()
