"""The `bash` tool: one command of the shell, and what it said."""

from collections.abc import Mapping
from functools import partial
from typing import Any, Final

from pisces.environment.filter import filter_environment
from pisces.environment.interpreter import NotUsedYet
from pisces.errors import DeadlineExceeded, InterpreterError
from pisces.kernels.deadline import Deadline
from pisces.model.cells import CellRecord
from pisces.model.results import ToolResult
from pisces.output.sink import SinkLimits
from pisces.sessions.progress import Progress
from pisces.sessions.stop import StopSignal
from pisces.sessions.transcript import Transcript
from pisces.tools.base import CallContext, Services
from pisces.tools.bash_params import DEFAULT_TIMEOUT, MAX_TIMEOUT, MIN_TIMEOUT, BashParams, command_of, variables_of
from pisces.tools.bash_process import Order
from pisces.tools.bash_run import CommandRun
from pisces.tools.cell_call import with_refusals_told
from pisces.tools.prompt import PromptedTool
from pisces.tools.python_background import unless_aborted
from pisces.tools.python_params import folder_at, seconds_of
from pisces.tools.python_result import CallEnd, cells_result, stopped_result
from pisces.tools.schema import json_schema, parse_params

_LOOK_SECONDS: Final = 2.0
"""For the Python whose programs a command finds first; one that is known costs nothing."""


class BashTool(PromptedTool):
    """Runs commands of the shell; they share nothing but the folder, and may run side by side."""

    name = "bash"

    def __init__(self, services: Services) -> None:
        super().__init__(services)
        self._has_no_python = False

    @property
    def schema(self) -> Mapping[str, Any]:
        """The JSON schema of its parameters."""
        return json_schema(BashParams)

    async def call(self, params: Mapping[str, Any], context: CallContext) -> ToolResult:
        """Run the command. Raises `InvalidCall` for wrong parameters; everything else is in the result."""
        parsed = parse_params(params, BashParams)
        record = CellRecord(index=0, code=command_of(parsed))
        extra = variables_of(parsed)
        cwd = folder_at(parsed.cwd or ".", self._services.cwd) or self._services.cwd
        longest = context.longest(MAX_TIMEOUT)
        deadline = Deadline.after(seconds_of(parsed.timeout, default=DEFAULT_TIMEOUT, least=MIN_TIMEOUT, most=longest))
        stop = StopSignal(deadline)

        async def work() -> ToolResult:
            env: dict[str, str] | None = None
            with stop.scope():
                env = await self._environment(deadline)
            async with self._services.commands.slot(stop) as has_turn:
                if env is None or not has_turn or stop.due:
                    return stopped_result([record], stop, deadline, "the command had not begun")
                return await self._run(record, Order(record.code, cwd, env, extra), context, stop, deadline)

        stoppable = partial(unless_aborted, context.abort, stop.ask, work)
        return await with_refusals_told(self._services, context, stoppable)

    async def _run(
        self, record: CellRecord, order: Order, context: CallContext, stop: StopSignal, deadline: Deadline
    ) -> ToolResult:
        services, commands = self._services, self._services.commands
        limits = SinkLimits.of(services.settings.output)
        transcript = Transcript(session=self.name, tool=self.name, artifacts=services.artifacts, limits=limits)
        progress = Progress(context.on_update, transcript, stop=stop, on_output=context.on_output)
        progress.follow([record])
        try:
            with commands.process(order.env, stop) as process:
                run = CommandRun(process, record, transcript, stop=stop, progress=progress, lasting=context.lasting)
                report = await run.run(order)
        finally:
            transcript.close()
        if context.lasting:
            commands.have_spare(order.env)
        if process.warning and commands.is_news(process.warning):
            report.notes.append(process.warning)
        return await cells_result(report, transcript, CallEnd("", None, deadline.seconds), context.read_with)

    async def _environment(self, deadline: Deadline) -> dict[str, str]:
        """What a kernel sees; where there is no Python to be active, the filtered environment alone.

        A command needs no kernel, so one of the folder that was never used here is active without having been run.
        """
        services = self._services
        interpreters = services.interpreters
        found = interpreters.known(None)
        if found is None and not self._has_no_python:
            try:
                found = await interpreters.find(None, Deadline.after(deadline.remaining(_LOOK_SECONDS)), ahead=True)
            except NotUsedYet as unused:
                found = unused.interpreter
            except (InterpreterError, DeadlineExceeded):
                self._has_no_python = True
        if found is not None:
            env = interpreters.environment(found)
        else:
            env = filter_environment(services.environ, services.settings.python.env.allow)
        return {**env, **interpreters.injected}
