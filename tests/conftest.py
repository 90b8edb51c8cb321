"""What every test can rely on: a clean environment, a home of its own, interpreters, and nothing left behind."""

import os
import random
import signal
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import hypothesis
import pytest

from pisces.runtime import Runtime
from tests.environments import enterprise_interpreter, interpreter_of, jupyter_interpreter
from tests.fakes.modules import SHELLS, Start, runtime_in_shell
from tests.fakes.servers import ENTERPRISE_GATEWAY, JUPYTER_SERVER, KERNEL_GATEWAY, Server, serving
from tests.leftovers import COOKIE, Leftovers, open_descriptors

# A shell has what it starts in the background ignore these, and so would every process that a test starts.
signal.signal(signal.SIGINT, signal.default_int_handler)
signal.signal(signal.SIGHUP, signal.SIG_DFL)

TESTS = Path(__file__).resolve().parent
STARTS_PROCESSES = ("contract", "faults", "frontends", "integration")

# The same examples in every run, so that a change is judged by what it changed; `make soak` gives a seed and so gets
# others. A busy machine is no failure, so examples have no deadline of their own.
hypothesis.settings.register_profile(
    "steady", derandomize=True, deadline=None, suppress_health_check=[hypothesis.HealthCheck.too_slow]
)
hypothesis.settings.load_profile("steady")


@dataclass(frozen=True)
class Soak:
    """How long a random run should go on, and with which numbers."""

    seed: int
    seconds: float

    def random(self) -> random.Random:
        """A source of numbers that the seed repeats."""
        return random.Random(self.seed)


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("pisces")
    group.addoption("--soak-seed", type=int, default=0, help="seed of the tests marked soak")
    group.addoption("--soak-seconds", type=float, default=10.0, help="how long each test marked soak goes on")


HEAVY_PARAMETERS = {
    "gateway-kernel-gateway", "gateway-jupyter-server", "gateway-enterprise", "jupyter_server", "enterprise_gateway"
}  # fmt: skip
"""Of what runs against several servers, `make test` takes one: the shared gateway, else a Kernel Gateway.
`make test-heavy` takes the others."""


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        callspec = getattr(item, "callspec", None)
        if callspec is not None and not HEAVY_PARAMETERS.isdisjoint(
            value for value in callspec.params.values() if isinstance(value, str)
        ):
            item.add_marker("heavy")
        if any(item.path.is_relative_to(TESTS / folder) for folder in STARTS_PROCESSES):
            item.add_marker("processes")


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Show what a soak counted, whether it passed or failed."""
    for reports in list(terminalreporter.stats.values()):
        for report in reports:
            if isinstance(report, pytest.TestReport) and report.when == "call":
                for name, text in report.user_properties:
                    if name == "soak":
                        terminalreporter.section(report.nodeid)
                        terminalreporter.write_line(str(text))


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: object) -> object:
    from tests.schedule import scheduler

    return scheduler(config, log)


@pytest.fixture(autouse=True)
def own_home(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home of the test's own, and no variable of ours, or of the caller's Python, from outside."""
    for name in list(os.environ):
        if name.startswith(("PI_", "PISCES_", "XDG_")) or name in {"VIRTUAL_ENV", "CONDA_PREFIX"}:
            monkeypatch.delenv(name)
    home = tmp_path_factory.mktemp("home")
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("PISCES_HOME", str(home / ".pisces"))
    return home


@pytest.fixture(scope="session")
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture(scope="session")
def plain_python() -> str:
    """A user's interpreter without IPython, or anything else."""
    return interpreter_of("plain")


@pytest.fixture(scope="session")
def ipython_python() -> str:
    """A user's interpreter with IPython, numpy, pandas and matplotlib."""
    return interpreter_of("ipython")


@pytest.fixture(scope="session")
def jupyter_python() -> str:
    """A user's interpreter with Jupyter: Kernel Gateway, Server, and kernels `python3`, `bash` and `deno`."""
    return jupyter_interpreter()


@pytest.fixture(scope="session")
def enterprise_python() -> str:
    """A user's interpreter with Enterprise Gateway and an older ipykernel."""
    return enterprise_interpreter()


@pytest.fixture(scope="session")
def kernel_gateway(jupyter_python: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A Kernel Gateway as it comes, with a token; one for all tests of a worker."""
    with serving(KERNEL_GATEWAY, jupyter_python, tmp_path_factory.mktemp("kg")) as server:
        yield server


@pytest.fixture(scope="session")
def jupyter_server(jupyter_python: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A Jupyter Server as it comes, with a token; one for all tests of a worker."""
    with serving(JUPYTER_SERVER, jupyter_python, tmp_path_factory.mktemp("js")) as server:
        yield server


@pytest.fixture(scope="session")
def enterprise_gateway(enterprise_python: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """An Enterprise Gateway as it comes, with a token, whose kernels are local; one for all tests of a worker."""
    with serving(ENTERPRISE_GATEWAY, enterprise_python, tmp_path_factory.mktemp("eg")) as server:
        yield server


@pytest.fixture(scope="session")
def heavy_python() -> str:
    """A user's interpreter with the big libraries; for tests marked heavy."""
    return interpreter_of("heavy")


@pytest.fixture(autouse=True)
def no_process_is_left(
    request: pytest.FixtureRequest, own_home: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[None]:
    """A test that starts processes fails if one of them, or of theirs, is there when it has ended.

    `own_home` comes first, because it clears the variables of our prefix, and the cookie is one.
    """
    if request.node.get_closest_marker("processes") is None:
        yield
        return
    leftovers = Leftovers()
    monkeypatch.setenv(COOKIE, leftovers.cookie)
    yield
    found = leftovers.end()
    if found:
        pytest.fail("processes were left behind:\n" + "\n".join(found), pytrace=False)


@pytest.fixture
def no_descriptor_is_left() -> Iterator[None]:
    """Ask for this to have the test fail if it leaves a file descriptor open."""
    before = open_descriptors()
    yield
    left = {number: what for number, what in open_descriptors().items() if before.get(number) != what}
    if left:
        pytest.fail(f"descriptors were left open: {left}", pytrace=False)


@pytest.fixture
def soak(request: pytest.FixtureRequest) -> Soak:
    """The seed and the time of a long random run."""
    return Soak(seed=request.config.getoption("--soak-seed"), seconds=request.config.getoption("--soak-seconds"))


@pytest.fixture(params=list(SHELLS))
def start_in_shell(request: pytest.FixtureRequest, tmp_path: Path) -> Start:
    """A runtime of each shell, in the test's folder."""

    def started(**python: Any) -> Runtime:
        return runtime_in_shell(request.param, request, tmp_path, **python)

    return started
