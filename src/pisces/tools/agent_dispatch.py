"""From the calls that a model asks for to the results that its API wants back."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

import anyio
import msgspec

from pisces.errors import InvalidCall
from pisces.model.results import ToolResult
from pisces.tools.agent_calls import AgentCall, answer, read_call
from pisces.tools.agent_schemas import Kind, ToolRuntime, offered, schemas
from pisces.tools.base import CallContext, error_result, way_to_artifacts
from pisces.tools.registry import BUILT_IN

_RUN_CELLS: Final = frozenset({"python", "eval", "notebook"})

_Lane = list[tuple[int, AgentCall]]
"""Calls to be carried out one after the other, each with its place among all."""


class Dispatcher:
    """The tools of a runtime for an agent of your own.

        tools = Dispatcher(rt)
        reply = await client.messages.create(tools=tools.schemas("anthropic"), messages=messages, …)
        results = await tools.dispatch_all(reply.content)

    Only the tools that it was made with can be called, whatever a model asks for. A call that is wrong or fails is a
    result that says so; nothing is raised for what a model does.
    """

    def __init__(
        self, runtime: ToolRuntime, tools: Iterable[str] | None = None, *, context: CallContext | None = None
    ) -> None:
        """`tools` are as those of `schemas`. `context` says who calls, and which session is meant when none is named.

        Raises `InvalidCall` for a tool that there is not, and for a runtime that has not been entered.
        """
        self._runtime = runtime
        self._chosen = None if tools is None else offered(runtime, tools)
        self._context = _for_tools(context or CallContext(), self.tools)

    @property
    def tools(self) -> tuple[str, ...]:
        """The names of the tools that can be called; without a choice, also of functions that are registered later."""
        return offered(self._runtime, None) if self._chosen is None else self._chosen

    def schemas(self, kind: Kind) -> list[dict[str, Any]]:
        """These tools, as `pisces.tools.schemas` describes them."""
        return schemas(kind, self.tools, runtime=self._runtime)

    async def dispatch(self, call: Any) -> dict[str, Any]:
        """Carry out one call, and return what its API wants back. Raises `InvalidCall` for what is no call at all.

        A call is a `tool_use` block of Anthropic, answered by a `tool_result`; a `function_call` of OpenAI's Responses,
        answered by a `function_call_output`; one of the `tool_calls` of Chat Completions, answered by a message of the
        role `tool`, which has no pictures; or the name and arguments of MCP. It may be an SDK's object or a dictionary.
        """
        asked = read_call(call)
        if asked is None:
            raise InvalidCall(f"This is no call of a tool: {call!r:.200}")
        return answer(asked, await self._result(asked))

    async def dispatch_all(self, items: Sequence[Any] | None) -> list[dict[str, Any]]:
        """Carry out every call among the items of a model's answer, and return the results in the order of the calls.

        `items` are Anthropic's `message.content`, OpenAI's `response.output`, or `message.tool_calls`, which may be
        None. What is no call is passed over, so that an empty list says that the model is done. Cells of different
        sessions, and your functions, run side by side; all else goes one after the other, in the order of the calls.
        """
        if items is not None and (isinstance(items, str | bytes | Mapping) or not isinstance(items, Sequence)):
            raise InvalidCall(
                f"A list of a model's items is needed, got {type(items).__name__}",
                hint="Give `message.content`, `response.output` or `message.tool_calls`.",
            )
        calls = [call for item in items or () if (call := read_call(item)) is not None]
        results: dict[int, ToolResult] = {}

        async def carry_out(lane: _Lane) -> None:
            for place, call in lane:
                results[place] = await self._result(call)

        for lanes in self._stages(calls):
            if len(lanes) == 1:
                await carry_out(lanes[0])
                continue
            async with anyio.create_task_group() as group:
                for lane in lanes:
                    group.start_soon(carry_out, lane)
        return [answer(call, results[place]) for place, call in enumerate(calls)]

    async def _result(self, call: AgentCall) -> ToolResult:
        if call.name not in (there := self.tools):
            return error_result(f"There is no tool {call.name!r}. Tools: {', '.join(there)}")
        try:
            params = call.params()
        except InvalidCall as error:
            return error_result(error.explain())
        return await self._runtime.tool(call.name, params, context=self._context)

    def _stages(self, calls: Sequence[AgentCall]) -> list[list[_Lane]]:
        """What runs side by side, and what comes after that: a command or a changed file may matter to what follows."""
        stages: list[dict[object, _Lane]] = [{}]
        for place, call in enumerate(calls):
            lane = self._lane(call, place)
            if lane is None:
                stages += [{None: [(place, call)]}, {}]
            else:
                stages[-1].setdefault(lane, []).append((place, call))
        return [list(stage.values()) for stage in stages if stage]

    def _lane(self, call: AgentCall, place: int) -> object:
        """What the call has to wait its turn for; None if for everything before it."""
        if call.name not in BUILT_IN:
            return place
        if call.name not in _RUN_CELLS:
            return None
        try:
            session = call.params().get("session")
        except InvalidCall:
            return place
        return session if isinstance(session, str) else self._context.default_session


def _for_tools(context: CallContext, tools: Sequence[str]) -> CallContext:
    """Tell of ways that a model with these tools has: to a whole output, unless the caller knows a better one."""
    default = context.read_with == CallContext().read_with
    read_with = way_to_artifacts(tools) if default else context.read_with
    return msgspec.structs.replace(context, read_with=read_with, tools=tools)
