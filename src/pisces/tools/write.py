"""The `write` tool: a whole file, in one step."""

from collections.abc import Mapping
from typing import Any

from pisces.model.results import ToolResult
from pisces.tools.base import CallContext
from pisces.tools.prompt import PromptedTool
from pisces.tools.schema import json_schema


class WriteTool(PromptedTool):
    """Makes a file, or replaces one."""

    name = "write"

    @property
    def schema(self) -> Mapping[str, Any]:
        """The JSON schema of its parameters."""
        from pisces.tools.files_params import WriteParams

        return json_schema(WriteParams)

    async def call(self, params: Mapping[str, Any], context: CallContext) -> ToolResult:
        """Do it. Raises `InvalidCall` for wrong parameters; what cannot be done is in the result."""
        from pisces.tools.files_write import call_write  # Imports that most runs do without.

        return await call_write(self._services, params, context)
