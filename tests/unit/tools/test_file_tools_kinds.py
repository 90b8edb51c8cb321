"""Files that are more than text: pictures, and notebooks as the text of their cells."""

import base64
import io
import json
import os
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import anyio
import pytest
from PIL import Image

from pisces.errors import InvalidCall
from pisces.model.files import EditDetails, ReadDetails, WriteDetails
from pisces.model.results import ImageBlock, TextBlock, ToolResult
from pisces.runtime import Runtime
from pisces.tools.base import CallContext
from tests.fakes.drive import PATIENCE
from tests.fakes.runtimes import scripted_runtime
from tests.unit.output.pictures import png


@pytest.fixture
async def runtime(tmp_path: Path) -> AsyncIterator[Runtime]:
    async with scripted_runtime({}, tmp_path) as entered:
        yield entered


async def ask(runtime: Runtime, tool: str, path: str, **params: Any) -> ToolResult:
    with anyio.fail_after(PATIENCE):
        return await runtime.tool(tool, {"path": path, **params}, context=CallContext(owner="me"))


def opened(block: object) -> Image.Image:
    assert isinstance(block, ImageBlock)
    return Image.open(io.BytesIO(base64.b64decode(block.data)))


async def test_a_picture_is_shown_as_it_is(runtime: Runtime, tmp_path: Path) -> None:
    data = png(40, 30)
    (tmp_path / "p.png").write_bytes(data)
    read = await ask(runtime, "read", "p.png")
    text, image = read.content
    assert text == TextBlock(f"p.png: image/png, 40 x 30 pixels, {len(data)} B")
    assert image == ImageBlock(base64.b64encode(data).decode(), "image/png")
    assert read.details == ReadDetails(
        path=str(tmp_path / "p.png"), kind="image", bytes=len(data), mime_type="image/png", width=40, height=30
    )


@pytest.mark.parametrize(("form", "mime"), [("GIF", "image/gif"), ("WEBP", "image/webp"), ("BMP", "image/bmp")])
async def test_other_pictures_are_converted(runtime: Runtime, tmp_path: Path, form: str, mime: str) -> None:
    Image.new("RGB", (20, 10), (255, 0, 0)).save(tmp_path / "picture", format=form)
    read = await ask(runtime, "read", "picture")
    assert read.text.startswith(f"picture: {mime}, 20 x 10 pixels, ")
    shown = opened(read.content[1])
    assert (shown.format, shown.size) == ("PNG", (20, 10))
    red = shown.convert("RGB").getpixel((5, 5))
    assert isinstance(red, tuple)
    assert (red[0] > 250, red[1] < 5) == (True, True)


async def test_a_large_picture_is_scaled_and_an_animation_shows_its_first_frame(
    runtime: Runtime, tmp_path: Path
) -> None:
    frames = [Image.new("RGB", (3000, 100), colour) for colour in ((255, 0, 0), (0, 255, 0))]
    frames[0].save(tmp_path / "a.gif", save_all=True, append_images=frames[1:])
    read = await ask(runtime, "read", "a.gif")
    assert read.text.endswith("the first of 2 frames")
    assert max(opened(read.content[1]).size) <= 1568


@pytest.mark.parametrize(
    "data", [png(40, 30)[:-20], b"GIF89a but no more", b"RIFF\0\0\0\0WEBPVP8 "], ids=["png", "gif", "webp"]
)
async def test_a_broken_picture_is_an_error_that_says_so(runtime: Runtime, tmp_path: Path, data: bytes) -> None:
    (tmp_path / "p").write_bytes(data)
    read = await ask(runtime, "read", "p")
    assert (read.is_error, read.text.startswith("Error: p cannot be shown: ")) == (True, True)


async def test_lines_of_a_picture_are_refused(runtime: Runtime, tmp_path: Path) -> None:
    (tmp_path / "p.png").write_bytes(png(4, 3))
    for selector in ("1-5", "raw"):
        read = await ask(runtime, "read", f"p.png:{selector}")
        assert (read.is_error, "is not text: PNG image" in read.text) == (True, True)


CELLS = "# %% [code] cell:0\nprint(1)\n# %% [markdown] cell:1\nwords\n"


@pytest.fixture
async def notebook(runtime: Runtime, tmp_path: Path) -> Path:
    wrote = await ask(runtime, "write", "n.ipynb", content=CELLS)
    assert isinstance(wrote.details, WriteDetails), wrote.text
    assert (wrote.details.kind, wrote.details.created, wrote.is_error) == ("notebook", True, False)
    return tmp_path / "n.ipynb"


def content(path: Path) -> bytes:
    return path.read_bytes()


def put(path: Path, data: bytes) -> None:
    path.write_bytes(data)


def sources(path: Path) -> list[str]:
    return ["".join(cell["source"]) for cell in json.loads(path.read_bytes())["cells"]]


async def test_a_notebook_is_written_and_read_as_the_text_of_its_cells(runtime: Runtime, notebook: Path) -> None:
    assert sources(notebook) == ["print(1)", "words"]
    read = await ask(runtime, "read", "n.ipynb")
    assert read.text == CELLS
    assert isinstance(read.details, ReadDetails)
    assert (read.details.kind, read.details.lines, read.details.bytes) == ("notebook", 4, len(content(notebook)))
    assert (await ask(runtime, "read", "n.ipynb:1-2")).text == "# %% [code] cell:0\nprint(1)\n"


