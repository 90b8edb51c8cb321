"""Pictures in characters: each is two pixels, one above the other, so that rows can be scrolled like text."""

import base64
import io
import struct
import zlib
from functools import lru_cache
from typing import TYPE_CHECKING, Final

from rich.color import Color
from rich.segment import Segment
from rich.style import Style

from pisces.output.images import MAX_PIXELS, BrokenImage
from pisces.render.blocks import Image

if TYPE_CHECKING:
    from PIL.Image import Image as Picture

    from pisces.render.rows import Row

UPPER: Final = "▀"
ROWS_COLLAPSED: Final = 20
ROWS_EXPANDED: Final = 40
_DARK: Final = (30, 30, 30)
_LIGHT: Final = (255, 255, 255)


def half_blocks(image: Image, width: int, rows: int, *, dark: bool = True) -> "list[Row]":
    """The picture in at most so many columns and rows, in its own proportions. Raises `BrokenImage`.

    Where it is transparent it is as light as paper in a light look, and nearly black in a dark one.
    """
    columns, lines = _size(image.width, image.height, width, rows)
    picture = opened(image, (columns, lines * 2), background=_DARK if dark else _LIGHT)
    pixels = picture.tobytes()
    stride = columns * 3
    return [_row(pixels, 2 * line * stride, stride) for line in range(lines)]


def opened(image: Image, size: tuple[int, int], *, background: tuple[int, int, int] = _LIGHT) -> "Picture":
    """The picture in RGB, scaled to this size. Raises `BrokenImage`: it is other people's data."""
    from PIL import Image as Pillow
    from PIL import ImageOps

    if image.width * image.height > MAX_PIXELS:
        raise BrokenImage(f"{image.width} x {image.height} pixels are too many to open it")
    try:
        with Pillow.open(io.BytesIO(base64.b64decode(image.data)), formats=("PNG", "JPEG")) as file:
            file.draft("RGB", size)  # lets JPEG be decoded at a fraction of its size
            picture = ImageOps.exif_transpose(file)
            picture = picture.convert("RGBA" if _has_alpha(picture) else "RGB")
            if picture.size != size:
                picture = picture.resize(size, Pillow.Resampling.BOX)
    except (OSError, SyntaxError, ValueError, TypeError, LookupError, EOFError, MemoryError, struct.error, zlib.error,
            Pillow.DecompressionBombError) as error:  # fmt: skip
        raise BrokenImage(f"it cannot be decoded ({error})") from None
    if picture.mode == "RGB":
        return picture
    return Pillow.alpha_composite(Pillow.new("RGBA", picture.size, (*background, 255)), picture).convert("RGB")


def _has_alpha(picture: "Picture") -> bool:
    return picture.mode in {"LA", "RGBA", "PA"} or "transparency" in picture.info


def _size(width: int, height: int, columns: int, rows: int) -> tuple[int, int]:
    """Columns and rows: a column is one pixel wide and a row two pixels high; small pictures are not blown up."""
    scale = min(columns / width, rows * 2 / height, 1.0)
    return max(1, min(columns, round(width * scale))), max(1, min(rows, round(height * scale / 2)))


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
