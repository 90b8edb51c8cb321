"""Pictures as the escape sequences that put them into a terminal."""

import base64
import io
from collections.abc import Iterator
from typing import Final

from pisces.model.mime import PNG
from pisces.output import images
from pisces.render.blocks import Image
from pisces.render.screen import Screen

_CHUNK: Final = 4096
"""The most characters of base64 that kitty takes in one sequence."""


def drawn(image: Image, screen: Screen, *, indent: int = 0) -> str | None:
    """The sequences that draw a picture where the cursor is, no wider than the screen; None where that cannot be.

    Half blocks are none of them: they are text, see `half_blocks`.
    """
    room = max(1, screen.width - indent)
    columns = room if image.width > room * screen.column_pixels else None
    match screen.pictures:
        case "kitty":
            return _kitty(image, columns)
        case "iterm":
            return _iterm(image, columns)
        case "sixel":
            return _sixel(image, int(room * screen.column_pixels))
        case "blocks" | "none":
            return None


def _kitty(image: Image, columns: int | None) -> str | None:
    """The terminal takes PNG only, and is asked not to answer: what it says would be read as typed by the user."""
    data = image.data if image.mime_type == PNG else _as_png(image)
    if data is None:
        return None
    keys = "a=T,f=100,q=2" + (f",c={columns}" if columns else "")
    return "".join(_chunks(data, keys))


def _chunks(data: str, keys: str) -> Iterator[str]:
    for at in range(0, len(data), _CHUNK):
        more = int(at + _CHUNK < len(data))
        lead = f"{keys}," if at == 0 else ""
        yield f"\x1b_G{lead}m={more};{data[at : at + _CHUNK]}\x1b\\"


def _iterm(image: Image, columns: int | None) -> str:
    size = len(image.data) * 3 // 4 - image.data[-2:].count("=")
    width = f"width={columns};" if columns else ""
    return f"\x1b]1337;File=inline=1;size={size};{width}preserveAspectRatio=1:{image.data}\x07"


def _sixel(image: Image, most_width: int) -> str | None:
    from pisces.render.sixel import sixels

    try:
        return sixels(image, max(1, most_width))
    except images.BrokenImage:
        return None


def _as_png(image: Image) -> str | None:
    """The picture in another format; None if it is too large to be opened, or broken."""
    import struct

    from PIL import Image as Pillow

    if image.width * image.height > images.MAX_PIXELS:
        return None
    made = io.BytesIO()
    try:
        with Pillow.open(io.BytesIO(base64.b64decode(image.data)), formats=("JPEG",)) as opened:
            opened.convert("RGB").save(made, "PNG")
    except (OSError, SyntaxError, ValueError, TypeError, LookupError, EOFError, MemoryError, struct.error):
        return None
    return base64.b64encode(made.getvalue()).decode("ascii")
