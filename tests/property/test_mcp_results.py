"""Whatever a tool returns, its message is valid, within what clients take, and says of every cut."""

import json
import tempfile
from pathlib import Path
from typing import Any

import anyio
from hypothesis import example, given, settings
from hypothesis import strategies as st
from mcp_types import CallToolResult, ImageContent, TextContent

from pisces.mcp.results.limits import NOTES_BYTES, PICTURES, TEXT_BYTES, WHOLE_BYTES
from pisces.mcp.results.protocol import Results
from pisces.model.cells import CellRecord
from pisces.model.mime import PNG
from pisces.model.results import Block, Details, FunctionValue, ImageBlock, TextBlock, ToolResult
from pisces.output.artifacts import ArtifactStore
from tests.unit.output.pictures import encoded, png

CHARACTERS = st.characters(exclude_categories=())  # Halves of characters and controls too.
SHORT = st.text(CHARACTERS, max_size=40)
LONG = st.builds(lambda text, times: text * times, st.text(CHARACTERS, min_size=1, max_size=20), st.integers(0, 8000))
TEXTS = st.one_of(SHORT, LONG)
PICTURE = ImageBlock(encoded(png(8, 8)), PNG)
BLOCKS: st.SearchStrategy[Block] = st.one_of(st.builds(TextBlock, TEXTS), st.just(PICTURE))
VALUES: st.SearchStrategy[Any] = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), st.floats(), TEXTS),
    lambda inner: st.one_of(st.lists(inner, max_size=5), st.dictionaries(SHORT, inner, max_size=5)),
    max_leaves=20,
)
CELLS = st.builds(CellRecord, index=st.just(0), title=TEXTS, code=SHORT, status=st.just("complete"))
DETAILS = st.one_of(
    st.none(),
    st.builds(FunctionValue, VALUES),
    st.builds(Details, cells=st.lists(CELLS, max_size=3), session=SHORT, json_outputs=st.lists(VALUES, max_size=3)),
)
RESULTS = st.builds(ToolResult, content=st.lists(BLOCKS, max_size=14), details=DETAILS, is_error=st.booleans())


@settings(max_examples=60)
@given(result=RESULTS, with_data=st.booleans())
@example(ToolResult(content=[TextBlock("\x00" * 200_000)], details=FunctionValue(["\x00" * 300_000])), True)
@example(ToolResult(content=[TextBlock("\ud800" * 200_000)]), True)
def test_a_message_is_valid_small_and_says_of_every_cut(result: ToolResult, with_data: bool) -> None:
    with tempfile.TemporaryDirectory() as folder:
        artifacts = ArtifactStore(Path(folder))
        made = anyio.run(lambda: Results(artifacts, "Read {id}").protocol_result(result, "python", with_data=with_data))
        files = len(artifacts.files())
    whole = made.model_dump_json(by_alias=True, exclude_none=True).encode("utf-8")
    assert json.loads(whole)["isError"] is result.is_error
    assert len(whole) < WHOLE_BYTES
    texts = [block.text for block in made.content if isinstance(block, TextContent)]
    assert sum(len(text.encode("utf-8")) for text in texts) <= TEXT_BYTES + NOTES_BYTES
    given_texts = [block.text.encode("utf-8", "replace").decode("utf-8") for block in result.content
                   if isinstance(block, TextBlock)]  # fmt: skip
    unchanged = texts[: len(given_texts)] == given_texts and _pictures(made) == result.content.count(PICTURE)
    noted = bool(texts) and texts[-1].startswith("[") and texts[-1] not in given_texts
    assert unchanged or (noted and files), "something was cut without a word"
    assert _pictures(made) == min(PICTURES, result.content.count(PICTURE))
    if with_data:
        assert made.structured_content is not None
        assert made.structured_content["text"] == "\n\n".join(texts)


def _pictures(made: CallToolResult) -> int:
    return sum(isinstance(block, ImageContent) for block in made.content)
