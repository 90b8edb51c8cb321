"""Enterprise Gateway with its kernels on another host, for real: started by SSH, and ended without leaving anything.

Contract cases run against a gateway with local kernels. Here is what differs when the kernel is elsewhere: its death
and its end reach nobody but those who ask, and only the gateway has power over it.
"""

import os
from collections.abc import AsyncIterator, Iterator
from functools import partial
from pathlib import Path
from urllib.error import HTTPError

import psutil
import pytest
from anyio import to_thread

from pisces import Runtime
from pisces.errors import DeadlineExceeded, KernelStartError
from pisces.kernels.base import LaunchSpec
from pisces.kernels.deadline import Deadline
from pisces.kernels.gateway.external import ExternalBackend
from pisces.kernels.gateway.kernel import GatewayKernel
from tests.fakes.drive import PATIENCE, begin, eventually, ok, plain_environment, stop, value
from tests.fakes.enterprise import KERNELSPEC, SLOW, Cluster, cluster
from tests.fakes.servers import ask
from tests.frontends.command import Command

pytestmark = [pytest.mark.heavy, pytest.mark.processes]


@pytest.fixture(scope="module", params=["loopback", "namespace"])
def elsewhere(
    request: pytest.FixtureRequest, enterprise_python: str, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Cluster]:
    """A gateway and a host, one pair for all cases."""
    with cluster(enterprise_python, tmp_path_factory.mktemp("cluster"), request.param) as made:
        yield made


@pytest.fixture
async def backend(elsewhere: Cluster) -> AsyncIterator[ExternalBackend]:
    made = ExternalBackend(elsewhere.server.url, elsewhere.server.token)
    yield made
    await made.aclose()


@pytest.fixture
def spec(tmp_path: Path) -> LaunchSpec:
    return LaunchSpec("python", str(tmp_path), plain_environment())


@pytest.fixture
async def kernel(backend: ExternalBackend, spec: LaunchSpec) -> AsyncIterator[GatewayKernel]:
    own = backend.kernel(spec)
    await own.start(Deadline.after(PATIENCE))
    yield own
    await own.shutdown()


async def process_of(kernel: GatewayKernel) -> psutil.Process:
    return psutil.Process(int(await value(kernel, "__import__('os').getpid()")))


async def test_a_kernel_on_another_host_keeps_its_state(elsewhere: Cluster, kernel: GatewayKernel) -> None:
    await ok(kernel, "import os\nx = 41")
    assert await value(kernel, "x + 1") == "42"
    assert elsewhere.host.address in await value(kernel, "os.environ['SSH_CONNECTION']")
    assert kernel.interpreter == KERNELSPEC


async def test_a_kernel_in_another_network_is_reached(elsewhere: Cluster, kernel: GatewayKernel) -> None:
    network = await value(kernel, "__import__('os').readlink('/proc/self/ns/net')")
    same = network == repr(os.readlink("/proc/self/ns/net"))
    assert same == elsewhere.host.address.startswith("127.")


async def test_a_cell_elsewhere_is_interrupted_and_the_state_stays(kernel: GatewayKernel) -> None:
    await ok(kernel, "x = 41")
    running = await begin(kernel, "import time\nprint('begun', flush=True)\ntime.sleep(600)")
    await running.prints("begun")
    stopped = await stop(kernel, running)
    assert (stopped.error.ename, stopped.done.state) == ("KeyboardInterrupt", "kept")
    assert await value(kernel, "x + 1") == "42"


async def test_the_death_of_a_kernel_elsewhere_is_told_and_what_the_gateway_starts_instead_is_ended(
    elsewhere: Cluster, backend: ExternalBackend, spec: LaunchSpec
) -> None:
    kernel = backend.kernel(spec)
    await kernel.start(Deadline.after(PATIENCE))
    process = await process_of(kernel)
    running = await begin(kernel, "import time\nprint('begun', flush=True)\ntime.sleep(600)")
    await running.prints("begun")
    process.kill()
    done = (await running.finish()).done
    assert (done.status, done.state) == ("crashed", "lost")
    assert not await kernel.is_alive()
    # The gateway starts another one under the same id, as long as somebody is connected.
    await kernel.shutdown()
    await eventually(lambda: not known(elsewhere, kernel), within=PATIENCE)
    await eventually(lambda: not elsewhere.kernels(), within=PATIENCE)


async def test_a_kernel_that_somebody_else_ends_in_the_middle_of_a_cell_is_told_as_gone(
    elsewhere: Cluster, kernel: GatewayKernel
) -> None:
    running = await begin(kernel, "import time\nprint('begun', flush=True)\ntime.sleep(600)")
    await running.prints("begun")
    ask(elsewhere.server, f"/api/kernels/{kernel.transport.kernel_id}", method="DELETE")
    done = (await running.finish()).done
    # The gateway interrupts the cell before it ends the kernel. That its answer comes through is rare, but can be.
    assert (done.status, done.state) in {("crashed", "lost"), ("error", "kept")}
    await eventually(lambda: not elsewhere.kernels())
    assert not await kernel.is_alive()


