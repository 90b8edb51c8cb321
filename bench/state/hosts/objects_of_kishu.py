"""What becomes of objects in kernels whose state Kishu keeps: after its checkout, there and in a new kernel.

python -m bench.state.hosts.objects_of_kishu INTERPRETER [PART-OF-A-NAME]
"""

import ast
import json
import os
import re
import sqlite3
import subprocess
import sys
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, closing
from pathlib import Path
from typing import Any

import anyio
import msgspec
from jupyter_client.asynchronous.client import AsyncKernelClient
from jupyter_client.kernelspec import KernelSpec
from jupyter_client.manager import AsyncKernelManager

from bench.state.hosts.timing import hand_over
from bench.state.objects.cases import all_cases
from bench.state.objects.journey import CELL_SECONDS, SET_UP_SECONDS, CellAnswer, Session, Way, WayBack, travel_all

_TROUBLE = re.compile(r"error|exception|traceback|fail|cannot", re.IGNORECASE)
"""What makes a text of Kishu's a report; it has no form of its own for one."""
_NOTEBOOK = {"cells": [], "metadata": {}, "nbformat": 4, "nbformat_minor": 5}
_NO_FRONT_END = "[JUPYTERINT]\ntest_mode = true\n"
"""It then does not wait for a front end to save the notebook; nothing else."""


_TABLES = ("variable_snapshot", "commit_entry")


