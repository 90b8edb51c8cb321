"""The action `output` of the `session` tool: an artifact of any size and shape can be read to its end."""

import pytest

from pisces.output.artifact_text import READ_LIMIT
from pisces.runtime import Runtime

pytestmark = pytest.mark.anyio


async def test_an_artifact_that_is_too_large_for_one_read_is_shown_from_its_beginning(runtime: Runtime) -> None:
    line = b"x" * 99 + b"\n"
    data = b"first\n" + line * (READ_LIMIT // 100 + 1)
    number = runtime.artifacts.add_bytes("default", "python", data, extension="log")
    result = await runtime.session("output", id=number)
    assert not result.is_error, result.text
    assert result.text.startswith("first\nxxx")
    shown = result.text.count("\n")
    assert f'go on with lines: "{shown + 1}-"' in result.text


async def test_a_line_that_is_too_long_is_told_with_what_has_all_of_it(runtime: Runtime) -> None:
    number = runtime.artifacts.add_bytes("default", "python", b"x" * 200_000, extension="log")
    result = await runtime.session("output", id=number)
    assert f"the line goes on: use `search`, or output({number}) in a cell" in result.text
