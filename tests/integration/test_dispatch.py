"""The tools in an agent's loop: the calls of a model, carried out in real kernels, and answered as its API wants it."""

import base64
import json
import subprocess
import zlib
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import anyio
import pytest

from pisces.errors import InvalidCall
from pisces.runtime import Runtime
from pisces.tools import CallContext, Dispatcher
from tests.environments import interpreter_of
from tests.fakes.drive import PATIENCE, eventually
from tests.fakes.runtimes import runtime_on

UNTIL_IT_IS_THERE = f"""
import os, time
end = time.monotonic() + {PATIENCE}
while not os.path.exists("there") and time.monotonic() < end:
    time.sleep(0.01)
assert os.path.exists("there")
"""
CHECK_TYPES = """
import json, sys
from anthropic.types import ToolParam, ToolResultBlockParam
from openai.types.chat import ChatCompletionFunctionToolParam, ChatCompletionToolMessageParam
from openai.types.responses import FunctionToolParam
from openai.types.responses.response_input_param import FunctionCallOutput
from pydantic import TypeAdapter

schemas, results = json.load(sys.stdin)
kinds = {"anthropic": (ToolParam, ToolResultBlockParam), "openai": (FunctionToolParam, FunctionCallOutput)}
kinds["openai-chat"] = (ChatCompletionFunctionToolParam, ChatCompletionToolMessageParam)
for kind, (tool, result) in kinds.items():
    for given, wanted in ((schemas[kind], tool), (results[kind], result)):
        for each in given:
            unknown = set(each) - set(wanted.__annotations__)
            assert not unknown, (kind, unknown)
            TypeAdapter(wanted).validate_python(each, strict=True)
        print(kind, len(given))
"""


@pytest.fixture
async def runtime(tmp_path: Path, plain_python: str) -> AsyncIterator[Runtime]:
    async with runtime_on(plain_python, tmp_path) as made:
        yield made


def use(name: str, number: int = 1, /, **params: Any) -> dict[str, Any]:
    """A call as Anthropic's API has it."""
    return {"type": "tool_use", "id": f"toolu_{number}", "name": name, "input": params}


def function_call(arguments: str, name: str = "python") -> dict[str, Any]:
    """A call as OpenAI's Responses have it."""
    return {"type": "function_call", "call_id": "call_1", "name": name, "arguments": arguments}


def chat_call(arguments: str, name: str = "python") -> dict[str, Any]:
    """A call as Chat Completions have it."""
    return {"type": "function", "id": "call_1", "function": {"name": name, "arguments": arguments}}


def text(result: dict[str, Any]) -> str:
    """The text of an answer for Anthropic's API."""
    return "\n".join(block["text"] for block in result["content"] if block["type"] == "text")


async def dispatched(tools: Dispatcher, *calls: Any) -> list[dict[str, Any]]:
    with anyio.fail_after(PATIENCE * 2):
        return await tools.dispatch_all(calls)


def png() -> str:
    """A picture of one pixel, base64."""

    def chunk(kind: bytes, data: bytes) -> bytes:
        return len(data).to_bytes(4) + kind + data + zlib.crc32(kind + data).to_bytes(4)

    header = (1).to_bytes(4) * 2 + bytes([8, 2, 0, 0, 0])
    whole = chunk(b"IHDR", header) + chunk(b"IDAT", zlib.compress(b"\0\xff\0\0")) + chunk(b"IEND", b"")
    return base64.b64encode(b"\x89PNG\r\n\x1a\n" + whole).decode()


async def test_state_lasts_from_call_to_call_whatever_the_api(runtime: Runtime) -> None:
    tools = Dispatcher(runtime)
    (first,) = await dispatched(tools, use("python", code="x = 41"))
    assert (first["tool_use_id"], first["is_error"]) == ("toolu_1", False)
    (second,) = await dispatched(tools, function_call('{"code": "x + 1"}'))
    assert second["call_id"] == "call_1"
    assert second["output"].startswith("42")
    (third,) = await dispatched(tools, chat_call('{"code": "x + 2"}'))
    assert third["content"].startswith("43")
    fourth = await tools.dispatch({"name": "python", "arguments": {"code": "x + 3"}})
    assert fourth["content"][0]["text"].startswith("44")