async def test_the_end_of_a_kernel_leaves_no_process_on_its_host(
    elsewhere: Cluster, backend: ExternalBackend, spec: LaunchSpec
) -> None:
    kernel = backend.kernel(spec)
    await kernel.start(Deadline.after(PATIENCE))
    assert (await process_of(kernel)) in elsewhere.kernels()
    await kernel.shutdown()
    await eventually(lambda: not elsewhere.kernels())
    await eventually(lambda: not known(elsewhere, kernel))


async def test_a_start_that_nobody_waits_for_leaves_no_process_on_the_host(
    elsewhere: Cluster, backend: ExternalBackend, tmp_path: Path
) -> None:
    kernel = backend.kernel(LaunchSpec("python", str(tmp_path), plain_environment(), kernelspec=SLOW))
    with pytest.raises(DeadlineExceeded):
        await kernel.start(Deadline.after(1.0))
    # As at the end of a program: what it has begun is not waited for much longer than this.
    await backend.aclose()
    await eventually(lambda: not elsewhere.kernels())


async def test_the_name_of_a_folder_is_no_command_on_the_host(
    backend: ExternalBackend, tmp_path: Path, spec: LaunchSpec
) -> None:
    trace = tmp_path / "trace"
    for name in (f"$(touch {trace})", f"`touch {trace}`"):
        kernel = backend.kernel(LaunchSpec(spec.interpreter, f"{tmp_path}/{name}", spec.env))
        await kernel.start(Deadline.after(PATIENCE))
        await kernel.shutdown()
    assert os.listdir(tmp_path) == []


@pytest.fixture
def no_key(elsewhere: Cluster, tmp_path: Path) -> Iterator[None]:
    """The gateway cannot show its host who it is."""
    keys = elsewhere.launcher.parent / ".ssh"
    aside = keys.rename(tmp_path / "ssh")
    yield
    aside.rename(keys)


@pytest.mark.usefixtures("no_key")
async def test_a_host_that_lets_nobody_in_is_named_as_the_reason(
    elsewhere: Cluster, backend: ExternalBackend, spec: LaunchSpec
) -> None:
    with pytest.raises(KernelStartError, match="status 500") as refused:
        await backend.kernel(spec).start(Deadline.after(PATIENCE))
    assert elsewhere.host.address in refused.value.hint
    assert "SSH" in refused.value.hint


async def test_a_session_on_a_cluster_says_that_its_state_is_lost_with_its_kernel(
    elsewhere: Cluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PI_PYTHON_GATEWAY_URL", elsewhere.server.url)
    monkeypatch.setenv("PI_PYTHON_GATEWAY_TOKEN", elsewhere.server.token)
    async with Runtime() as runtime:
        first = await runtime.python(code="import os\nx = 41\nprint(os.getpid())", timeout=PATIENCE)
        old = elsewhere.kernels()
        psutil.Process(int(first.text.split()[0])).kill()
        # A fresh kernel under the same id, with its listener: nothing but what it knows tells it from the first.
        await eventually(lambda: len(set(elsewhere.kernels()) - set(old)) == 2, within=PATIENCE)
        second = await runtime.python(code="'x' in globals()", timeout=PATIENCE)
        assert second.details.kernel.backend == "gateway"
        assert second.details.kernel.state == "lost", second.text
        assert second.text.startswith("[State: lost]")
        assert "\n\nFalse" in second.text
    await eventually(lambda: not elsewhere.kernels(), within=PATIENCE)


async def test_a_command_runs_its_cells_on_the_cluster_and_leaves_nothing_there(
    elsewhere: Cluster, plain_python: str
) -> None:
    variables = {
        "PI_PYTHON_GATEWAY_URL": elsewhere.server.url,
        "PI_PYTHON_GATEWAY_TOKEN": elsewhere.server.token,
    }
    command = partial(Command(plain_python), variables=variables)
    done = await to_thread.run_sync(lambda: command("run", "--timeout", "50", "-c", "x = 41", "-c", "x + 1"))
    assert (done.returncode, done.stdout) == (0, "42\n"), done.stderr
    await eventually(lambda: not elsewhere.kernels(), within=PATIENCE)


def known(cluster: Cluster, kernel: GatewayKernel) -> bool:
    """Whether the gateway still has it."""
    try:
        ask(cluster.server, f"/api/kernels/{kernel.transport.kernel_id}")
    except HTTPError as error:
        if error.code != 404:
            raise
        return False
    return True
