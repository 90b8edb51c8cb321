"""The `read` tool: text, notebooks, pictures and artifacts, within bounds."""

from collections.abc import Mapping
from typing import Any

from pisces.model.results import ToolResult
from pisces.tools.base import CallContext
from pisces.tools.prompt import PromptedTool
from pisces.tools.schema import json_schema


class ReadTool(PromptedTool):
    """Shows what is in a file. It changes nothing."""

    name = "read"

    @property
    def schema(self) -> Mapping[str, Any]:
        """The JSON schema of its parameters."""
        from pisces.tools.files_params import ReadParams

        return json_schema(ReadParams)

    async def call(self, params: Mapping[str, Any], context: CallContext) -> ToolResult:
        """Do it. Raises `InvalidCall` for wrong parameters; what cannot be done is in the result."""
        from pisces.tools.files_read import call_read  # Imports that most runs do without.

        return await call_read(self._services, params, context)
