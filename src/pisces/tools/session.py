"""The `session` tool: what there is, what state it is in, and what runs in the background."""

from collections.abc import Mapping
from typing import Any

from pisces.model.results import ToolResult
from pisces.tools.base import CallContext
from pisces.tools.prompt import PromptedTool
from pisces.tools.schema import json_schema


class SessionTool(PromptedTool):
    """Looks at sessions and acts on them. It never starts one."""

    name = "session"

    @property
    def schema(self) -> Mapping[str, Any]:
        """The JSON schema of its parameters."""
        from pisces.tools.session_params import SessionParams

        return json_schema(SessionParams)

    async def call(self, params: Mapping[str, Any], context: CallContext) -> ToolResult:
        """Do it. Raises `InvalidCall` for wrong parameters; what is not there, or cannot be done, is in the result."""
        from pisces.tools.session_call import call_session  # 9 ms of imports that most runs do without

        return await call_session(self._services, params, context)
