"""ipykernel through jupyter_client, in the way that is fastest there: its asynchronous client over ipc sockets.

The blocking client and TCP, which are the defaults, take 3 to 10 % longer.
"""

import subprocess
import tempfile
from pathlib import Path
from typing import Any

from jupyter_client.asynchronous.client import AsyncKernelClient
from jupyter_client.manager import AsyncKernelManager

from bench.subjects.base import Received

_READY_SECONDS = 60


class IpykernelSubject:
    """A kernel of this interpreter. A cell is over when its reply and its idle status have both come."""

    def __init__(self) -> None:
        self._folder = tempfile.TemporaryDirectory(prefix="pisces-bench-ipc-")
        self._manager = AsyncKernelManager(transport="ipc", ip=str(Path(self._folder.name, "kernel")))
        self._client: AsyncKernelClient | None = None
        self._printed = 0

    async def start(self) -> None:
        # Its standard output is not captured while it starts, and ours is where the results go.
        await self._manager.start_kernel(stdout=subprocess.DEVNULL)
        self._client = self._manager.client()
        self._client.start_channels()
        await self._client.wait_for_ready(timeout=_READY_SECONDS)

    async def evaluate(self, code: str) -> str:
        result = ""
        request = self._execute(code)
        while (message := await self._next_output(request)) is not None:
            if message["msg_type"] == "execute_result":
                result = message["content"]["data"]["text/plain"]
        await self._reply(request)
        return result

    async def print_much(self, code: str) -> None:
        self._printed = 0
        request = self._execute(code)
        while (message := await self._next_output(request)) is not None:
            if message["msg_type"] == "stream":
                self._printed += len(message["content"]["text"])  # What is printed is ASCII.
        await self._reply(request)

    def received(self) -> Received:
        return Received(self._printed)

    async def crash_and_restart(self) -> None:
        """Have a cell end the process, and start it again at once, as somebody would who knew of it."""
        assert self._client is not None
        self._execute("import os, signal; os.kill(os.getpid(), signal.SIGSEGV)")
        await self._manager.restart_kernel(now=True)
        await self._client.wait_for_ready(timeout=_READY_SECONDS)

    async def stop(self) -> None:
        if self._client is not None:
            self._client.stop_channels()
        await self._manager.shutdown_kernel(now=True)
        self._folder.cleanup()

    def _execute(self, code: str) -> str:
        assert self._client is not None
        request: str = self._client.execute(code)
        return request

    async def _next_output(self, request: str) -> dict[str, Any] | None:
        """The next message about this request; None for the one that says that the kernel is idle again."""
        assert self._client is not None
        while True:
            message: dict[str, Any] = await self._client.get_iopub_msg(timeout=None)
            if message["parent_header"].get("msg_id") == request:
                idle = message["msg_type"] == "status" and message["content"]["execution_state"] == "idle"
                return None if idle else message

    async def _reply(self, request: str) -> None:
        assert self._client is not None
        while (await self._client.get_shell_msg(timeout=None))["parent_header"].get("msg_id") != request:
            pass
