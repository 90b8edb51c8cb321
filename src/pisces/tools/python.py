"""The `python` tool: cells in a session's kernel, and what they said."""

import math
from collections.abc import Mapping
from itertools import count
from pathlib import Path
from typing import Annotated, Any

import anyio
from msgspec import Meta, Struct

from pisces.environment.interpreter import Interpreter
from pisces.errors import DeadlineExceeded, InvalidCall, KernelStartError, PiscesError
from pisces.kernels.base import LaunchSpec
from pisces.kernels.deadline import Deadline
from pisces.model.cells import Cell
from pisces.model.results import ToolResult
from pisces.output.sink import SinkLimits
from pisces.sessions.progress import Progress
from pisces.sessions.report import RunOptions
from pisces.sessions.run import CallRun
from pisces.sessions.session import Session, SessionKey
from pisces.sessions.stop import StopSignal
from pisces.sessions.transcript import Transcript
from pisces.tools.base import CallContext, Services, error_result
from pisces.tools.python_result import python_result, stopped_result
from pisces.tools.schema import json_schema, parse_params

DEFAULT_SESSION = "default"
DEFAULT_TIMEOUT = 30.0
_MIN_TIMEOUT = 1.0


class PythonParams(Struct, frozen=True, forbid_unknown_fields=True):
    """Parameters of the `python` tool."""

    cells: Annotated[list[Cell], Meta(min_length=1, description="Cells to run in order, in one kernel.")] | None = None
    code: Annotated[str, Meta(description="Shorthand for one cell.")] | None = None
    timeout: Annotated[float, Meta(description="Seconds for the whole call; default 30.")] | None = None
    cwd: Annotated[str, Meta(description="Folder to work in from now on.")] | None = None
    workdir: Annotated[str, Meta(description="The same as cwd.")] | None = None
    reset: Annotated[bool, Meta(description="Start from a fresh kernel.")] = False
    session: Annotated[str, Meta(min_length=1, max_length=200, description="Name of another session.")] | None = None
    kernel: Annotated[str, Meta(min_length=1, description="Path of another interpreter for the session.")] | None = None


class PythonTool:
    """Runs Python that remembers."""

    name = "python"

    def __init__(self, services: Services) -> None:
        self._services = services
        self._one_off = count(1)

    @property
    def description(self) -> str:
        """What a model reads before it uses the tool."""
        from importlib.resources import files

        return files("pisces.tools").joinpath("prompts/python.md").read_text(encoding="utf-8").strip()

    @property
    def schema(self) -> Mapping[str, Any]:
        """The JSON schema of its parameters."""
        return json_schema(PythonParams)

    async def call(self, params: Mapping[str, Any], context: CallContext) -> ToolResult:
        """Run the cells. Raises `InvalidCall` for wrong parameters; everything else is in the result."""
        parsed = parse_params(params, PythonParams)
        cells = _cells(parsed)
        deadline = Deadline.after(self._timeout(parsed.timeout))
        call = _PythonCall(self._services, parsed, context, deadline, self._folder(parsed))
        one_off = f"call-{next(self._one_off)}" if self._per_call else None
        try:
            if context.abort is None:
                return await call.run(cells, one_off)
            return await call.run_until(context.abort, cells, one_off)
        except InvalidCall:
            raise
        except PiscesError as error:
            if isinstance(error, KernelStartError):
                self._services.interpreters.forget(parsed.kernel)
            return error_result(error.explain())

    @property
    def _per_call(self) -> bool:
        return self._services.settings.python.kernel_mode == "per-call"

    def _timeout(self, asked: float | None) -> float:
        if asked is None:
            return DEFAULT_TIMEOUT
        if math.isnan(asked):
            raise InvalidCall("Wrong value for `timeout`: a number of seconds is needed, got NaN")
        return min(max(asked, _MIN_TIMEOUT), self._services.settings.python.max_timeout)

    def _folder(self, params: PythonParams) -> str | None:
        asked = params.cwd if params.cwd is not None else params.workdir
        if asked is None:
            return None
        try:
            folder = Path(self._services.cwd, Path(asked).expanduser()).resolve()
            exists, is_folder = folder.exists(), folder.is_dir()
        except (OSError, RuntimeError, ValueError) as error:
            raise InvalidCall(f"Wrong value for `cwd`: {asked!r} cannot be used as a folder ({error})") from None
        if not exists:
            raise InvalidCall(f"Working directory does not exist: {folder}")
        if not is_folder:
            raise InvalidCall(f"Working directory is not a directory: {folder}")
        return str(folder)


