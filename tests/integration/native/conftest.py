"""Native kernels of a test's own, in both kinds of interpreter."""

import os
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from pathlib import Path

import pytest

from pisces.kernels.base import LaunchSpec
from pisces.kernels.deadline import Deadline
from pisces.kernels.native.backend import NativeBackend
from pisces.kernels.native.checkpoint import NativeCheckpoint
from pisces.kernels.native.kernel import NativeKernel
from tests.fakes.drive import PATIENCE, plain_environment
from tests.integration.native.keeping import Keep
from tests.leftovers import COOKIE

StartKernel = Callable[..., Awaitable[NativeKernel]]


@pytest.fixture(params=["ipython_python", "plain_python"], ids=["ipython", "builtin"])
def either_python(request: pytest.FixtureRequest) -> str:
    """An interpreter with IPython's shell, and one with the built-in shell."""
    path: str = request.getfixturevalue(request.param)
    return path


@pytest.fixture
async def backend() -> AsyncIterator[NativeBackend]:
    made = NativeBackend()
    yield made
    await made.aclose()


@pytest.fixture
async def start(backend: NativeBackend, plain_python: str, tmp_path: Path) -> AsyncIterator[StartKernel]:
    """Starts kernels, by default without IPython, and ends them with the test."""
    kernels: list[NativeKernel] = []

    async def start_kernel(interpreter: str = plain_python, **env: str) -> NativeKernel:
        environment = plain_environment(**{"HOME": str(tmp_path), COOKIE: os.environ[COOKIE], **env})
        kernel = backend.kernel(LaunchSpec(interpreter, str(tmp_path), environment))
        kernels.append(kernel)
        await kernel.start(Deadline.after(PATIENCE))
        return kernel

    yield start_kernel
    for kernel in kernels:
        await kernel.shutdown()


@pytest.fixture
async def kernel(start: StartKernel) -> NativeKernel:
    return await start()


@pytest.fixture
def keep() -> Iterator[Keep]:
    """Makes checkpoints of kernels, and gives them up with the end of the test."""
    made: list[NativeCheckpoint] = []

    async def keep_state(kernel: NativeKernel) -> NativeCheckpoint:
        made.append(await kernel.checkpoint(wanted=True))
        return made[-1]

    yield keep_state
    for checkpoint in made:
        checkpoint.drop()
