"""Functions of the embedding program as tools: what they take, what they return, and what goes wrong."""

import asyncio
import enum
import logging
import threading
from functools import partial
from pathlib import Path
from typing import Annotated, Any, Literal

import anyio
import msgspec
import pytest

from pisces import Runtime
from pisces.errors import InvalidCall
from pisces.model.results import ImageBlock, TextBlock, ToolResult
from pisces.tools.base import CallContext
from pisces.tools.function_tool import FunctionTool
from tests.fakes.drive import PATIENCE, eventually
from tests.fakes.runtimes import scripted_runtime


class Colour(enum.Enum):
    RED = "red"


class Point(msgspec.Struct):
    x: int
    y: int = 0


def lookup(
    name: str,
    *,
    limit: Annotated[int, msgspec.Meta(ge=1, description="At most so many.")] = 3,
    kind: Literal["a", "b"] | None = None,
) -> list[str]:
    """Find things by name.

    The newest come first.
    """
    return [f"{name} {kind}"] * limit


async def called(tool: FunctionTool, abort: anyio.Event | None = None, **params: Any) -> ToolResult:
    with anyio.fail_after(PATIENCE):
        return await tool.call(params, CallContext(abort=abort))


def test_the_parameters_are_those_of_the_function() -> None:
    tool = FunctionTool(lookup)
    assert tool.name == "lookup"
    assert tool.description == "Find things by name.\n\nThe newest come first."
    assert tool.schema == {
        "type": "object",
        "properties": {
            "name": {"type": "string"},
            "limit": {"type": "integer", "minimum": 1, "description": "At most so many.", "default": 3},
            "kind": {"anyOf": [{"enum": ["a", "b"]}, {"type": "null"}]},
        },
        "required": ["name"],
        "additionalProperties": False,
    }


async def test_a_value_is_json_and_kept_as_it_is() -> None:
    result = await called(FunctionTool(lookup), name="x", limit=2, kind="a")
    assert (result.text, result.is_error) == ('["x a","x a"]', False)
    assert result.to_dict()["details"] == {"value": ["x a", "x a"]}


async def test_a_default_is_the_function_s_own() -> None:
    seen: list[Any] = []

    def remember(values: list[int] = seen) -> int:
        values.append(1)
        return len(values)

    tool = FunctionTool(remember)
    assert [(await called(tool)).text for _ in range(2)] == ["1", "2"]
    assert seen == [1, 1]


@pytest.mark.parametrize(
    ("params", "why"),
    [
        ({}, "missing required field `name`"),
        ({"name": 1}, "Wrong value for `name`: Expected `str`, got 1"),
        ({"name": "x", "limit": 0}, "Wrong value for `limit`: Expected `int` >= 1, got 0"),
        ({"name": "x", "limt": 1}, "Unknown parameter `limt`. Did you mean `limit`? Parameters: name, limit, kind"),
    ],
)
async def test_parameters_that_do_not_fit_are_refused_and_nothing_is_called(params: dict[str, Any], why: str) -> None:
    with pytest.raises(InvalidCall) as caught:
        await called(FunctionTool(lookup), **params)
    assert why in str(caught.value)


async def test_structures_and_enumerations_are_what_the_function_expects() -> None:
    def draw(points: list[Point], colour: Colour = Colour.RED, anything=None) -> str:  # type: ignore[no-untyped-def]  # noqa: ANN001 - a function without annotations is a case
        return f"{points} {colour} {anything}"

    result = await called(FunctionTool(draw), points=[{"x": 1}], colour="red", anything={"a": 1})
    assert result.text == "[Point(x=1, y=0)] Colour.RED {'a': 1}"


async def test_an_async_function_is_awaited_and_any_other_runs_in_a_thread() -> None:
    async def here() -> bool:
        return threading.current_thread() is threading.main_thread()

    def there() -> bool:
        return threading.current_thread() is threading.main_thread()

    def lazily() -> Any:
        return here()

    assert (await called(FunctionTool(here))).text == "true"
    assert (await called(FunctionTool(there))).text == "false"
    assert (await called(FunctionTool(lazily))).text == "true"


async def test_calls_that_wait_in_threads_keep_nobody_else_from_having_one() -> None:
    let_go = threading.Event()
    under_way: list[None] = []

    def waits() -> None:
        under_way.append(None)
        let_go.wait(PATIENCE)

    tool = FunctionTool(waits)
    usual = int(anyio.to_thread.current_default_thread_limiter().total_tokens)
    try:
        async with anyio.create_task_group() as group:
            for _ in range(usual):
                group.start_soon(called, tool)
            await eventually(lambda: len(under_way) == usual)
            with anyio.fail_after(PATIENCE / 2):
                await anyio.to_thread.run_sync(let_go.set)
    finally:
        let_go.set()


async def test_a_text_is_a_text_and_a_result_is_itself() -> None:
    whole = ToolResult(content=[TextBlock("seen"), ImageBlock("aGk=", "image/png")])
    assert (await called(FunctionTool(lambda: "plain", name="text"))).text == "plain"
    assert await called(FunctionTool(lambda: whole, name="whole")) is whole
    assert (await called(FunctionTool(lambda: None, name="none"))).text == "null"


