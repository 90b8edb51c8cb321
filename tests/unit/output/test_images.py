"""Pictures for a model: small ones untouched, large ones scaled, broken ones told."""

import base64
import io
import random
import struct

import pytest
from PIL import Image

from pisces.model.results import ImageBlock, TextBlock
from pisces.output.images import MAX_ENCODED, MAX_SIDE, for_model, inspect
from tests.unit.output.pictures import encoded, png, png_of


def opened(block: ImageBlock | TextBlock) -> Image.Image:
    assert isinstance(block, ImageBlock), block
    picture = Image.open(io.BytesIO(base64.b64decode(block.data)))
    assert picture.get_format_mimetype() == block.mime_type
    return picture


def saved(picture: Image.Image, kind: str) -> str:
    buffer = io.BytesIO()
    picture.save(buffer, format=kind)
    return encoded(buffer.getvalue())


def test_a_small_picture_passes_untouched() -> None:
    data = encoded(png(10, 20))
    assert for_model(data, "image/png") == ImageBlock(data=data, mime_type="image/png")


@pytest.mark.parametrize(("kind", "mime"), [("PNG", "image/png"), ("JPEG", "image/jpeg")])
@pytest.mark.parametrize("size", [(4000, 1000), (1000, 4000), (MAX_SIDE + 1, 1)])
def test_the_longest_side_is_scaled_down(kind: str, mime: str, size: tuple[int, int]) -> None:
    picture = opened(for_model(saved(Image.new("RGB", size, "red"), kind), mime))
    assert max(picture.size) == MAX_SIDE
    assert picture.size[0] / picture.size[1] == pytest.approx(size[0] / size[1], rel=0.01) or min(picture.size) == 1


@pytest.mark.parametrize("mode", ["1", "L", "LA", "P", "RGBA", "I;16"])
def test_a_png_of_any_kind_can_be_scaled(mode: str) -> None:
    assert max(opened(for_model(saved(Image.new(mode, (2000, 10)), "PNG"), "image/png")).size) == MAX_SIDE


def test_sixteen_bits_of_grey_stay_grey() -> None:
    picture = opened(for_model(saved(Image.new("I;16", (2000, 10), 0x8000), "PNG"), "image/png"))
    assert picture.convert("L").getpixel((5, 5)) == 0x80


@pytest.mark.parametrize("mode", ["L", "CMYK"])
def test_a_jpeg_of_any_kind_can_be_scaled(mode: str) -> None:
    assert max(opened(for_model(saved(Image.new(mode, (2000, 10)), "JPEG"), "image/jpeg")).size) == MAX_SIDE


def test_a_picture_that_is_hard_to_compress_still_fits() -> None:
    noise = Image.frombytes("RGBA", (1200, 1200), random.Random(1).randbytes(1200 * 1200 * 4))
    block = for_model(saved(noise, "PNG"), "image/png")
    assert opened(block).format == "JPEG"
    assert isinstance(block, ImageBlock)
    assert len(block.data) <= MAX_ENCODED


def test_a_wrong_label_is_put_right() -> None:
    block = for_model(encoded(png(3, 3)), "image/jpeg")
    assert isinstance(block, ImageBlock)
    assert block.mime_type == "image/png"


def test_a_bomb_is_not_opened() -> None:
    bomb = png_of(struct.pack(">IIBBBBB", 60000, 60000, 8, 0, 0, 0, 0), b"")
    assert for_model(encoded(bomb), "image/png") == TextBlock(
        text="[image/png cannot be shown: 60000 x 60000 pixels are too many to scale it down]"
    )


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        ("", "the data is neither PNG nor JPEG"),
        ("####", "its base64 is broken"),
        ("漢字", "its base64 is broken"),
        (encoded(b"GIF89a"), "the data is neither PNG nor JPEG"),
        (encoded(b"\x89PNG\r\n\x1a\n"), "its header is broken"),
        (encoded(b"\xff\xd8\xff\xe0" + b"\x00" * 50), "its header is broken"),
        (encoded(b"\xff\xd8\xff\xff\xff"), "its header is broken"),
        (encoded(png(2, 2)[:40]), "the data ends too early"),
        (encoded(png_of(struct.pack(">IIBBBBB", 0, 5, 8, 0, 0, 0, 0), b"")), "its header is broken"),
        (encoded(png_of(struct.pack(">IIBBBBB", 3000, 5, 8, 0, 0, 0, 0), b"rubbish")), "it cannot be decoded"),
        (encoded(png_of(struct.pack(">IIBBBBB", 3000, 5, 99, 99, 0, 0, 0), b"")), "it cannot be decoded"),
    ],
)
def test_a_broken_picture_becomes_a_note(data: str, reason: str) -> None:
    block = for_model(data, "image/png")
    assert isinstance(block, TextBlock)
    assert block.text.startswith(f"[image/png cannot be shown: {reason}"), block.text


def test_the_size_of_a_jpeg_is_read_from_its_frame() -> None:
    raw = base64.b64decode(saved(Image.new("RGB", (31, 17)), "JPEG"))
    assert (inspect(raw).width, inspect(raw).height) == (31, 17)
