"""`pisces doctor` where code would run on a Jupyter kernel: it starts one of that kind, or says why it cannot."""

import json
import os
from collections.abc import Iterator
from typing import Any

import pytest

from pisces.kernels.gateway.record import gateway_folders
from pisces.settings.paths import Paths
from tests.fakes.servers import Server, ask
from tests.frontends.command import Command

pytestmark = pytest.mark.usefixtures("elsewhere")


@pytest.fixture
def jupyter(jupyter_python: str) -> Iterator[Command]:
    """`pisces`, whose interpreter has Jupyter; its gateways end with the test."""
    pisces = Command(jupyter_python)
    yield pisces
    if list(gateway_folders(Paths.locate(os.environ))):
        assert pisces("gateway", "stop", "--all").returncode == 0


def findings(pisces: Command, **variables: str) -> tuple[int, dict[str, dict[str, Any]]]:
    done = pisces("doctor", "--json", variables=variables)
    return done.returncode, {found["name"]: found for found in json.loads(done.stdout)["findings"]}


def kernels_on(server: Server) -> set[str]:
    return {kernel["id"] for kernel in ask(server, "/api/kernels")}


@pytest.mark.parametrize("backend", ["zmq", "gateway"])
def test_the_kernel_is_of_the_kind_that_is_chosen(jupyter: Command, backend: str) -> None:
    code, found = findings(jupyter, PI_SET__python__backend=backend)
    assert (code, found["kernel"]["status"]) == (0, "ok")
    assert found["kernel"]["summary"].startswith(f"{backend}; started in")
    assert "checkpoints" not in found


@pytest.mark.parametrize("backend", ["zmq", "gateway"])
def test_a_kernel_of_the_chosen_kind_that_cannot_start_is_a_problem(pisces: Command, backend: str) -> None:
    code, found = findings(pisces, PI_SET__python__backend=backend)
    assert (code, found["kernel"]["status"], found["kernel"]["blocks"]) == (1, "problem", True)
    assert "ipykernel not installed" in found["kernel"]["summary"]
    assert "native" in found["kernel"]["fix"]


def test_a_kernel_on_an_external_gateway_is_started_and_ended(pisces: Command, jupyter_server: Server) -> None:
    before = kernels_on(jupyter_server)
    gateway = {"PI_PYTHON_GATEWAY_URL": jupyter_server.url, "PI_PYTHON_GATEWAY_TOKEN": jupyter_server.token}
    code, found = findings(pisces, **gateway)
    assert (code, found["kernel"]["status"]) == (0, "ok")
    assert found["kernel"]["summary"].startswith("gateway; started in")
    assert kernels_on(jupyter_server) <= before
