"""What clients get is within what they take, and every cut is told."""

import base64
import json
import random
import re
import struct
import zlib
from pathlib import Path
from typing import Any

import jsonschema  # type: ignore[import-untyped]  # it has no types
import pytest
from mcp_types import CallToolResult, ImageContent, TextContent

from pisces.mcp.results.limits import NOTES_BYTES, TEXT_BYTES, WHOLE_BYTES
from pisces.mcp.results.protocol import Results
from pisces.mcp.results.structured import structured_schema
from pisces.model.cells import CellRecord
from pisces.model.mime import PNG, SVG
from pisces.model.notebooks import NotebookCellInfo, NotebookDetails
from pisces.model.results import Details, ImageBlock, ImageOutput, TextBlock, ToolResult
from pisces.model.sessions import SessionDetails
from pisces.output.artifacts import ArtifactStore
from pisces.output.images import for_model
from tests.unit.output.pictures import encoded, png, png_of

pytestmark = pytest.mark.anyio

READ_WITH = "Read artifact {id}"


@pytest.fixture
def artifacts(tmp_path: Path) -> ArtifactStore:
    return ArtifactStore(tmp_path)


async def sent(artifacts: ArtifactStore, result: ToolResult, *, with_data: bool = True) -> CallToolResult:
    """What the client gets, after it has been found to be within the limits."""
    made = await Results(artifacts, READ_WITH).protocol_result(result, "python", with_data=with_data)
    whole = made.model_dump_json(by_alias=True, exclude_none=True).encode("utf-8")
    assert len(whole) < WHOLE_BYTES
    assert sum(len(text.encode("utf-8")) for text in texts(made)) <= TEXT_BYTES + NOTES_BYTES
    if with_data:
        jsonschema.validate(json.loads(whole)["structuredContent"], structured_schema("notebook"))
        assert made.structured_content is not None
        assert made.structured_content["text"] == "\n\n".join(texts(made))
    return made


def texts(made: CallToolResult) -> list[str]:
    return [block.text for block in made.content if isinstance(block, TextContent)]


def pictures(made: CallToolResult) -> list[ImageContent]:
    return [block for block in made.content if isinstance(block, ImageContent)]


def kept(artifacts: ArtifactStore, note: str) -> str:
    """The artifact that a note names."""
    found = re.search(r"Read artifact (\d+)", note)
    assert found is not None, note
    return artifacts.read(found[1])


def noise(size: int) -> ImageBlock:
    """A picture that cannot be compressed."""
    numbers = random.Random(size)
    rows = b"".join(b"\x00" + numbers.randbytes(size) for _ in range(size))
    header = struct.pack(">IIBBBBB", size, size, 8, 0, 0, 0, 0)
    block = for_model(encoded(png_of(header, zlib.compress(rows, 0))), PNG)
    assert isinstance(block, ImageBlock)
    return block


async def test_an_ordinary_result_passes_as_it_is(artifacts: ArtifactStore) -> None:
    made = await sent(artifacts, ToolResult(content=[TextBlock("2")], details=Details(session="default")))
    assert texts(made) == ["2"]
    assert made.structured_content == {"outcome": "ok", "text": "2", "session": "default"}
    assert artifacts.files() == []


async def test_a_text_that_is_too_long_shows_both_ends_and_is_kept_whole(artifacts: ArtifactStore) -> None:
    whole = "\n".join(f"line {number}" for number in range(20_000))
    made = await sent(artifacts, ToolResult(content=[TextBlock(whole)]))
    shown, note = texts(made)
    assert shown.startswith("line 0\n")
    assert shown.endswith("\nline 19999")
    assert "bytes are left out here" in shown
    assert kept(artifacts, note) == whole + "\n"


