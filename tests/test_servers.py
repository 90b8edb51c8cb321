"""The servers that tests start must be real, private and gone afterwards, and a kernel left on one must be found."""

import urllib.error
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

from tests.fakes.servers import KERNEL_GATEWAY, NotUp, Server, ask, is_alive, serving
from tests.leftovers import Leftovers

OFFERED = {
    "kernel_gateway": {"python3", "bash", "deno"},
    "jupyter_server": {"python3", "bash", "deno"},
    "enterprise_gateway": {"python3"},
}


@pytest.fixture(scope="session", params=list(OFFERED))
def server(request: pytest.FixtureRequest) -> Server:
    """One that other tests may use at the same time."""
    found: Server = request.getfixturevalue(request.param)
    return found


@pytest.fixture
def own(jupyter_python: str, tmp_path: Path) -> Iterator[Server]:
    """A server that nobody else has kernels on."""
    with serving(KERNEL_GATEWAY, jupyter_python, tmp_path) as found:
        yield found


def start_kernel(server: Server) -> str:
    """Have a kernel started; Enterprise Gateway refuses root, so in another name."""
    body = {"name": "python3", "env": {"KERNEL_USERNAME": "tester"}}
    kernel: str = ask(server, "/api/kernels", method="POST", body=body)["id"]
    return kernel


def below(server: Server) -> list[psutil.Process]:
    return psutil.Process(server.pid).children(recursive=True)


def test_a_server_offers_its_kernels(server: Server, request: pytest.FixtureRequest) -> None:
    offered = set(ask(server, "/api/kernelspecs")["kernelspecs"])
    assert offered == OFFERED[request.node.callspec.params["server"]]


def test_a_server_wants_its_token(server: Server) -> None:
    stranger = Server(server.url, "wrong", server.pid, server.interpreter, server.log)
    with pytest.raises(urllib.error.HTTPError) as refused:
        ask(stranger, "/api/kernelspecs")
    assert refused.value.code in {401, 403}
    refused.value.close()


@pytest.mark.processes
def test_a_server_starts_and_ends_kernels(server: Server) -> None:
    before = below(server)
    kernel = start_kernel(server)
    (process,) = [found for found in below(server) if found not in before]
    ask(server, f"/api/kernels/{kernel}", method="DELETE")
    assert not is_alive(process)


@pytest.mark.heavy
def test_a_kernel_that_is_left_on_a_server_is_found(own: Server) -> None:
    leftovers = Leftovers()
    start_kernel(own)
    (process,) = below(own)
    psutil.Process(own.pid).suspend()  # Or it would start it again.
    found = leftovers.end(grace=0.0)
    assert [int(line.split()[0]) for line in found] == [process.pid]


@pytest.mark.heavy
@pytest.mark.processes
def test_a_kernel_whose_server_was_killed_is_ended_all_the_same(jupyter_python: str, tmp_path: Path) -> None:
    with serving(KERNEL_GATEWAY, jupyter_python, tmp_path) as server:
        start_kernel(server)
        (kernel,) = below(server)
        psutil.Process(server.pid).kill()
    assert not is_alive(kernel)


@pytest.mark.processes
def test_a_server_that_does_not_come_up_says_why(tmp_path: Path) -> None:
    false = tmp_path / "python"
    false.write_text("#!/bin/sh\necho no luck today\nexit 1\n", encoding="utf-8")
    false.chmod(0o700)
    with pytest.raises(NotUp, match="no luck today"), serving(KERNEL_GATEWAY, str(false), tmp_path):
        pass
