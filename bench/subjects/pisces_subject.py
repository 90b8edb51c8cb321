"""Pisces as a library: a runtime, and its `python` tool for everything."""

from contextlib import AsyncExitStack
from pathlib import Path

from bench.subjects.base import Received, of_file
from pisces import Runtime, ToolResult


class PiscesSubject:
    """The whole tool: parameters, session, kernel, output, result."""

    def __init__(self, interpreter: str, checkpoint: str = "auto", backend: str = "native") -> None:
        self._settings = {
            "python.interpreter": interpreter,
            "python.checkpoint": checkpoint,
            "python.backend": backend,
        }
        self._stack = AsyncExitStack()
        self._runtime: Runtime | None = None
        self._printed: ToolResult | None = None

    async def start(self) -> None:
        runtime = Runtime(cwd="/", settings=self._settings)
        self._runtime = await self._stack.enter_async_context(runtime)

    async def evaluate(self, code: str) -> str:
        assert self._runtime is not None
        result = await self._runtime.python(code=code)
        return result.text.partition("\n")[0]  # Below it may be said that no checkpoint was made.

    async def print_much(self, code: str) -> None:
        assert self._runtime is not None
        self._printed = await self._runtime.python(code=code, timeout=60)

    def received(self) -> Received:
        assert self._printed is not None
        if self._printed.is_error or self._printed.details.full_output_path is None:
            raise RuntimeError(f"the output was not kept: {self._printed.text[-500:]}")
        path = Path(self._printed.details.full_output_path)
        received = of_file(path)
        path.unlink()
        return received

    async def stop(self) -> None:
        await self._stack.aclose()
