"""ZMQ kernels of a test's own, at the level of the transport."""

import json
import os
import sys
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path

import msgspec
import pytest

from pisces.kernels.base import LaunchSpec
from pisces.kernels.deadline import Deadline
from pisces.kernels.zmq.transport import ZmqTransport
from tests.fakes.drive import PATIENCE, plain_environment
from tests.integration.zmq.raw import RawClient
from tests.leftovers import COOKIE

MakeSpec = Callable[..., LaunchSpec]
InstallKernel = Callable[..., None]
Start = Callable[..., Awaitable[RawClient]]


@pytest.fixture
def make_spec(tmp_path: Path) -> MakeSpec:
    """What a kernel starts with: by default our own interpreter, which has ipykernel."""

    def make(kernelspec: str = "", *, interpreter: str = sys.executable, **more: object) -> LaunchSpec:
        env = plain_environment(HOME=str(tmp_path), **{COOKIE: os.environ[COOKIE]})
        usual = LaunchSpec(interpreter, str(tmp_path), env, kernelspec=kernelspec)
        return msgspec.structs.replace(usual, **more)

    return make


@pytest.fixture
def install_kernel(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> InstallKernel:
    """Installs a kernelspec for this test."""
    monkeypatch.setenv("JUPYTER_PATH", str(tmp_path / "jupyter"))

    def install(name: str, argv: list[str], **more: object) -> None:
        folder = tmp_path / "jupyter" / "kernels" / name
        folder.mkdir(parents=True)
        content = {"argv": argv, "display_name": name, "language": "python", **more}
        (folder / "kernel.json").write_text(json.dumps(content), encoding="utf-8")

    return install


@pytest.fixture
async def start(make_spec: MakeSpec) -> AsyncIterator[Start]:
    """Starts kernels and ends them with the test."""
    opened: list[ZmqTransport] = []

    async def start_kernel(kernelspec: str = "", **more: object) -> RawClient:
        transport = ZmqTransport(make_spec(kernelspec, **more))
        opened.append(transport)
        await transport.open(Deadline.after(PATIENCE))
        client = RawClient(transport)
        await client.meet()
        return client

    yield start_kernel
    for transport in opened:
        await transport.shutdown()


@pytest.fixture
async def client(start: Start) -> RawClient:
    return await start()


@pytest.fixture
def temporary(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where kernels make their folders; short enough for sockets."""
    folder = tmp_path_factory.mktemp("k")
    monkeypatch.setattr("tempfile.tempdir", str(folder))
    return folder
