"""The `eval` tool: cells in several languages, each in a session that remembers."""

from collections.abc import Mapping
from functools import partial
from typing import Any

from pisces.model.results import ToolResult
from pisces.tools.base import CallContext
from pisces.tools.cell_call import CellCall, one_off_name, with_refusals_told
from pisces.tools.eval_call import EvalCall
from pisces.tools.eval_params import EvalParams, check, deadline_of, records_of
from pisces.tools.prompt import PromptedTool
from pisces.tools.python_background import unless_aborted
from pisces.tools.schema import json_schema, parse_params


class EvalTool(PromptedTool):
    """Runs cells in whatever language a kernel is installed for."""

    name = "eval"

    @property
    def schema(self) -> Mapping[str, Any]:
        """The JSON schema of its parameters."""
        return json_schema(EvalParams)

    async def call(self, params: Mapping[str, Any], context: CallContext) -> ToolResult:
        """Run the cells. Raises `InvalidCall` for wrong parameters; everything else is in the result."""
        parsed = parse_params(params, EvalParams)
        check(parsed)
        deadline = deadline_of(parsed.cells[0])
        call = CellCall(
            self._services,
            context,
            records_of(parsed),
            tool=self.name,
            session=parsed.session,
            one_off=one_off_name(self._services),
            deadline=deadline,
        )
        stoppable = partial(unless_aborted, context.abort, call.stop.ask, EvalCall(call, parsed, deadline).result)
        return await with_refusals_told(self._services, context, stoppable)
