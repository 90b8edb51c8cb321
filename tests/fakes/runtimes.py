"""Runtimes for tests, on real interpreters or on scripted kernels, and a listener that a test can wait on."""

import os
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import anyio
from anyio.abc import TaskGroup

from pisces.kernels.base import Backend
from pisces.kernels.memory import MemoryBackend
from pisces.kernels.memory_script import Script
from pisces.model.kernel_info import KernelInfo
from pisces.model.results import Details, ToolResult, Update
from pisces.runtime import Runtime
from pisces.sessions.pool import SessionPool
from pisces.tools.base import CallContext
from tests.fakes.drive import PATIENCE, plain_environment
from tests.leftovers import COOKIE


def runtime_on(interpreter: str, folder: Path, *, environ: Mapping[str, str] | None = None, **python: Any) -> Runtime:
    """A runtime whose kernels are processes of this interpreter; `python` are settings, by their Python names."""
    return _runtime(interpreter, folder, None, environ or {}, python)


def scripted_runtime(script: Script | MemoryBackend, folder: Path, **python: Any) -> Runtime:
    """A runtime that starts no process: its kernels do what the script says."""
    backend = script if isinstance(script, MemoryBackend) else MemoryBackend(script)
    return _runtime(sys.executable, folder, backend, {"PI_PYTHON_SKIP_CHECK": "1"}, python)


def _runtime(
    interpreter: str, folder: Path, backend: Backend | None, environ: Mapping[str, str], python: dict[str, Any]
) -> Runtime:
    home = folder / "home"
    home.mkdir(exist_ok=True)
    cookie = {COOKIE: os.environ[COOKIE]} if COOKIE in os.environ else {}
    whole = plain_environment(HOME=str(home), PISCES_HOME=str(home / ".pisces"), **cookie, **environ)
    output = python.pop("output", {})
    settings = {"python": {"interpreter": interpreter, **{_camel(name): python[name] for name in python}}}
    if output:
        settings["output"] = {_camel(name): output[name] for name in output}
    return Runtime(cwd=folder, settings=settings, environ=whole, backend=backend)


def _camel(name: str) -> str:
    first, *others = name.split("_")
    return first + "".join(word.capitalize() for word in others)


def pool_of(runtime: Runtime) -> SessionPool:
    """The sessions of a runtime that has been entered."""
    assert runtime._pool is not None
    return runtime._pool


async def call(runtime: Runtime, code: str | list[str], *, owner: str = "runtime", **params: Any) -> ToolResult:
    """Run cells as an owner, within the patience of a test. Options of the context go by their names."""
    options = {name: params.pop(name) for name in ("on_update", "on_output", "abort", "keep_going") if name in params}
    cells = [{"code": cell} for cell in ([code] if isinstance(code, str) else code)]
    with anyio.fail_after(PATIENCE):
        context = CallContext(owner=owner, **options)
        return await runtime.tool("python", {"cells": cells, **params}, context=context)


def details(result: ToolResult) -> Details:
    """The structured half of a result that has one."""
    assert isinstance(result.details, Details), result.text
    return result.details


def kernel_of(result: ToolResult) -> KernelInfo:
    """The kernel behind a result."""
    kernel = details(result).kernel
    assert kernel is not None, result.text
    return kernel


class Watcher:
    """Hears the updates of a call; a test waits until it has heard what it wants."""

    def __init__(self) -> None:
        self.updates: list[Update] = []
        self._news = anyio.Event()

    def __call__(self, update: Update) -> None:
        self.updates.append(update)
        self._news.set()

    async def until(self, seen: Callable[[Update], bool]) -> Update:
        """Wait for an update of that kind."""
        with anyio.fail_after(PATIENCE):
            while True:
                for update in self.updates:
                    if seen(update):
                        return update
                self._news = anyio.Event()
                await self._news.wait()

    async def prints(self, text: str) -> Update:
        """Wait until the output has this."""
        return await self.until(lambda update: text in update.tail)


class Started:
    """A call under way in a task of its own."""

    def __init__(self) -> None:
        self.result: ToolResult | None = None
        self.watcher = Watcher()
        self.scope = anyio.CancelScope()
        self.ended = anyio.Event()

    async def run(self, runtime: Runtime, code: str | list[str], params: dict[str, Any]) -> None:
        """The body of the task."""
        try:
            with self.scope:
                self.result = await call(runtime, code, on_update=self.watcher, **params)
        finally:
            self.ended.set()

    async def finish(self) -> ToolResult:
        """The result, once it is there."""
        with anyio.fail_after(PATIENCE):
            await self.ended.wait()
        assert self.result is not None
        return self.result


def begin(group: TaskGroup, runtime: Runtime, code: str | list[str], **params: Any) -> Started:
    """Start a call and go on."""
    started = Started()
    group.start_soon(started.run, runtime, code, params)
    return started
