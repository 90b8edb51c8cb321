"""Calls of tools that come from cells: found by name, carried out as the session's own, answered for the cell."""

import difflib
import logging
from collections.abc import Mapping
from typing import Any

import anyio
import msgspec

from pisces.bridge.lease import Lease
from pisces.bridge.wire import Answer, Picture
from pisces.errors import PiscesError, SessionError
from pisces.model.results import FunctionValue, ImageBlock, ToolResult
from pisces.sessions.key import SessionKey
from pisces.tools.base import CallContext, Services, Tool

_READ_WITH = "Call output({id})"
_ERROR = "Error: "

_log = logging.getLogger(__name__)


class CellTools:
    """Fulfils `bridge.lease.HostTools`: what the cells of a session can call, with the settings and folder it has."""

    def __init__(self, services: Services) -> None:
        self._services = services

    def listed(self) -> Mapping[str, str]:
        """See `HostTools`."""
        return {name: tool.description.partition("\n")[0] for name, tool in self._tools().items()}

    async def call(self, name: str, args: Mapping[str, Any], lease: Lease, abort: anyio.Event) -> Answer:
        """See `HostTools`."""
        tools = self._tools()
        tool = tools.get(name)
        if tool is None:
            return Answer(error=_no_such_tool(name, tools))
        context = CallContext(
            owner=lease.owner,
            abort=abort,
            read_with=_READ_WITH,
            callers=lease.chain,
            announce_new=False,  # The text is a value for the code of the cell.
        )
        try:
            return _answer(await tool.call(args, context))
        except PiscesError as error:
            return Answer(error=error.explain())
        except Exception as error:  # noqa: BLE001 - the log has it, and the cell is told
            _log.exception("the call of %r from a cell ended by an error", name)
            return Answer(error=f"The call ended by an error of the host: {error!r}")
        finally:
            self._services.pool.disconnect(lease.owner)  # What it made stays for as long as anything that is idle.

    def _tools(self) -> Mapping[str, Tool]:
        from pisces.tools.registry import make_tools  # It knows the tools that run cells, and these know us.

        return {**make_tools(self._services), **self._services.for_cells}


def refuse_to_wait_for_itself(context: CallContext, session: SessionKey) -> None:
    """Raises `SessionError` when a cell of this session waits for the call: it could wait for ever."""
    if any(lease.open and lease.session == session for lease in context.callers):
        raise SessionError(
            f"A cell of session {session.id!r} waits for this call, which would have to wait for that cell",
            hint="Do it in the cell itself, or name another session.",
        )


def _no_such_tool(name: str, tools: Mapping[str, Tool]) -> str:
    near = difflib.get_close_matches(name, tools, n=1)
    meant = f" Did you mean `{near[0]}`?" if near else ""
    shown = ascii(name[:100])
    return f"There is no tool {shown}.{meant} Tools: {', '.join(sorted(tools))}"


def _answer(result: ToolResult) -> Answer:
    images = [Picture(block.mime_type, block.data) for block in result.content if isinstance(block, ImageBlock)]
    if result.is_error:
        return Answer(error=result.text.removeprefix(_ERROR), images=images, details=result.details)
    if isinstance(result.details, FunctionValue):
        return Answer(value=result.details.value, images=images, details=msgspec.UNSET)
    return Answer(value=result.text, images=images, details=result.details)
