"""What every test can rely on: a clean environment, a home of its own, interpreters, and nothing left behind."""

import os
import random
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.leftovers import COOKIE, Leftovers, open_descriptors

ROOT = Path(__file__).resolve().parent.parent
ENVIRONMENTS = Path(os.environ.get("PISCES_TEST_ENVS", ROOT / ".envs"))
CALLER = dict(os.environ)
"""The environment that pytest was started with: set-ups need the caller's pip configuration."""

STARTS_PROCESSES = ("contract", "faults", "frontends", "integration")


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


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        parts = item.path.relative_to(ROOT / "tests").parts if item.path.is_relative_to(ROOT / "tests") else ()
        if parts and parts[0] in STARTS_PROCESSES:
            item.add_marker("processes")


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
    return environment("plain")


@pytest.fixture(scope="session")
def ipython_python() -> str:
    """A user's interpreter with IPython, numpy, pandas and matplotlib."""
    return environment("ipython", ROOT / "requirements" / "ipython.txt")


@pytest.fixture(scope="session")
def heavy_python() -> str:
    """A user's interpreter with the big libraries; for tests marked heavy."""
    return environment("heavy", ROOT / "requirements" / "heavy.txt")


def environment(name: str, requirements: Path | None = None) -> str:
    """The interpreter of one of the tests' environments, made if it is not there yet."""
    target = ENVIRONMENTS / name
    command = [sys.executable, str(ROOT / "scripts" / "make_environment.py"), str(target)]
    if requirements:
        command += ["--requirements", str(requirements)]
    done = subprocess.run(
        command, env=CALLER, stdin=subprocess.DEVNULL, capture_output=True, text=True, encoding="utf-8", check=False
    )
    if done.returncode != 0:
        pytest.fail(f"the environment {target} could not be made:\n{done.stderr}", pytrace=False)
    return str(target / "bin" / "python")


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