async def test_what_it_raises_is_said_without_a_traceback_and_logged_with_one(caplog: pytest.LogCaptureFixture) -> None:
    def fail(x: int) -> float:
        return 1 / x

    result = await called(FunctionTool(fail), x=0)
    assert (result.text, result.is_error) == ("Error: ZeroDivisionError: division by zero", True)
    assert "Traceback" in caplog.text
    assert [record.levelno for record in caplog.records] == [logging.ERROR]


class Unsayable(Exception):
    def __str__(self) -> str:
        raise ValueError


@pytest.mark.parametrize(
    ("error", "text"),
    [(SystemExit(2), "SystemExit: 2"), (asyncio.CancelledError(), "CancelledError"), (Unsayable(), "Unsayable")],
    ids=["exit", "cancelled", "unsayable"],
)
@pytest.mark.parametrize("is_async", [False, True])
async def test_what_it_raises_never_ends_the_program(*, is_async: bool, error: BaseException, text: str) -> None:
    def fail() -> None:
        raise error

    async def fail_later() -> None:
        raise error

    result = await called(FunctionTool(fail_later if is_async else fail), anyio.Event())
    assert (result.text, result.is_error) == (f"Error: {text}", True)


@pytest.mark.parametrize("value", [object(), {1: object()}, "\ud800"])
async def test_a_value_that_is_no_json_is_an_error(value: Any) -> None:
    result = await called(FunctionTool(lambda: value, name="odd"))
    assert result.is_error
    assert result.text.startswith("Error: odd returned what cannot be sent as JSON: ")


async def test_an_abort_stops_a_coroutine_and_lets_a_thread_go() -> None:
    cancelled: list[str] = []
    under_way: list[str] = []
    let_go = threading.Event()

    async def waits() -> None:
        under_way.append("coroutine")
        try:
            await anyio.sleep_forever()
        except BaseException:
            cancelled.append("coroutine")
            raise

    def blocks() -> None:
        under_way.append("thread")
        let_go.wait(PATIENCE)

    for number, function in enumerate((waits, blocks), 1):
        abort = anyio.Event()
        results: list[ToolResult] = []

        async def run(function: Any = function, abort: anyio.Event = abort, results: list[Any] = results) -> None:
            results.append(await called(FunctionTool(function), abort))

        async with anyio.create_task_group() as group:
            group.start_soon(run)
            await eventually(partial(has, under_way, number))
            abort.set()
        assert results[0].text == f"Error: {function.__name__} was stopped before it had finished"
    let_go.set()
    assert cancelled == ["coroutine"]


def has(under_way: list[str], number: int) -> bool:
    return len(under_way) == number


def takes_anything(*args: int) -> None: ...
def takes_names(**names: int) -> None: ...
def takes_places(x: int, /) -> None: ...
def takes_a_socket(x: threading.Lock) -> None: ...
def takes_what_is_not_there(x: "Nowhere") -> None: ...  # type: ignore[name-defined]  # noqa: F821 - the case


@pytest.mark.parametrize(
    "function", [takes_anything, takes_names, takes_places, takes_a_socket, takes_what_is_not_there, lambda: 1]
)
def test_a_function_that_cannot_be_a_tool_is_refused_when_it_is_registered(function: Any, tmp_path: Path) -> None:
    runtime = scripted_runtime({}, tmp_path)
    with pytest.raises(InvalidCall):
        runtime.register(function)
    assert dict(runtime.tools) == {}


async def test_the_decorator_registers_before_and_after_entering(tmp_path: Path) -> None:
    runtime = scripted_runtime({}, tmp_path)
    registered = runtime.register(lookup)
    assert registered is lookup
    async with runtime:

        @runtime.register(name="add-up", description="Adds.")
        def add(a: int, b: int) -> int:
            return a + b

        assert add(1, 2) == 3
        assert {"lookup", "add-up", "python"} <= set(runtime.tools)
        assert runtime.tools["add-up"].description == "Adds."
        assert (await runtime.tool("add-up", {"a": 1, "b": 2})).text == "3"
        assert (await runtime.tool("lookup", {"name": 1})).text.startswith("Error: Wrong value for `name`")


@pytest.mark.parametrize("name", ["python", "bash", "notebook", "lookup", "model"])
def test_a_name_that_is_taken_is_refused(name: str, tmp_path: Path) -> None:
    runtime = Runtime(cwd=tmp_path, settings={"notebook.enabled": False})
    runtime.register(lookup)
    with pytest.raises(InvalidCall, match=f"There is a tool '{name}' already"):
        runtime.register(name=name)(lambda: 1)


@pytest.mark.parametrize("name", ["a b", "../x", "ä", "x" * 65])
def test_a_name_that_no_model_could_say_is_refused(name: str, tmp_path: Path) -> None:
    with pytest.raises(InvalidCall, match="cannot be the name of a tool"):
        Runtime(cwd=tmp_path).register(name=name)(lambda: 1)
