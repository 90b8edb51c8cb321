"""A picture as large as the screen: whatever its data is, the app goes on."""

import base64
import struct
import sys
import zlib
from pathlib import Path

import pytest
from textual.app import App

import pisces.tui
from pisces.render.blocks import Image
from pisces.tui.panels.picture import PictureScreen


def _chunk(kind: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


def _png(width: int, height: int, pixels: bytes = b"") -> Image:
    """A picture in grey whose header is good, with these compressed pixels or good ones."""
    header = _chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0))
    data = _chunk(b"IDAT", pixels or zlib.compress((b"\0" + b"\x80" * width) * height))
    raw = b"\x89PNG\r\n\x1a\n" + header + data + _chunk(b"IEND", b"")
    return Image("image/png", base64.b64encode(raw).decode(), width, height)


BROKEN = _png(90, 90, b"no pixels")


async def _shown(image: Image) -> str:
    app: App[None] = App(css_path=Path(pisces.tui.__file__).with_name("app.tcss"))
    async with app.run_test(size=(60, 12)) as pilot:
        app.push_screen(PictureScreen(image))
        await pilot.pause()
        lines = app.screen._compositor.render_strips()
        return "\n".join("".join(segment.text for segment in line) for line in lines)


@pytest.fixture(params=[False, True], ids=["half blocks", "pictures"])
def _terminal(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """One that shows no pictures, and one that does: there `get_ready` has loaded the library."""
    if request.param:
        import textual_image.widget  # noqa: F401 - see above
    else:
        monkeypatch.delitem(sys.modules, "textual_image.widget", raising=False)


@pytest.mark.usefixtures("_terminal")
@pytest.mark.filterwarnings("ignore:Image.Image.getdata:DeprecationWarning")  # It is the library that calls it.
@pytest.mark.parametrize("size", [(90, 90), (8, 8), (1, 1), (3000, 3), (3, 3000)])
async def test_a_picture_is_shown_however_small_or_flat_it_is(size: tuple[int, int]) -> None:
    shown = await _shown(_png(*size))
    assert "cannot be shown" not in shown
    assert "▀" in shown or size == (90, 90)


@pytest.mark.usefixtures("_terminal")
async def test_a_picture_with_broken_data_is_named_in_its_place() -> None:
    assert "[image/png 90x90] cannot be shown" in await _shown(BROKEN)


async def test_without_colours_a_picture_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    monkeypatch.delitem(sys.modules, "textual_image.widget", raising=False)
    shown = await _shown(_png(90, 90))
    assert "[image/png 90x90]" in shown
    assert "▀" not in shown