async def test_a_cell_that_fails_is_an_error_and_bad_arguments_are_too(runtime: Runtime) -> None:
    tools = Dispatcher(runtime)
    failed, wrong = await dispatched(tools, use("python", code="1/0"), use("python", 2, cod="1"))
    assert (failed["is_error"], wrong["is_error"]) == (True, True)
    assert "ZeroDivisionError" in text(failed)
    assert text(wrong).startswith("Error: Unknown parameter `cod`. Did you mean `code`?")
    for bad in ('{"code": "x', "[]"):
        (response,) = await dispatched(tools, function_call(bad))
        assert response["output"].startswith("Error: The arguments ")
        (message,) = await dispatched(tools, chat_call(bad))
        assert message["content"].startswith("Error: The arguments ")


async def test_only_the_tools_that_were_offered_can_be_called(runtime: Runtime) -> None:
    assert "bash" in runtime.tools
    (refused,) = await dispatched(Dispatcher(runtime), use("bash", command="touch made"))
    assert (text(refused), refused["is_error"]) == (
        "Error: There is no tool 'bash'. Tools: python, notebook, session",
        True,
    )
    assert not (runtime.cwd / "made").exists()
    (done,) = await dispatched(Dispatcher(runtime, ("bash",)), use("bash", command="touch made"))
    assert not done["is_error"]
    assert (runtime.cwd / "made").exists()


async def test_sessions_run_side_by_side_and_results_keep_the_order_of_the_calls(runtime: Runtime) -> None:
    waits = use("python", 1, code=UNTIL_IT_IS_THERE + "'waited'", session="a", timeout=PATIENCE)
    makes = use("python", 2, code="open('there', 'wb').close(); 'made'", session="b")
    results = await dispatched(Dispatcher(runtime), {"type": "text", "text": "Let me see."}, waits, makes)
    assert [result["tool_use_id"] for result in results] == ["toolu_1", "toolu_2"]
    assert ["'waited'" in text(results[0]), "'made'" in text(results[1])] == [True, True]


async def test_calls_in_one_session_keep_their_order_whether_it_is_named_or_not(runtime: Runtime) -> None:
    context = CallContext(default_session="mine")
    codes = [("steps = ['a']", {}), ("steps.append('b')", {"session": "mine"}), ("steps", {})]
    calls = [use("python", number, code=code, **session) for number, (code, session) in enumerate(codes)]
    results = await dispatched(Dispatcher(runtime, context=context), *calls)
    assert text(results[-1]).startswith("['a', 'b']")
    assert (await runtime.python(code="steps", session="mine")).text.startswith("['a', 'b']")


async def test_what_may_matter_to_later_calls_is_done_before_them_and_after_earlier_ones(runtime: Runtime) -> None:
    tools = Dispatcher(runtime, ("python", "session", "bash"))
    results = await dispatched(
        tools,
        use("python", 1, code="x = 5; open('said', 'w', encoding='utf-8').write('hi')"),
        use("bash", 2, command="cat said"),
        use("session", 3, action="branch", to="other"),
        use("python", 4, code="x * 2", session="other"),
    )
    assert [result["is_error"] for result in results] == [False] * 4
    assert "hi" in text(results[1])
    assert text(results[3]).startswith("10")


async def test_functions_of_the_program_run_side_by_side(runtime: Runtime) -> None:
    met: list[str] = []
    both = anyio.Event()

    @runtime.register
    async def meet(name: str) -> str:
        """Wait for the other one."""
        met.append(name)
        if len(met) == 2:
            both.set()
        await both.wait()
        return f"{name} met"

    results = await dispatched(Dispatcher(runtime), use("meet", 1, name="a"), use("meet", 2, name="b"))
    assert [text(result) for result in results] == ["a met", "b met"]


