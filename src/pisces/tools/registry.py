"""The tools there are: a new one is a file beside this one and a line here."""

from pisces.tools.base import Services, Tool
from pisces.tools.eval import EvalTool
from pisces.tools.python import PythonTool
from pisces.tools.session import SessionTool


def make_tools(services: Services) -> dict[str, Tool]:
    """Every tool, by name."""
    tools: list[Tool] = [PythonTool(services), EvalTool(services), SessionTool(services)]
    return {tool.name: tool for tool in tools}
