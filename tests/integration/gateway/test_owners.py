"""Kernels of the shared gateway that end with the process they belong to: that very process, not its number."""

import os

import anyio
import pytest

from pisces.settings.recorded_process import RecordedProcess
from tests.fakes.drive import PATIENCE, value
from tests.fakes.local_gateways import LocalGateways, ask, kernels_of

pytestmark = pytest.mark.anyio


async def test_a_kernel_is_not_kept_by_a_process_that_got_the_number_of_its_owner(gateways: LocalGateways) -> None:
    ours = RecordedProcess.of(os.getpid())
    orphan, kept = await gateways.start(), await gateways.start()
    for kernel, started in ((orphan, ours.start_time - 1), (kept, ours.start_time)):
        owner = {"pid": ours.pid, "started": started}
        path = f"/pisces/kernels/{kernel.transport.kernel_id}/owner"
        answer = await ask(gateways.record, path, method="POST", body=owner)
        assert answer.status_code == 204
    with anyio.fail_after(PATIENCE):
        while orphan.transport.kernel_id in await kernels_of(gateways.record):  # noqa: ASYNC110 - nobody tells
            await anyio.sleep(0.02)
    assert await value(kept, "1 + 1") == "2"
    for kernel in (orphan, kept):
        await kernel.shutdown()