class KishuSession:
    """An ipykernel that Kishu records, with its notebook in the folder; and the one after it."""

    def __init__(self, interpreter: str, folder: Path) -> None:
        self._interpreter = interpreter
        self._folder = folder
        self._notebook = folder / "case.ipynb"
        self._kernels = 0
        self._manager: AsyncKernelManager | None = None
        self._client: AsyncKernelClient | None = None
        self._sizes = [0, 0]
        self._commit = ""
        self._kept, self._kept_with = 0, ""
        self._warned = ""

    async def open(self) -> None:
        """The notebook, and the first kernel."""
        self._notebook.write_text(json.dumps(_NOTEBOOK), encoding="utf-8")
        settings = self._folder / ".kishu" / "config.ini"
        settings.parent.mkdir()
        settings.write_text(_NO_FRONT_END, encoding="utf-8")
        await self._start()

    async def run(self, code: str, seconds: float) -> CellAnswer:
        began = time.perf_counter()
        reply, texts = await self._ask(code, seconds, silent=False)
        taken = time.perf_counter() - began
        self._sizes = [self._sizes[-1], self._database_bytes()]
        self._warned = "; ".join(text for text in texts if _TROUBLE.search(text))
        if reply is None:
            return CellAnswer("".join(texts), "it did not answer", taken, hung=True)
        trouble = "" if reply["status"] == "ok" else f"{reply.get('ename')}: {reply.get('evalue')}"
        return CellAnswer("".join(texts), trouble, taken)

    async def mark(self) -> None:
        self._kept, self._kept_with = self._sizes[1] - self._sizes[0], self._warned
        reply, _ = await self._ask(
            "", CELL_SECONDS, silent=True, expression="_kishu._kishu_branch.get_head().commit_id"
        )
        head = {} if reply is None else reply["user_expressions"]["value"]
        # Without a commit there is nothing that a checkout could find, and it says so.
        self._commit = ast.literal_eval(head["data"]["text/plain"]) if head.get("status") == "ok" else ""

    def kept_bytes(self) -> int:
        """By how much its database grew when the cell was committed."""
        return self._kept

    async def bring_back(self, way: Way) -> WayBack:
        began = time.perf_counter()
        if way == "anew":
            await self._end()
            await self._start()  # What cannot be begun again is a fault of the machine, not of the object.
        code = f"_kishu.checkout({self._commit!r}, skip_notebook=True)"
        reply, texts = await self._ask("", SET_UP_SECONDS, silent=True, expression=code)
        taken = time.perf_counter() - began
        if reply is None:
            return WayBack(reported=False, said="it did not answer", seconds=taken, hung=True)
        answer = reply["user_expressions"]["value"]
        failed = answer["status"] != "ok"
        said = "; ".join([f"{answer['ename']}: {answer['evalue']}" if failed else answer["data"]["text/plain"], *texts])
        return WayBack(failed or any(_TROUBLE.search(text) for text in texts), said, taken)

    def warned(self) -> str:
        return self._kept_with

    async def close(self) -> None:
        await self._end()

    async def _start(self) -> None:
        """A kernel, with Kishu begun in it as its own command does that."""
        self._kernels += 1
        # Kishu takes what follows the hyphen for the number of the kernel.
        self._manager = AsyncKernelManager(connection_file=str(self._folder / f"kernel-{self._kernels}.json"))
        self._manager._kernel_spec = KernelSpec(
            argv=[self._interpreter, "-m", "ipykernel_launcher", "-f", "{connection_file}"], language="python"
        )
        environ = {**os.environ, "KISHU_PATH_ROOT": str(self._folder), "PYTHONPATH": ""}
        quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
        await self._manager.start_kernel(cwd=str(self._folder), env=environ, **quiet)
        self._client = self._manager.client()
        self._client.start_channels()
        await self._client.wait_for_ready(timeout=SET_UP_SECONDS)
        begin = f"from kishu import init_kishu; init_kishu({str(self._notebook)!r})"
        reply, texts = await self._ask(begin, SET_UP_SECONDS, silent=True, expression="str(_kishu)")
        if reply is None or reply["user_expressions"]["value"]["status"] != "ok":
            raise RuntimeError(f"Kishu did not begin: {reply} {texts}")

    async def _end(self) -> None:
        assert self._client is not None
        assert self._manager is not None
        self._client.stop_channels()
        await self._manager.shutdown_kernel(now=True)

    async def _ask(
        self, code: str, seconds: float, *, silent: bool, expression: str = ""
    ) -> tuple[dict[str, Any] | None, list[str]]:
        """The content of the reply, None where none came in time, and the texts that were printed."""
        assert self._client is not None
        texts: list[str] = []

        def heard(message: dict[str, Any]) -> None:
            content = message["content"]
            if message["msg_type"] == "stream":
                texts.append(content["text"])
            elif message["msg_type"] == "error":
                texts.append(f"\n{content['ename']}: {content['evalue']}\n")

        reply: dict[str, Any] | None = None
        with anyio.move_on_after(seconds):
            async with anyio.create_task_group() as group:
                group.start_soon(self._until_it_ends, group.cancel_scope)
                answer = await self._client.execute_interactive(
                    code,
                    silent=silent,
                    user_expressions={"value": expression} if expression else {},
                    output_hook=heard,
                    allow_stdin=False,
                )
                reply = answer["content"]
                group.cancel_scope.cancel()
        return reply, texts

    async def _until_it_ends(self, scope: anyio.CancelScope) -> None:
        """Nobody waits for a kernel that has died."""
        assert self._manager is not None
        if self._manager.provisioner is not None:
            await self._manager.provisioner.wait()
        scope.cancel()

    def _database_bytes(self) -> int:
        """What its file holds of variables and commits; the file itself grows in larger steps."""
        with closing(sqlite3.connect(self._notebook.with_suffix(".kishudb"))) as database:
            return sum(
                int(database.execute(f"select total(length(data)) from {table}").fetchone()[0]) for table in _TABLES
            )


async def _main(interpreter: str, part: str) -> None:
    @asynccontextmanager
    async def sessions(folder: Path) -> AsyncIterator[Session]:
        session = KishuSession(interpreter, folder)
        await session.open()
        try:
            yield session
        finally:
            await session.close()

    cases = [case for case in all_cases() if part in f"{case.kind}: {case.name}"]
    hand_over({"found": msgspec.to_builtins(await travel_all(cases, sessions))})


if __name__ == "__main__":
    anyio.run(_main, sys.argv[1], sys.argv[2] if len(sys.argv) > 2 else "")
