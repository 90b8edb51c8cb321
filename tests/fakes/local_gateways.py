"""Local gateways for tests: found by their records, looked into, and ended after the test with all their kernels."""

import json
import os
import subprocess
import sys
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx2
import psutil

from pisces.kernels.base import LaunchSpec
from pisces.kernels.deadline import Deadline
from pisces.kernels.gateway.coordinator import shutdown_shared_gateway
from pisces.kernels.gateway.kernel import GatewayKernel
from pisces.kernels.gateway.launch import GatewayPlan
from pisces.kernels.gateway.local import LocalBackend
from pisces.kernels.gateway.record import GatewayFolder, GatewayRecord, gateway_folders, venv_of
from pisces.settings.paths import Paths
from tests.fakes.drive import PATIENCE, eventually, plain_environment
from tests.leftovers import COOKIE
from tests.source_tree import ROOT


class LocalGateways:
    """Everything below the home of one test."""

    def __init__(self, interpreter: str) -> None:
        self.interpreter = interpreter
        self.paths = Paths.locate(os.environ)
        self.backend = LocalBackend(paths=self.paths)
        """One process's; `another` makes those of others."""

    @property
    def env(self) -> Mapping[str, str]:
        """What gateways and kernels start with: whatever is left of them is found by its cookie."""
        return plain_environment(HOME=os.environ["HOME"], **{COOKIE: os.environ[COOKIE]})

    @property
    def folder(self) -> GatewayFolder:
        """Of the gateway of our interpreter."""
        return GatewayFolder.locate(self.paths, self.interpreter, venv_of(self.interpreter, self.env))

    @property
    def record(self) -> GatewayRecord:
        """Of the gateway that is up."""
        found = self.folder.record()
        assert found is not None, "no gateway is recorded"
        return found

    def plan(self, **changes: Any) -> GatewayPlan:
        """What starts the gateway of our interpreter."""
        venv = venv_of(self.interpreter, self.env)
        return GatewayPlan(**{"interpreter": self.interpreter, "venv": venv, "env": self.env, **changes})

    def spec(self, **changes: Any) -> LaunchSpec:
        """A kernel of our interpreter."""
        return LaunchSpec(**{"interpreter": self.interpreter, "cwd": "/", "env": self.env, **changes})

    async def start(self, **changes: Any) -> GatewayKernel:
        """A kernel that is up."""
        kernel = self.backend.kernel(self.spec(**changes))
        await kernel.start(Deadline.after(PATIENCE))
        return kernel

    async def aclose(self) -> None:
        """End every gateway that is recorded."""
        await self.backend.aclose()
        for folder in gateway_folders(self.paths):
            await shutdown_shared_gateway(folder, Deadline.after(PATIENCE))

    def script(self, code: str) -> "subprocess.Popen[bytes]":
        """Another process of Pisces; `gateways` in its code is what a test has."""
        program = (
            "import anyio, os, signal, sys, time\n"
            "from pisces.kernels.deadline import Deadline\n"
            "from pisces.kernels.gateway.lock_file import LockFile\n"
            "from tests.fakes.drive import run\n"
            "from tests.fakes.local_gateways import LocalGateways\n"
            f"gateways = LocalGateways({self.interpreter!r})\n"
            f"async def main():\n{_indented(code)}\n"
            "anyio.run(main)\n"
        )
        path = os.pathsep.join([str(ROOT / "src"), str(ROOT)])
        return subprocess.Popen(
            [sys.executable, "-c", program],
            env={**os.environ, "PYTHONPATH": path},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
        )


@asynccontextmanager
async def local_gateways(interpreter: str) -> AsyncIterator[LocalGateways]:
    """Gateways that are ended with the test."""
    gateways = LocalGateways(interpreter)
    try:
        yield gateways
    finally:
        await gateways.aclose()


async def said(process: "subprocess.Popen[bytes]") -> Any:
    """The next line that a process of ours prints, as JSON."""
    import anyio

    assert process.stdout is not None
    line = await anyio.to_thread.run_sync(process.stdout.readline)
    assert line, "it ended without a word"
    return json.loads(line)


async def finished(process: "subprocess.Popen[bytes]") -> None:
    """Wait until a process of ours has ended well."""
    import anyio

    with process:
        await anyio.to_thread.run_sync(process.communicate, b"", PATIENCE)
    assert process.returncode == 0


async def ask(
    record: GatewayRecord, path: str, *, method: str = "GET", body: Any = None, headers: Mapping[str, str] | None = None
) -> httpx2.Response:
    """Ask a gateway as anybody can; with its token unless other headers are given."""
    given = {"Authorization": f"token {record.token}"} if headers is None else dict(headers)
    async with httpx2.AsyncClient(trust_env=False, timeout=PATIENCE) as client:
        return await client.request(method, record.url + path, headers=given, json=body)


async def kernels_of(record: GatewayRecord) -> list[str]:
    """The ids of the kernels that a gateway has."""
    return [kernel["id"] for kernel in (await ask(record, "/api/kernels")).json()]


async def gone(*pids: int) -> None:
    """Wait until these processes have ended."""
    await eventually(lambda: not any(is_there(pid) for pid in pids), within=PATIENCE)


def is_there(pid: int) -> bool:
    """Whether a process lives; one that only waits to be reaped does not."""
    try:
        return psutil.Process(pid).status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


def venv_beside(interpreter: str, folder: Path) -> str:
    """The interpreter of a new virtual environment that has the packages of another."""
    subprocess.run([interpreter, "-m", "venv", "--without-pip", str(folder)], check=True, timeout=PATIENCE)
    packages = next(Path(interpreter).parents[1].glob("lib/python*/site-packages"))
    ours = next(folder.glob("lib/python*/site-packages"))
    (ours / "beside.pth").write_text(f"{packages}\n", encoding="utf-8")
    return str(folder / "bin" / "python")


def _indented(code: str) -> str:
    return "\n".join(f"    {line}" for line in code.splitlines())
