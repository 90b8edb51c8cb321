"""Which tools an agent is offered: what the settings allow, as far as it can be had."""

from collections.abc import Mapping

import msgspec

from pisces.settings.schema import ToolMode
from pisces.tools.base import Services, Tool
from pisces.tools.preflight import preflight
from pisces.tools.registry import make_tools


class Offer(msgspec.Struct, frozen=True):
    """The tools by name, and what their user has to know about it."""

    tools: Mapping[str, Tool]
    mode: ToolMode
    warning: str = ""
    """Why Python is not among them although the settings allow it, and how to mend that; empty if nothing is wrong."""


async def make_offer(services: Services) -> Offer:
    """The tools for a session that begins now. Where Python cannot be had, only bash is left."""
    mode = services.settings.python.tool_mode
    problem = None if mode == "bash-only" else await preflight(services)
    if problem is None:
        return Offer(make_tools(services), mode)
    warning = f"Python is not available here, so that only bash and the file tools are offered: {problem.explain()}"
    return Offer(make_tools(services, mode="bash-only"), "bash-only", warning)
