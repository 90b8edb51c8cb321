"""One call of a tool by a client: whose it is, how it is stopped, and what is told meanwhile."""

from collections import Counter
from collections.abc import Collection, Mapping
from typing import Any, Final

import anyio

from pisces.errors import PiscesError
from pisces.mcp.peer import Peer
from pisces.mcp.progress import CallProgress, Report
from pisces.mcp.results.limits import TEXT_BYTES
from pisces.model.results import ToolResult
from pisces.runtime import Runtime
from pisces.tools.base import CallContext, Tool, error_result, way_to_artifacts
from pisces.tools.untold import leave_untold

_MOST_AT_ONCE: Final = 256
"""Calls of one client that may run or wait: one that sends more than that has gone wrong."""


class Calls:
    """The calls that clients make of one runtime."""

    def __init__(self, runtime: Runtime, tools: Collection[str]) -> None:
        """`tools` are those that clients have."""
        self._runtime = runtime
        self._tools = tools
        self.read_with = way_to_artifacts(tools)
        """The way to an artifact that clients have, with `{id}` for its id."""
        self._open: Counter[str] = Counter()

    async def call(
        self, name: str, params: Mapping[str, Any], peer: Peer, report: Report | None, hung_up: anyio.Event | None
    ) -> ToolResult:
        """Carry out a call. Cancelling it, or setting `hung_up`, stops the cell and keeps the state.

        It comes back when the cell has settled, and what became of the state is told with the next call. `report` is
        None where nobody asked how it goes. Raises `KeyError` when there is no such tool.
        """
        if self._open[peer.owner] >= _MOST_AT_ONCE:
            return error_result(f"{_MOST_AT_ONCE} calls are waiting already. Wait for some of them, then try again.")
        self._open[peer.owner] += 1
        try:
            progress = None if report is None else CallProgress(report)
            return await self._carry_out(name, params, peer, progress, hung_up or anyio.Event())
        finally:
            self._open -= Counter((peer.owner,))  # Without those that have none: clients come and go.
            if not peer.stays:
                self._runtime.pool.disconnect(peer.owner)

    async def _carry_out(
        self, name: str, params: Mapping[str, Any], peer: Peer, progress: CallProgress | None, abort: anyio.Event
    ) -> ToolResult:
        context = CallContext(
            owner=peer.owner,
            caller=peer.caller,
            default_session=peer.default_session,
            on_update=None if progress is None else progress.update,
            abort=abort,
            unread=abort.is_set,
            read_with=self.read_with,
            max_text=TEXT_BYTES,
            tools=self._tools,
        )
        tool = self._runtime.tools[name]
        results: list[ToolResult] = []
        settled = anyio.Event()

        async def work() -> None:
            # Shielded, so that a cell which is to stop gets to settle and its result is known, whoever waits for it.
            with anyio.CancelScope(shield=True):
                try:
                    results.append(await _result_of(tool, params, context))
                finally:
                    settled.set()

        try:
            async with anyio.create_task_group() as group:
                group.start_soon(work)
                if progress is not None:
                    group.start_soon(progress.tell)
                try:
                    await settled.wait()
                except anyio.get_cancelled_exc_class():
                    abort.set()
                    raise
                group.cancel_scope.cancel()
        finally:
            if results and abort.is_set():  # Perhaps only since the session went on to its next call.
                leave_untold(self._runtime.pool, results[0], peer.owner)
        return results[0]


async def _result_of(tool: Tool, params: Mapping[str, Any], context: CallContext) -> ToolResult:
    """As `Runtime.tool`, which would give it a task of its own: it has one here."""
    try:
        return await tool.call(params, context)
    except PiscesError as error:
        return error_result(error.explain())
