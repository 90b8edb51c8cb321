"""Pictures of all usual kinds as a model can take them."""

import base64
import io

import msgspec

from pisces.errors import FileError
from pisces.model.mime import JPEG, PNG
from pisces.model.results import ImageBlock
from pisces.output.images import MAX_PIXELS, BrokenImage, for_model, inspect

MIME_TYPES = {
    "PNG image": PNG,
    "JPEG image": JPEG,
    "GIF image": "image/gif",
    "WebP image": "image/webp",
    "BMP image": "image/bmp",
}
"""The MIME type of each kind that can be shown."""


class Picture(msgspec.Struct, frozen=True):
    """A picture to show, and what the file had."""

    block: ImageBlock
    mime_type: str
    width: int
    height: int
    frames: int = 1
    """Of which the first is shown."""


def picture(data: bytes, kind: str, name: str) -> Picture:
    """The picture in a file. Raises `FileError` for one that is broken, or too large. It can take half a second."""
    try:
        if kind in {"PNG image", "JPEG image"}:
            info = inspect(data)
            width, height, frames = info.width, info.height, 1
        else:
            data, width, height, frames = _converted(data)
        block = for_model(base64.b64encode(data).decode("ascii"), MIME_TYPES[kind])
    except BrokenImage as error:
        raise FileError(f"{name} cannot be shown: {kind}, but {error}.", hint="Open it with Python.") from None
    if not isinstance(block, ImageBlock):
        raise FileError(f"{name} cannot be shown: {block.text.strip('[]')}.", hint="Open it with Python.")
    return Picture(block, MIME_TYPES[kind], width, height, frames)


def _converted(data: bytes) -> tuple[bytes, int, int, int]:
    """The first frame as PNG, its size, and how many frames there are."""
    from PIL import Image, UnidentifiedImageError

    try:
        with Image.open(io.BytesIO(data), formats=("GIF", "WEBP", "BMP")) as opened:
            width, height = opened.size
            if width * height > MAX_PIXELS:
                raise BrokenImage(f"{width} x {height} pixels are too many")
            buffer = io.BytesIO()
            opened.convert("RGBA").save(buffer, format="PNG")
            return buffer.getvalue(), width, height, getattr(opened, "n_frames", 1)
    except (OSError, SyntaxError, ValueError, EOFError, UnidentifiedImageError, Image.DecompressionBombError) as error:
        if isinstance(error, BrokenImage):
            raise
        raise BrokenImage(f"it cannot be decoded ({error})") from None
