"""A kernel on a gateway goes without a word, and the gateway says nothing either: whoever waits for it asks.

The server and the kernel are real.
"""

import os
import signal

import pytest

from pisces.kernels.base import LaunchSpec
from pisces.kernels.deadline import Deadline
from pisces.kernels.gateway import link as link_module
from pisces.kernels.gateway.external import ExternalBackend
from tests.fakes.drive import PATIENCE, begin, plain_environment, value
from tests.fakes.servers import Server, ask


async def test_a_kernel_that_ended_in_silence_is_not_waited_for(
    kernel_gateway: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(link_module, "_SILENCE", 0.2)
    backend = ExternalBackend(kernel_gateway.url, kernel_gateway.token)
    kernel = backend.kernel(LaunchSpec("python", "/", plain_environment()))
    await kernel.start(Deadline.after(PATIENCE))
    pid = int(await value(kernel, "import os; os.getpid()"))
    running = await begin(kernel, "import time; print('on', flush=True); time.sleep(600)")
    await running.prints("on\n")
    os.kill(pid, signal.SIGSTOP)  # It cannot say that it ends: the server has to kill it.
    ask(kernel_gateway, f"/api/kernels/{kernel.transport.kernel_id}", method="DELETE")
    done = (await running.finish()).done
    assert (done.status, done.state) == ("crashed", "lost")
    assert done.process_exit is not None
    assert "the gateway has no such kernel any more" in done.process_exit.describe()
    await kernel.shutdown()
    await backend.aclose()