async def test_displays_that_do_not_fit_are_left_out_and_kept_whole(artifacts: ArtifactStore) -> None:
    values = [{"number": number, "filling": "x" * 1500} for number in range(60)]
    blocks = [TextBlock(f"display[{i}]:\n{json.dumps(value)}") for i, value in enumerate(values, 1)]
    result = ToolResult(content=[TextBlock("(no text output)"), *blocks], details=Details(json_outputs=values))
    made = await sent(artifacts, result)
    *shown, note = texts(made)
    assert 20 < len(shown) < 30
    assert f"Left out: {61 - len(shown)} of 61 texts" in note
    assert '"number": 59' in kept(artifacts, note)


async def test_a_display_that_the_tool_has_cut_is_kept_whole(artifacts: ArtifactStore) -> None:
    value = ["x" * 100] * 200
    block = TextBlock(f"display[1]:\n{json.dumps(value)[:8000]}\n[… more characters of JSON]")
    result = ToolResult(content=[TextBlock("(no text output)"), block], details=Details(json_outputs=[value]))
    note = texts(await sent(artifacts, result))[-1]
    assert note.startswith("[Not every display is whole. ")
    assert json.loads(kept(artifacts, note).partition("\n")[2]) == value


async def test_pictures_share_the_room_and_the_originals_are_kept(artifacts: ArtifactStore) -> None:
    large, small = noise(800), noise(30)
    as_it_came = png(901, 901)
    came = [ImageOutput(PNG, encoded(as_it_came), 0), ImageOutput(PNG, small.data, 0)]
    result = ToolResult(content=[TextBlock("(no text output)"), large, small], details=Details(images=came))
    assert len(large.data) > 700_000
    made = await sent(artifacts, result)
    shown = pictures(made)
    assert len(shown) == 2
    assert len(shown[0].data) < 700_000
    assert shown[1].data == small.data
    note = texts(made)[-1]
    assert "Made smaller: picture 1 of 2" in note
    assert "picture 1 is artifact 1" in note
    assert artifacts.path("1").read_bytes() == as_it_came


async def test_pictures_beyond_what_a_model_looks_at_are_left_out_and_kept(artifacts: ArtifactStore) -> None:
    every = [noise(20 + number) for number in range(11)]
    made = await sent(artifacts, ToolResult(content=[TextBlock("eleven"), *every]))
    assert [picture.data for picture in pictures(made)] == [picture.data for picture in every[:8]]
    assert "Left out: pictures 9, 10, 11 of 11" in texts(made)[-1]
    assert [base64.b64encode(artifacts.path(str(n)).read_bytes()).decode() for n in (1, 2, 3)] == [
        picture.data for picture in every[8:]
    ]
    assert made.structured_content is not None
    assert made.structured_content["images"] == 8


async def test_a_picture_that_cannot_be_shown_is_kept(artifacts: ArtifactStore) -> None:
    raw = png(30_000, 2_000)
    block = for_model(encoded(raw), PNG)
    assert isinstance(block, TextBlock)
    assert "too many" in block.text
    result = ToolResult(
        content=[TextBlock("(no text output)"), block], details=Details(images=[ImageOutput(PNG, encoded(raw), 0)])
    )
    made = await sent(artifacts, result)
    assert texts(made)[1] == block.text
    assert texts(made)[2].startswith("[A picture that cannot be shown: artifact 1 (in ")
    assert artifacts.path("1").read_bytes() == raw


async def test_a_drawing_that_is_only_kept_is_told(artifacts: ArtifactStore) -> None:
    number = artifacts.add_bytes("default", "python", b"<svg/>", extension="svg")
    drawing = ImageOutput(SVG, "", 0, artifact_id=number)
    made = await sent(artifacts, ToolResult(content=[TextBlock("(no text output)")], details=Details(images=[drawing])))
    assert texts(made)[-1] == f"[image/svg+xml: artifact {number}. Read artifact {number} for its source]"