async def test_cancelling_stops_the_cells_and_keeps_the_state(runtime: Runtime) -> None:
    tools = Dispatcher(runtime)
    code = "x = 7; open('{0}', 'wb').close(); import time; time.sleep(600)"
    calls = [use("python", code=code.format(session), session=session) for session in ("a", "b")]
    async with anyio.create_task_group() as group:
        group.start_soon(tools.dispatch_all, calls)
        await eventually(lambda: (runtime.cwd / "a").exists() and (runtime.cwd / "b").exists())
        group.cancel_scope.cancel()
    results = await dispatched(tools, *(use("python", code="x", session=session) for session in ("a", "b")))
    assert ["7" in text(result).splitlines() for result in results] == [True, True]


@pytest.mark.parametrize(
    ("names", "way"),
    [
        (None, 'Use the session tool with action "output" and id '),
        (("python",), "Use output("),
        (("python", "read", "session"), "Read artifact://"),
    ],
    ids=["usual", "python", "read"],
)
async def test_a_cut_output_tells_of_a_way_to_all_of_it_that_the_model_has(
    names: tuple[str, ...] | None, way: str, runtime: Runtime
) -> None:
    (result,) = await dispatched(Dispatcher(runtime, names), use("python", code="print('x\\n' * 9_000)"))
    assert way in text(result)


async def test_an_answer_without_calls_gives_an_empty_list(runtime: Runtime) -> None:
    tools = Dispatcher(runtime)
    assert await tools.dispatch_all(None) == []
    assert await dispatched(tools, {"type": "text", "text": "Done."}) == []
    with pytest.raises(InvalidCall, match="This is no call of a tool"):
        await tools.dispatch({"type": "text", "text": "Done."})
    for whole in ({"content": []}, "text", object()):
        with pytest.raises(InvalidCall, match="A list of a model's items is needed"):
            await tools.dispatch_all(whole)  # type: ignore[arg-type]  # what a program may get wrong


async def test_the_sdks_take_what_they_are_given(runtime: Runtime) -> None:
    tools = Dispatcher(runtime)
    show = f"import base64\nclass P:\n def _repr_png_(self): return base64.b64decode('{png()}')\nP()"
    arguments = [{"code": show}, {"code": "1/0"}, {"code": "pass"}, {}]
    results = {
        "anthropic": await dispatched(tools, *(use("python", **each) for each in arguments)),
        "openai": await dispatched(tools, *(function_call(json.dumps(each)) for each in arguments)),
        "openai-chat": await dispatched(tools, *(chat_call(json.dumps(each)) for each in arguments)),
    }
    assert [block["type"] for block in results["anthropic"][0]["content"]] == ["text", "image"]
    assert results["openai"][0]["output"][1]["image_url"].startswith("data:image/png;base64,iVBOR")
    described = {kind: tools.schemas(kind) for kind in ("anthropic", "openai", "openai-chat")}
    command = [interpreter_of("agents"), "-c", CHECK_TYPES]
    given = json.dumps([described, results])
    done = await anyio.to_thread.run_sync(
        lambda: subprocess.run(
            command, input=given, capture_output=True, text=True, encoding="utf-8", timeout=PATIENCE, check=False
        )
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines() == [f"{kind} {count}" for kind in described for count in (3, 4)]


@pytest.mark.parametrize("tool", ["python", "eval", "notebook"])
async def test_without_a_python_the_refusal_names_the_tools_that_work(tmp_path: Path, tool: str) -> None:
    (tmp_path / "n.ipynb").write_text(
        '{"cells": [{"cell_type": "code", "source": "1", "metadata": {}, "outputs": [], "execution_count": null}],'
        ' "metadata": {}, "nbformat": 4, "nbformat_minor": 4}',
        encoding="utf-8",
    )
    given: dict[str, dict[str, Any]] = {
        "python": {"code": "1"},
        "eval": {"cells": [{"language": "py", "code": "1"}]},
        "notebook": {"action": "run_all", "notebook_path": "n.ipynb"},
    }
    async with runtime_on(str(tmp_path / "no-python"), tmp_path) as runtime:
        (result,) = await dispatched(Dispatcher(runtime, (tool, "bash")), use(tool, **given[tool]))
    assert result["is_error"]
    named = "notebook (to read and edit), bash" if tool == "notebook" else "bash"
    assert text(result).endswith(f"\nTools that need no kernel: {named}.")
