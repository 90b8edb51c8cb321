"""The `edit` tool: an exact text for another."""

from collections.abc import Mapping
from typing import Any

from pisces.model.results import ToolResult
from pisces.tools.base import CallContext
from pisces.tools.prompt import PromptedTool
from pisces.tools.schema import json_schema


class EditTool(PromptedTool):
    """Replaces a text in a file."""

    name = "edit"

    @property
    def schema(self) -> Mapping[str, Any]:
        """The JSON schema of its parameters."""
        from pisces.tools.files_params import EditParams

        return json_schema(EditParams)

    async def call(self, params: Mapping[str, Any], context: CallContext) -> ToolResult:
        """Do it. Raises `InvalidCall` for wrong parameters; what cannot be done is in the result."""
        from pisces.tools.files_edit import call_edit  # Imports that most runs do without.

        return await call_edit(self._services, params, context)