async def test_pictures_and_text_that_is_all_escapes_stay_below_a_megabyte_together(artifacts: ArtifactStore) -> None:
    cells = [NotebookCellInfo(cell_index=i, cell_type="code", cell_source="\x01" * 900) for i in range(100)]
    details = NotebookDetails(action="read", notebook_path="n.ipynb", total_cells=100, cells=cells)
    every = [noise(700) for _ in range(8)]
    made = await sent(artifacts, ToolResult(content=[TextBlock("\x01" * 90_000), *every], details=details))
    assert len(pictures(made)) == 8


async def test_lists_of_data_lose_their_end_and_are_kept_whole(artifacts: ArtifactStore) -> None:
    cells = [NotebookCellInfo(cell_index=i, cell_type="code", cell_source="pass  # " + "x" * 900) for i in range(500)]
    details = NotebookDetails(action="read", notebook_path="n.ipynb", total_cells=500, cells=cells)
    made = await sent(artifacts, ToolResult(content=[TextBlock("500 cells")], details=details))
    assert made.structured_content is not None
    shown = made.structured_content["details"]["cells"]
    assert 50 < len(shown) < 200
    assert shown[0]["cell_index"] == 0
    assert f"`details.cells` {len(shown)} of 500" in texts(made)[-1]
    assert len(json.loads(kept(artifacts, texts(made)[-1]))["details"]["cells"]) == 500


async def test_a_long_list_of_cells_is_cut_to_what_its_schema_allows(artifacts: ArtifactStore) -> None:
    records = [CellRecord(index=i, title="a title " * 20, code="", status="complete") for i in range(2000)]
    made = await sent(artifacts, ToolResult(content=[TextBlock("2")], details=Details(cells=records)))
    assert re.search(r"`cells` \d+ of 2000", texts(made)[-1])


@pytest.mark.parametrize("levels", [100, 300, 5000])
async def test_data_that_is_nested_too_deeply_does_not_break_the_message(artifacts: ArtifactStore, levels: int) -> None:
    nested: Any = "the bottom"
    for _ in range(levels):
        nested = [nested]
    cell = NotebookCellInfo(cell_index=0, cell_type="code", outputs=[{"data": nested}])
    details = NotebookDetails(action="read", notebook_path="n.ipynb", total_cells=1, cells=[cell])
    made = await sent(artifacts, ToolResult(content=[TextBlock("1 cell")], details=details))
    assert "The structured content is not whole" in texts(made)[-1]


async def test_the_result_of_a_job_is_within_the_limits_too(artifacts: ArtifactStore) -> None:
    value = ["x" * 100] * 200
    block = TextBlock(f"display[1]:\n{json.dumps(value)[:8000]}\n[… more characters of JSON]")
    details = SessionDetails(action="wait", result=Details(json_outputs=[value], session="other"))
    note = texts(await sent(artifacts, ToolResult(content=[TextBlock("[job-1]"), block], details=details)))[-1]
    assert json.loads(kept(artifacts, note).partition("\n")[2]) == value


async def test_what_cannot_be_kept_is_told(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("", encoding="utf-8")
    made = await sent(ArtifactStore(tmp_path / "file"), ToolResult(content=[TextBlock("x" * 90_000)]))
    assert "It could not be kept: " in texts(made)[-1]


async def test_without_data_the_text_is_bounded_the_same(artifacts: ArtifactStore) -> None:
    made = await sent(artifacts, ToolResult(content=[TextBlock("é" * 90_000)], is_error=True), with_data=False)
    assert made.structured_content is None
    assert made.is_error
    assert kept(artifacts, texts(made)[-1]) == "é" * 90_000 + "\n"


async def test_halves_of_characters_do_not_break_the_message(artifacts: ArtifactStore) -> None:
    details = Details(session="s\udc80", cells=[CellRecord(index=0, title="t\ud800", code="", status="complete")])
    made = await sent(artifacts, ToolResult(content=[TextBlock("a\ud83d b")], details=details))
    assert texts(made) == ["a? b"]
