"""Kernels in pods, as far as that can be had without a cluster: the gateway is real, the API of Kubernetes is not.

What is shown here is what a client of a gateway on Kubernetes meets: which pod is asked for, and what is told when
it goes.
"""

from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest

from pisces.kernels.base import LaunchSpec
from pisces.kernels.deadline import Deadline
from pisces.kernels.gateway.external import ExternalBackend
from pisces.kernels.gateway.kernel import GatewayKernel
from tests.fakes.drive import PATIENCE, begin, eventually, ok, plain_environment, stop, value
from tests.fakes.pods import IMAGE, Kubernetes, kubernetes

# Not marked for the search for leftovers: the gateway does not collect the script that made a pod until it makes
# another. That no pod is left is asserted, and what runs in one is ended with the gateway.
pytestmark = pytest.mark.heavy

ASKED_FOR = {"KERNEL_CPUS": "500m", "KERNEL_MEMORY": "1Gi", "KERNEL_MEMORY_LIMIT": "2Gi", "KERNEL_USERNAME": "ada"}


@pytest.fixture(scope="module")
def cloud(enterprise_python: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Kubernetes]:
    with kubernetes(enterprise_python, tmp_path_factory.mktemp("cloud")) as made:
        yield made


@pytest.fixture
async def backend(cloud: Kubernetes) -> AsyncIterator[ExternalBackend]:
    made = ExternalBackend(cloud.server.url, cloud.server.token)
    yield made
    await made.aclose()


@pytest.fixture
async def kernel(backend: ExternalBackend, tmp_path: Path) -> AsyncIterator[GatewayKernel]:
    own = backend.kernel(LaunchSpec("python", str(tmp_path), plain_environment(**ASKED_FOR)))
    await own.start(Deadline.after(PATIENCE))
    yield own
    await own.shutdown()


async def test_a_pod_is_asked_for_with_what_the_variables_say(cloud: Kubernetes, kernel: GatewayKernel) -> None:
    (pod,) = cloud.cluster.pods.values()
    assert pod.name == f"ada-{kernel.transport.kernel_id}"
    assert pod.container["image"] == IMAGE
    assert pod.container["resources"] == {
        "requests": {"cpu": "500m", "memory": "1Gi"},
        "limits": {"memory": "2Gi"},
    }
    assert cloud.cluster.namespaces == {pod.name}
    assert {("POST", "namespaces"), ("POST", "rolebindings"), ("POST", "pods")} <= set(cloud.cluster.asked)


async def test_a_gateway_that_shares_its_namespace_asks_for_nothing_but_pods(
    enterprise_python: str, tmp_path: Path
) -> None:
    shared = {"EG_SHARED_NAMESPACE": "True", "EG_NAMESPACE": "pisces"}
    with kubernetes(enterprise_python, tmp_path, env=shared) as cloud:
        backend = ExternalBackend(cloud.server.url, cloud.server.token)
        own = backend.kernel(LaunchSpec("python", str(tmp_path), plain_environment()))
        await own.start(Deadline.after(PATIENCE))
        assert await value(own, "6 * 7") == "42"
        await own.shutdown()
        await backend.aclose()
        assert set(cloud.cluster.asked) == {("POST", "pods"), ("GET", "pods"), ("DELETE", "pods")}


async def test_a_kernel_in_a_pod_keeps_its_state_and_can_be_interrupted(kernel: GatewayKernel) -> None:
    await ok(kernel, "x = 41")
    running = await begin(kernel, "import time\nprint('begun', flush=True)\ntime.sleep(600)")
    await running.prints("begun")
    assert (await stop(kernel, running)).error.ename == "KeyboardInterrupt"
    assert await value(kernel, "x + 1") == "42"


async def test_a_pod_that_is_evicted_in_the_middle_of_a_cell_takes_the_state_with_it_and_that_is_told(
    cloud: Kubernetes, kernel: GatewayKernel
) -> None:
    running = await begin(kernel, "import time\nprint('begun', flush=True)\ntime.sleep(600)")
    await running.prints("begun")
    cloud.cluster.evict()
    done = (await running.finish()).done
    assert (done.status, done.state) == ("crashed", "lost")
    assert not await kernel.is_alive()
    # The gateway makes another pod for the same kernel, as long as somebody is connected.
    await kernel.shutdown()
    await eventually(lambda: not cloud.cluster.pods and not cloud.cluster.namespaces, within=PATIENCE)


async def test_the_end_of_a_kernel_is_the_end_of_its_pod_and_of_its_namespace(
    cloud: Kubernetes, kernel: GatewayKernel
) -> None:
    assert cloud.cluster.pods
    await kernel.shutdown()
    await eventually(lambda: not cloud.cluster.pods and not cloud.cluster.namespaces)
