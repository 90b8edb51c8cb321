"""What is done about a kernel that was left, as its server tells of it: nothing is said to be done that was not."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest

from pisces.errors import KernelError, KernelGone
from pisces.kernels.base import LaunchSpec, Ticket
from pisces.kernels.deadline import Deadline
from pisces.kernels.gateway.external import ExternalBackend
from pisces.kernels.gateway.kernel import GatewayKernel
from tests.fakes.drive import PATIENCE
from tests.fakes.scripted_gateway import Reply, ScriptedGateway, scripted_gateway

KERNEL = "/api/kernels/k"


@asynccontextmanager
async def left(state: str = "", **replies: Reply) -> AsyncIterator[tuple[GatewayKernel, ScriptedGateway]]:
    """A kernel that its server says to be in this state, or not to have; and the server."""
    model = {"id": "k", "name": "python3", "execution_state": state}
    script = {f"GET {KERNEL}": [Reply(body=model) if state else Reply(404)]}
    async with scripted_gateway({**script, **{method: [reply] for method, reply in replies.items()}}) as server:
        backend = ExternalBackend(server.url)
        try:
            yield backend.returning(LaunchSpec("", "/", {}), Ticket(server.url, "k", "client", "nonce")), server
        finally:
            await backend.aclose()


async def test_only_what_runs_is_interrupted() -> None:
    async with left("busy", POST=Reply(204)) as (kernel, server):
        assert await kernel.interrupt_from_afar(Deadline.after(PATIENCE))
        assert [asked.path for asked in server.requests("POST")] == [f"{KERNEL}/interrupt"]
    async with left("idle", POST=Reply(204)) as (kernel, server):
        assert not await kernel.interrupt_from_afar(Deadline.after(PATIENCE))
        assert server.requests("POST") == []


async def test_an_interrupt_that_the_server_refuses_is_told() -> None:
    async with left("busy", POST=Reply(500)) as (kernel, _):
        with pytest.raises(KernelError, match="could not be interrupted"):
            await kernel.interrupt_from_afar(Deadline.after(PATIENCE))


async def test_a_kernel_is_ended_whatever_it_runs() -> None:
    async with left("busy", DELETE=Reply(204)) as (kernel, server):
        await kernel.end_from_afar(Deadline.after(PATIENCE))
        assert [asked.path.partition("?")[0] for asked in server.requests("DELETE")] == [KERNEL]


async def test_one_that_is_gone_is_said_to_be_gone() -> None:
    async with left() as (kernel, server):
        with pytest.raises(KernelGone):
            await kernel.end_from_afar(Deadline.after(PATIENCE))
        with pytest.raises(KernelGone):
            await kernel.interrupt_from_afar(Deadline.after(PATIENCE))
        assert server.requests("DELETE") == []
