"""The `notebook` tool: cells of an `.ipynb` file are read, changed, and run in the session's kernel."""

from collections.abc import Mapping
from typing import Any

from pisces.model.results import ToolResult
from pisces.tools.base import CallContext
from pisces.tools.prompt import PromptedTool
from pisces.tools.schema import json_schema


class NotebookTool(PromptedTool):
    """Edits notebooks and runs them, in the same kernel as the `python` tool."""

    name = "notebook"

    @property
    def schema(self) -> Mapping[str, Any]:
        """The JSON schema of its parameters."""
        from pisces.tools.notebook_params import NotebookParams

        return json_schema(NotebookParams)

    async def call(self, params: Mapping[str, Any], context: CallContext) -> ToolResult:
        """Do it. Raises `InvalidCall` for wrong parameters; what is not there, or cannot be done, is in the result."""
        from pisces.tools.notebook_call import call_notebook  # Most runs have no notebook, and need not pay for it.

        return await call_notebook(self._services, params, context)
