"""A picture that was kept is shown as one."""

import pytest

from pisces.model.results import ImageBlock
from pisces.runtime import Runtime
from tests.unit.output.pictures import encoded, png

pytestmark = pytest.mark.anyio


async def test_output_shows_a_picture_that_was_kept(runtime: Runtime) -> None:
    raw = png(20, 10)
    number = runtime.artifacts.add_bytes("default", "python", raw, extension="png")
    result = await runtime.session("output", id=number)
    assert result.text.startswith(f"Artifact {number}: image/png, ")
    assert str(runtime.artifacts.path(number)) in result.text
    assert result.content[1] == ImageBlock(encoded(raw), "image/png")


async def test_a_picture_that_is_broken_says_why_it_is_not_shown(runtime: Runtime) -> None:
    number = runtime.artifacts.add_bytes("default", "python", b"\x89PNG\r\n\x1a\n", extension="png")
    result = await runtime.session("output", id=number)
    assert "cannot be shown" in result.content[1].text  # type: ignore[union-attr]  # a text, or this test fails