def _cells(params: PythonParams) -> list[Cell]:
    if params.cells is not None and params.code is not None:
        raise InvalidCall("Give either `cells` or `code`, not both")
    if params.cwd is not None and params.workdir is not None:
        raise InvalidCall("Give either `cwd` or `workdir`, not both")
    if params.cells is not None:
        return params.cells
    if params.code is not None:
        return [Cell(params.code)]
    raise InvalidCall('`cells` is missing: give at least one cell, as [{"code": "…"}]')


class _PythonCall:
    """One call: its session, its output, its end."""

    def __init__(
        self, services: Services, params: PythonParams, context: CallContext, deadline: Deadline, cwd: str | None
    ) -> None:
        self._services = services
        self._params = params
        self._context = context
        self._deadline = deadline
        self._cwd = cwd
        self._stop = StopSignal(deadline)

    async def run_until(self, abort: anyio.Event, cells: list[Cell], one_off: str | None) -> ToolResult:
        """Run; stop when the caller sets the event, and begin nothing if that has been done already."""
        if abort.is_set():
            self._stop.ask()
        async with anyio.create_task_group() as group:
            group.start_soon(self._watch, abort)
            try:
                return await self.run(cells, one_off)
            except Exception as error:  # noqa: BLE001 - raised again outside: the task group would wrap it
                failure = error
            finally:
                group.cancel_scope.cancel()
        raise failure

    async def _watch(self, abort: anyio.Event) -> None:
        await abort.wait()
        self._stop.ask()

    async def run(self, cells: list[Cell], one_off: str | None) -> ToolResult:
        """Run in the session, or in a kernel of the call's own."""
        interpreter = await self._interpreter()
        if interpreter is None:
            return stopped_result(cells, self._stop, self._deadline, "no interpreter had answered yet")
        session = self._session(interpreter, one_off)
        try:
            return await self._run_in(session, cells, reset=self._params.reset and one_off is None)
        finally:
            if one_off is not None:
                await self._services.pool.end(session)

    async def _interpreter(self) -> Interpreter | None:
        """The interpreter; None when the call was stopped before one was found."""
        interpreter = self._services.interpreters.known(self._params.kernel)
        if interpreter is not None:
            return interpreter
        try:
            with self._stop.scope():
                interpreter = await self._services.interpreters.find(self._params.kernel, self._deadline)
        except DeadlineExceeded:
            return None
        return interpreter

    def _session(self, interpreter: Interpreter, one_off: str | None) -> Session:
        services, owner = self._services, self._context.owner
        python, interpreters = services.settings.python, services.interpreters
        env = interpreters.environment(interpreter)

        def launch(cwd: str) -> LaunchSpec:
            return LaunchSpec(
                interpreter.path,
                cwd,
                env,
                injected=interpreters.injected,
                preload=python.preload,
                memory_limit_mb=python.memory_limit_mb,
            )

        key = SessionKey(one_off or self._params.session or DEFAULT_SESSION, services.cwd, interpreter.path)
        session = services.pool.session(key, owner, launch)
        return services.pool.separate(session, owner, launch) if self._params.reset else session

    async def _run_in(self, session: Session, cells: list[Cell], *, reset: bool) -> ToolResult:
        services, python = self._services, self._services.settings.python
        transcript = Transcript(
            session=session.key.id, tool="python", artifacts=services.artifacts, limits=_limits(services)
        )
        options = RunOptions(
            owner=self._context.owner,
            cwd=self._cwd,
            reset=reset,
            keep_going=self._context.keep_going,
            inspect=python.variables,
            interrupt_grace=python.interrupt_grace,
            retry_on_crash=python.retry_on_crash,
        )
        call = CallRun(
            session,
            cells,
            options=options,
            deadline=self._deadline,
            transcript=transcript,
            stop=self._stop,
            progress=Progress(self._context.on_update, transcript, stop=self._stop, on_output=self._context.on_output),
        )
        try:
            report = await call.run()
        finally:
            transcript.close()
        report.notes += transcript.left_out()
        return await python_result(report, transcript, session, self._deadline, self._context.read_with)


def _limits(services: Services) -> SinkLimits:
    output = services.settings.output
    return SinkLimits(max_bytes=output.max_bytes, max_lines=output.max_lines, head_bytes=output.head_budget)
