"""Wrong parameters are one clear error each, with the value and what to do; nothing is run."""

import math
from pathlib import Path
from typing import Any

import anyio.lowlevel
import pytest

from pisces.errors import InvalidCall
from pisces.kernels.memory import MemoryBackend
from pisces.runtime import Runtime
from pisces.tools.base import CallContext
from tests.fakes.runtimes import scripted_runtime

CELLS = [{"code": "1"}]


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({}, '`cells` is missing: give at least one cell, as [{"code": "…"}]'),
        ({"cells": []}, "Wrong value for `cells`: Expected `array` of length >= 1, got []"),
        ({"cells": "1"}, 'Wrong value for `cells`: Expected `array | null`, got "1"'),
        ({"cells": [{}]}, "Wrong value for `cells[0]`: Object missing required field `code`, got {}"),
        ({"cells": [{"code": 1}]}, "Expected `str`, got 1"),
        ({"cells": [{"code": "1", "lang": "py"}]}, "unknown field `lang`"),
        ({"cells": CELLS, "timeout": "x"}, 'Wrong value for `timeout`: Expected `float | null`, got "x"'),
        ({"cells": CELLS, "timeout": math.nan}, "Wrong value for `timeout`: a number of seconds is needed, got NaN"),
        ({"cells": CELLS, "timeout": True}, "Wrong value for `timeout`"),
        ({"cells": CELLS, "reset": "yes"}, 'Wrong value for `reset`: Expected `bool`, got "yes"'),
        ({"cells": CELLS, "session": ""}, 'Wrong value for `session`: Expected `str` of length >= 1, got ""'),
        ({"cells": CELLS, "session": "s" * 201}, "Wrong value for `session`: Expected `str` of length <= 200"),
        ({"cells": CELLS, "session": " "}, "`session`: a name that can be shown on one line is needed, got ' '"),
        ({"cells": CELLS, "session": "a\nb"}, "a name that can be shown on one line is needed, got 'a\\nb'"),
        ({"cells": CELLS, "session": "\x1b[31mred"}, "a name that can be shown on one line is needed"),
        ({"cells": CELLS, "timeut": 3}, "Unknown parameter `timeut`. Did you mean `timeout`? Parameters: cells, code,"),
        ({"cells": CELLS, "background": 1}, "Wrong value for `background`: Expected `bool`, got 1"),
        ({"cells": CELLS, "code": "1"}, "Give either `cells` or `code`, not both"),
        ({"code": "1", "cwd": ".", "workdir": "."}, "Give either `cwd` or `workdir`, not both"),
        ({"code": "1", "cwd": "a\0b"}, "Wrong value for `cwd`: 'a\\x00b' cannot be used as a folder"),
        ({"code": "1", "cwd": "~nobody-of-that-name/x"}, "Wrong value for `cwd`: '~nobody-of-that-name/x' cannot be"),
        ({"code": "1", "workdir": "x" * 5000}, "cannot be used as a folder"),
        ({"code": "1", "kernel": "a\0b"}, "a"),
        ({"code": "1", "kernel": "x" * 5000}, "xxx"),
    ],
)
async def test_wrong_parameters_are_refused_and_nothing_is_run(
    tmp_path: Path, params: dict[str, Any], message: str
) -> None:
    backend = MemoryBackend({"1": []})
    async with scripted_runtime(backend, tmp_path) as runtime:
        result = await runtime.tool("python", params)
    assert result.is_error
    assert result.text.startswith("Error: ")
    assert message in result.text
    assert result.details is None
    assert len(result.content) == 1
    assert backend.kernels == []


async def test_the_library_raises_for_wrong_parameters_only(tmp_path: Path) -> None:
    async with scripted_runtime({}, tmp_path) as runtime:
        with pytest.raises(InvalidCall, match="NaN"):
            await runtime.python(code="1", timeout=math.nan)
        with pytest.raises(InvalidCall, match="does not exist"):
            await runtime.python(code="1", cwd="nowhere")
        result = await runtime.python(code="1")
    assert result.is_error
    assert "KeyError" in result.text


@pytest.mark.parametrize(
    ("asked", "given", "attended"),
    [
        (math.inf, 600, 7 * 86_400),
        (10_000, 600, 10_000),
        (-1, 1, 1),
        (None, 30, 30),
    ],
)
async def test_any_number_of_seconds_is_brought_into_the_range(
    tmp_path: Path, asked: float | None, given: float, attended: float
) -> None:
    async with scripted_runtime({"1": []}, tmp_path) as runtime:
        tool: Any = runtime.tools["python"]
        assert tool._timeout(asked, CallContext(), waited_for=True) == given
        assert tool._timeout(asked, CallContext(attended=True), waited_for=True) == attended


async def test_a_tool_that_is_not_there_is_refused_with_those_that_are(tmp_path: Path) -> None:
    async with scripted_runtime({}, tmp_path) as runtime:
        result = await runtime.tool("pyton", {})
    tools = "python, bash, eval, session, notebook, read, write, edit"
    assert result.text == f"Error: There is no tool 'pyton'. Tools: {tools}"


async def test_a_runtime_that_was_not_entered_says_so(tmp_path: Path) -> None:
    result = await scripted_runtime({}, tmp_path).tool("python", {"code": "1"})
    assert "async with Runtime()" in result.text


async def test_parameters_that_are_no_object_are_refused(tmp_path: Path) -> None:
    async with scripted_runtime({}, tmp_path) as runtime:
        result = await runtime.tool("python", ["1"])  # type: ignore[arg-type]
    assert result.text == 'Error: Parameters must be an object, got ["1"]'


async def test_the_schema_names_every_parameter_but_second_names_and_forbids_others(tmp_path: Path) -> None:
    async with scripted_runtime({}, tmp_path) as runtime:
        tool = runtime.tools["python"]
    assert set(tool.schema["properties"]) == {
        "cells", "code", "timeout", "cwd", "reset", "session", "kernel", "background"
    }  # fmt: skip
    assert tool.schema["additionalProperties"] is False
    assert tool.schema["properties"]["cells"]["items"]["required"] == ["code"]
    assert "Cells" in tool.description


async def test_an_interpreter_that_is_not_there_is_told_with_its_name(tmp_path: Path) -> None:
    async with scripted_runtime({"1": []}, tmp_path) as runtime:
        result = await runtime.tool("python", {"code": "1", "kernel": "/nowhere/python"})
    assert result.is_error
    assert "/nowhere/python" in result.text


def test_run_is_the_one_off_for_synchronous_callers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    seen: dict[str, Any] = {}

    async def python(self: Runtime, **options: Any) -> str:
        seen.update(options, folder=self.cwd)
        await anyio.lowlevel.checkpoint()
        return "result"

    monkeypatch.setattr(Runtime, "python", python)
    from pisces import run

    assert run("1 + 1", cwd=tmp_path, timeout=3) == "result"  # type: ignore[comparison-overlap]
    assert seen == {"code": "1 + 1", "timeout": 3, "folder": tmp_path.resolve()}
