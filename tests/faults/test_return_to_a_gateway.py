"""A client comes back to a kernel that it left on a gateway: what is there now must be what it left.

The servers and kernels are real.
"""

import pytest

from pisces.errors import KernelGone
from pisces.kernels.base import LaunchSpec, Ticket
from pisces.kernels.deadline import Deadline
from pisces.kernels.gateway.external import ExternalBackend
from tests.fakes.drive import PATIENCE, ok, plain_environment
from tests.fakes.servers import Server, ask

SPEC = LaunchSpec("python", "/", plain_environment())


async def left_on(server: Server) -> Ticket:
    """What leads to a kernel that has some state, and whose client has gone."""
    backend = ExternalBackend(server.url, server.token)
    kernel = backend.kernel(SPEC)
    await kernel.start(Deadline.after(PATIENCE))
    await ok(kernel, "x = 41")
    ticket = kernel.ticket
    assert ticket is not None
    await kernel.detach()
    await backend.aclose()
    return ticket


async def test_a_kernel_that_was_restarted_meanwhile_is_not_taken_for_the_same(kernel_gateway: Server) -> None:
    ticket = await left_on(kernel_gateway)
    ask(kernel_gateway, f"/api/kernels/{ticket.kernel}/restart", method="POST", body={})
    backend = ExternalBackend(kernel_gateway.url, kernel_gateway.token)
    found = backend.returning(SPEC, ticket)
    with pytest.raises(KernelGone, match="replaced by a fresh one"):
        await found.start(Deadline.after(PATIENCE))
    assert not await found.is_alive()
    await backend.aclose()
