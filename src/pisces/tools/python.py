"""The `python` tool: cells in a session's kernel, and what they said."""

from collections.abc import Mapping
from functools import partial
from typing import Any

from pisces.environment.helper_cache import HelperCache
from pisces.environment.modules import ModuleFolders
from pisces.kernels.deadline import Deadline
from pisces.model.results import ToolResult
from pisces.sessions.report import pending_records
from pisces.tools.base import CallContext, Services
from pisces.tools.cell_call import CellCall, one_off_name, with_refusals_told
from pisces.tools.helper_docs import HelperDocs
from pisces.tools.prompt import PromptedTool
from pisces.tools.python_background import Attendance, unless_aborted
from pisces.tools.python_call import CallInSession
from pisces.tools.python_params import MIN_TIMEOUT, PythonParams, cells_of, folder_of, seconds_of
from pisces.tools.python_result import NO_INTERPRETER, stopped_result
from pisces.tools.schema import check_name, json_schema, parse_params
from pisces.tools.seat import find_seat

__all__ = ["DEFAULT_TIMEOUT", "PythonParams", "PythonTool"]

DEFAULT_TIMEOUT = 30.0


class PythonTool(PromptedTool):
    """Runs Python that remembers."""

    name = "python"

    def __init__(self, services: Services) -> None:
        super().__init__(services)
        folders = ModuleFolders.of(services.paths, services.cwd)
        self._helpers = HelperDocs(folders, HelperCache(services.paths.helpers))

    @property
    def description(self) -> str:
        """What a model reads before it uses the tool: also which helpers it finds in a cell."""
        return f"{super().description}\n- {self._helpers.line()}"

    @property
    def schema(self) -> Mapping[str, Any]:
        """The JSON schema of its parameters."""
        return json_schema(PythonParams)

    async def call(self, params: Mapping[str, Any], context: CallContext) -> ToolResult:
        """Run the cells. Raises `InvalidCall` for wrong parameters; everything else is in the result."""
        parsed = parse_params(params, PythonParams)
        cells = cells_of(parsed)
        check_name("session", parsed.session)
        attendance = Attendance.of(self._services, context, background=parsed.background)
        cwd = folder_of(parsed, self._services.cwd)
        deadline = Deadline.after(self._timeout(parsed.timeout, context, waited_for=attendance.patience is None))
        records = pending_records(cells)
        call = CellCall(
            self._services,
            attendance.context,
            records,
            tool=self.name,
            session=parsed.session,
            one_off=one_off_name(self._services),
            deadline=deadline,
        )

        async def work() -> ToolResult:
            seat = await find_seat(self._services, parsed.kernel, call.stop, deadline)
            if seat is None:
                return stopped_result(records, call.stop, deadline, NO_INTERPRETER)
            session = call.session(seat, reset=parsed.reset)
            run = call.run(session, records, deadline, cwd=cwd, reset=parsed.reset and not call.one_off)
            return await attendance.carry_out(CallInSession(call, session, run, deadline), parsed.kernel)

        stoppable = partial(unless_aborted, context.abort, call.stop.ask, work)
        return await with_refusals_told(self._services, context, stoppable, parsed.kernel)

    def _timeout(self, asked: float | None, context: CallContext, *, waited_for: bool) -> float:
        most = self._services.settings.python.max_timeout
        usual = DEFAULT_TIMEOUT if waited_for else most
        return seconds_of(asked, default=usual, least=MIN_TIMEOUT, most=context.longest(most))
