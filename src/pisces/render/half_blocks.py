"""Pictures in characters: each is two pixels, one above the other, so that rows can be scrolled like text."""

import base64
import io
import struct
import zlib
from collections.abc import Callable
from functools import lru_cache
from typing import TYPE_CHECKING, Final

from rich.color import Color
from rich.segment import Segment
from rich.style import Style

from pisces.output.images import MAX_PIXELS, BrokenImage, plain_mode
from pisces.render.blocks import Image

if TYPE_CHECKING:
    from PIL.Image import Image as Picture

    from pisces.render.rows import Row

UPPER: Final = "▀"
ROWS_COLLAPSED: Final = 20
ROWS_EXPANDED: Final = 40
_DARK: Final = (30, 30, 30)
_LIGHT: Final = (255, 255, 255)
_ORIENTATION: Final = 0x0112
_ON_ITS_SIDE: Final = (5, 6, 7, 8)
"""What cameras write of a picture that they took upright: its sides are the other way round."""

Fit = Callable[[int, int], tuple[int, int]]
"""The size to draw a picture in that has this width and height."""


def half_blocks(image: Image, width: int, rows: int, *, dark: bool = True) -> "list[Row]":
    """The picture in at most so many columns and rows, in its own proportions. Raises `BrokenImage`.

    Where it is transparent it is as light as paper in a light look, and nearly black in a dark one.
    """
    background = _DARK if dark else _LIGHT
    picture = opened(image, lambda wide, high: _pixels(wide, high, width, rows), background=background)
    pixels = picture.tobytes()
    stride = picture.width * 3
    return [_row(pixels, 2 * line * stride, stride) for line in range(picture.height // 2)]


def opened(image: Image, fit: Fit, *, background: tuple[int, int, int] = _LIGHT) -> "Picture":
    """The picture upright, in RGB, scaled as `fit` says. Raises `BrokenImage`: it is other people's data."""
    from PIL import Image as Pillow
    from PIL import ImageOps

    if image.width * image.height > MAX_PIXELS:
        raise BrokenImage(f"{image.width} x {image.height} pixels are too many to open it")
    try:
        with Pillow.open(io.BytesIO(base64.b64decode(image.data)), formats=("PNG", "JPEG")) as file:
            turned = file.getexif().get(_ORIENTATION, 1) in _ON_ITS_SIDE
            size = fit(*((file.height, file.width) if turned else file.size))
            file.draft("RGB", size[::-1] if turned else size)  # lets JPEG be decoded at a fraction of its size
            picture = plain_mode(ImageOps.exif_transpose(file))
            picture = picture.convert("RGBA" if picture.mode in {"LA", "RGBA"} else "RGB")
            if picture.size != size:
                picture = picture.resize(size, Pillow.Resampling.BOX)
    except (OSError, SyntaxError, ValueError, TypeError, LookupError, EOFError, MemoryError, struct.error, zlib.error,
            Pillow.DecompressionBombError) as error:  # fmt: skip
        raise BrokenImage(f"it cannot be decoded ({error})") from None
    if picture.mode == "RGB":
        return picture
    return Pillow.alpha_composite(Pillow.new("RGBA", picture.size, (*background, 255)), picture).convert("RGB")


def _pixels(width: int, height: int, columns: int, rows: int) -> tuple[int, int]:
    """What is drawn: a column is one pixel wide and a row two pixels high; small pictures are not blown up."""
    scale = min(columns / width, rows * 2 / height, 1.0)
    return max(1, min(columns, round(width * scale))), 2 * max(1, min(rows, round(height * scale / 2)))


def _row(pixels: bytes, start: int, stride: int) -> "Row":
    """One row; neighbours of the same colours are one piece."""
    pieces: list[Segment] = []
    same, before = 0, b""
    for at in range(start, start + stride, 3):
        pair = pixels[at : at + 3] + pixels[at + stride : at + stride + 3]
        if pair != before and same:
            pieces.append(Segment(UPPER * same, _style(before)))
            same = 0
        before = pair
        same += 1
    return (*pieces, Segment(UPPER * same, _style(before)))


@lru_cache(maxsize=4096)
def _style(pair: bytes) -> Style:
    return Style(color=Color.from_rgb(*pair[:3]), bgcolor=Color.from_rgb(*pair[3:]))