async def test_an_edit_of_a_notebook_changes_its_cell_and_ends_with_the_notes(runtime: Runtime, notebook: Path) -> None:
    edited = await ask(runtime, "edit", "n.ipynb", old_text="print(1)", new_text="print(2)")
    assert edited.text.startswith("Replaced 1 occurrence in n.ipynb (line 2).\n")
    assert isinstance(edited.details, EditDetails)
    assert edited.details.notes
    assert edited.text.endswith("\n".join(edited.details.notes))
    assert sources(notebook) == ["print(2)", "words"]


async def test_a_text_that_is_no_notebook_changes_nothing(runtime: Runtime, notebook: Path) -> None:
    before = content(notebook)
    refused = await ask(runtime, "write", "n.ipynb", content="no marker\n")
    assert (refused.is_error, content(notebook)) == (True, before)
    refused = await ask(runtime, "edit", "n.ipynb", old_text="# %% [code] cell:0\n", new_text="")
    assert (refused.is_error, content(notebook)) == (True, before)


async def test_a_notebook_that_others_have_changed_is_not_overwritten(runtime: Runtime, notebook: Path) -> None:
    await ask(runtime, "read", "n.ipynb")
    theirs = content(notebook).replace(b"words", b"their words")
    put(notebook, theirs)
    refused = await ask(runtime, "write", "n.ipynb", content=CELLS)
    assert ("has changed on disk since you read it" in refused.text, content(notebook)) == (True, theirs)


async def test_raw_is_the_json_and_stays_json(runtime: Runtime, notebook: Path) -> None:
    text = content(notebook).decode()
    assert (await ask(runtime, "read", "n.ipynb:raw")).text == text
    assert (await ask(runtime, "read", "n.ipynb:raw:1-2")).text == "".join(text.splitlines(keepends=True)[:2])
    edited = await ask(runtime, "edit", "n.ipynb:raw", old_text='"words"', new_text='"other words"')
    assert (edited.is_error, sources(notebook)) == (False, ["print(1)", "other words"])
    before = content(notebook)
    broken = await ask(runtime, "edit", "n.ipynb:raw", old_text='"other words"', new_text='"other words')
    assert (broken.is_error, "would not be JSON" in broken.text, content(notebook)) == (True, True, before)
    broken = await ask(runtime, "write", "n.ipynb:raw", content="{")
    assert (broken.is_error, content(notebook)) == (True, before)
    assert not (await ask(runtime, "write", "n.ipynb:raw", content=text)).is_error
    assert content(notebook).decode() == text


async def test_an_edit_of_a_notebook_that_is_not_there_begins_with_an_empty_one(
    runtime: Runtime, tmp_path: Path
) -> None:
    made = await ask(runtime, "edit", "new/n.ipynb", old_text="", new_text="# %% [code]\nprint(1)\n")
    assert made.text == (
        "Made new/n.ipynb, a new file (lines 1-2).\n     1\t# %% [code]\n     2\tprint(1)\n"
        "Notebook now has 1 cells: 1 added."
    )
    assert isinstance(made.details, EditDetails)
    assert (made.details.kind, made.details.replacements) == ("notebook", 1)
    path = tmp_path / "new" / "n.ipynb"
    value = json.loads(content(path))
    assert (value["nbformat"], value["nbformat_minor"], sources(path)) == (4, 5, ["print(1)"])
    await ask(runtime, "write", "same.ipynb", content="# %% [code]\nprint(1)\n")
    assert [*value] == [*json.loads(content(tmp_path / "same.ipynb"))]
    # The caller has made all of it, and may write it anew.
    assert not (await ask(runtime, "write", "new/n.ipynb", content="")).is_error
    again = await ask(runtime, "edit", "new/n.ipynb", old_text="", new_text="# %% [raw]\nwords\n")
    assert again.text.startswith("Replaced 1 occurrence in new/n.ipynb (lines 1-2).")
    assert sources(path) == ["words"]


async def test_an_empty_old_text_is_refused_where_there_is_a_text(
    runtime: Runtime, notebook: Path, tmp_path: Path
) -> None:
    before = content(notebook)
    for path in ("n.ipynb", "n.ipynb:raw", "no.txt", "no.ipynb:raw"):
        with pytest.raises(InvalidCall, match="`old_text` is empty"):
            await runtime.tools["edit"].call({"path": path, "old_text": "", "new_text": "x"}, CallContext())
    missing = await ask(runtime, "edit", "no/no.ipynb", old_text="x", new_text="y")
    assert "File not found" in missing.text
    assert "an empty `old_text`" in missing.text
    wrong = await ask(runtime, "edit", "no/no.ipynb", old_text="", new_text="no marker")
    assert (wrong.is_error, "expected first line to be" in wrong.text) == (True, True)
    assert (content(notebook), sorted(os.listdir(tmp_path))) == (before, ["home", "n.ipynb"])
