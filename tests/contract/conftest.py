"""What the cases of the suite share: a backend, a kernel that they leave alive, and kernels of their own."""

from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import pytest

from pisces.kernels.base import Backend, Kernel, LaunchSpec
from pisces.kernels.deadline import Deadline
from pisces.kernels.gateway.coordinator import shutdown_shared_gateway
from pisces.kernels.gateway.record import gateway_folders
from pisces.settings.paths import Paths
from tests.contract.backends import BACKENDS, CANNOT, MARKERS
from tests.fakes.drive import PATIENCE, plain_environment


def pytest_configure(config: pytest.Config) -> None:
    for name, meaning in MARKERS.items():
        config.addinivalue_line("markers", f"{name}: {meaning}")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        callspec = getattr(item, "callspec", None)
        backend = callspec.params.get("backend_name") if callspec else None
        if backend is None:
            continue
        for marker in item.iter_markers():
            reasons = [CANNOT.get((kind, marker.name)) for kind in (backend, *BACKENDS[backend].kinds)]
            for reason in filter(None, reasons):
                item.add_marker(pytest.mark.skip(reason=reason))


@pytest.fixture(scope="session", params=list(BACKENDS))
def backend_name(request: pytest.FixtureRequest) -> str:
    name: str = request.param
    return name


@pytest.fixture(scope="session")
async def local_paths(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Paths]:
    """A home for the gateway that kernels here share; it ends with the suite."""
    home = str(tmp_path_factory.mktemp("home"))
    paths = Paths.locate({"HOME": home, "PISCES_HOME": f"{home}/.pisces"})
    yield paths
    for folder in gateway_folders(paths):
        await shutdown_shared_gateway(folder, Deadline.after(PATIENCE))


@pytest.fixture(scope="session")
def make_backend(backend_name: str, request: pytest.FixtureRequest) -> Callable[[], Backend]:
    """Makes backends that have nothing running yet."""
    tested = BACKENDS[backend_name]
    needed: list[Any] = [request.getfixturevalue(tested.server)] if tested.server else []
    return lambda: tested.make(*needed)


@pytest.fixture(scope="session")
async def backend(make_backend: Callable[[], Backend], spec: LaunchSpec) -> AsyncIterator[Backend]:
    """One for all cases; what its kernels share is running before the first case begins."""
    made = make_backend()
    first = made.kernel(spec)
    await first.start(Deadline.after(PATIENCE))
    await first.shutdown()
    yield made
    await made.aclose()


@pytest.fixture(scope="session")
def spec(backend_name: str, request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> LaunchSpec:
    """Where and with what a kernel starts."""
    fixture = BACKENDS[backend_name].interpreter
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
