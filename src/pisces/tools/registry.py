"""The tools there are: a new one is a file beside this one and a line here."""

from pisces.tools.base import Services, Tool
from pisces.tools.edit import EditTool
from pisces.tools.eval import EvalTool
from pisces.tools.notebook import NotebookTool
from pisces.tools.python import PythonTool
from pisces.tools.read import ReadTool
from pisces.tools.session import SessionTool
from pisces.tools.write import WriteTool


def make_tools(services: Services) -> dict[str, Tool]:
    """Every tool that the settings allow, by name."""
    kinds = (PythonTool, EvalTool, SessionTool, NotebookTool, ReadTool, WriteTool, EditTool)
    tools: list[Tool] = [kind(services) for kind in kinds]
    hidden = () if services.settings.notebook.enabled else (NotebookTool.name,)
    return {tool.name: tool for tool in tools if tool.name not in hidden}
