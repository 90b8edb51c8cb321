"""Pictures for a model: checked, and scaled down to what models take.

The size of a picture is read from its header here, so that Pillow is loaded only when one has to be scaled.
"""

import base64
import binascii
import io
import struct
import zlib
from typing import TYPE_CHECKING, Final

import msgspec

from pisces.model.mime import JPEG, PNG
from pisces.model.results import ImageBlock, TextBlock

if TYPE_CHECKING:
    from PIL.Image import Image

MAX_SIDE: Final = 1568
"""The longest side, in pixels, that models look at without scaling by themselves."""
MAX_ENCODED: Final = 1_000_000
"""The most characters of base64 that a picture may take up in a result."""
MAX_PIXELS: Final = 40_000_000
"""Larger pictures are not opened: at 4 bytes a pixel they would take more memory than a host should lend them."""

_PNG_SIGNATURE: Final = b"\x89PNG\r\n\x1a\n"
_JPEG_SIGNATURE: Final = b"\xff\xd8\xff"
_JPEG_QUALITY: Final = 85
_SHRINK: Final = 0.75


class BrokenImage(ValueError):
    """Data that is not a picture that can be shown; the text says why."""


class ImageInfo(msgspec.Struct, frozen=True):
    """What the header of a picture says, whatever it was labelled."""

    mime_type: str
    width: int
    height: int


def for_model(data: str, mime_type: str, *, most: int = MAX_ENCODED) -> ImageBlock | TextBlock:
    """The picture as a model can take it, or a text that says why it cannot be shown. It never raises.

    `data` is base64. A picture that is small enough passes untouched; scaling a large one can take half a second.
    `most` is how many characters of base64 it may take up.
    """
    try:
        raw = decode(data)
        info = inspect(raw)
        if max(info.width, info.height) <= MAX_SIDE and len(data) <= most:
            return ImageBlock(data="".join(data.split()), mime_type=info.mime_type)
        if info.width * info.height > MAX_PIXELS:
            raise BrokenImage(f"{info.width} x {info.height} pixels are too many to scale it down")
        return _scaled(raw, info, most)
    except BrokenImage as error:
        return TextBlock(text=f"[{mime_type} cannot be shown: {error}]")


def decode(data: str) -> bytes:
    """The bytes of base64 text, in which white space is allowed. Raises `BrokenImage`."""
    try:
        return base64.b64decode("".join(data.split()), validate=True)
    except (binascii.Error, ValueError) as error:
        raise BrokenImage(f"its base64 is broken ({error})") from None


def inspect(raw: bytes) -> ImageInfo:
    """Format and size of a picture, from its header; its end is looked for too. Raises `BrokenImage`."""
    if raw.startswith(_PNG_SIGNATURE):
        info, end = _inspect_png(raw), b"IEND"
    elif raw.startswith(_JPEG_SIGNATURE):
        info, end = _inspect_jpeg(raw), b"\xff\xd9"
    else:
        raise BrokenImage("the data is neither PNG nor JPEG")
    if info is None or info.width == 0 or info.height == 0:
        raise BrokenImage("its header is broken")
    if end not in raw[-1024:]:
        raise BrokenImage("the data ends too early")
    return info


def _inspect_png(raw: bytes) -> ImageInfo | None:
    if raw[12:16] != b"IHDR" or len(raw) < 24:
        return None
    width, height = struct.unpack(">II", raw[16:24])
    return ImageInfo(mime_type=PNG, width=width, height=height)


def _inspect_jpeg(raw: bytes) -> ImageInfo | None:
    """Walk the segments up to the one that starts a frame: it has the size."""
    position = 2
    while position + 9 <= len(raw):
        if raw[position] != 0xFF:
            return None
        marker = raw[position + 1]
        if marker == 0xFF:  # a fill byte
            position += 1
        elif 0xC0 <= marker <= 0xCF and marker not in {0xC4, 0xC8, 0xCC}:
            height, width = struct.unpack(">HH", raw[position + 5 : position + 9])
            return ImageInfo(mime_type=JPEG, width=width, height=height)
        else:
            position += 2 + int.from_bytes(raw[position + 2 : position + 4], "big")
    return None


def _scaled(raw: bytes, info: ImageInfo, most: int) -> ImageBlock:
    from PIL import Image, ImageOps

    try:
        with Image.open(io.BytesIO(raw), formats=("PNG", "JPEG")) as opened:
            opened.draft(None, (MAX_SIDE, MAX_SIDE))  # lets JPEG be decoded at a fraction of its size
            picture = plain_mode(ImageOps.exif_transpose(opened))
    except (OSError, SyntaxError, ValueError, TypeError, LookupError, EOFError, MemoryError, struct.error, zlib.error,
            Image.DecompressionBombError) as error:  # fmt: skip
        raise BrokenImage(f"it cannot be decoded ({error})") from None
    return _fitted(picture, info.mime_type, most)


def plain_mode(picture: "Image") -> "Image":
    """The picture in a mode that can be scaled and saved as PNG and JPEG."""
    if picture.mode in {"L", "LA", "RGB", "RGBA"}:
        return picture
    if picture.mode.startswith("I"):  # 16 bits a pixel, which a plain conversion would clip to white
        return picture.point(lambda value: value * (1 / 256)).convert("L")
    return picture.convert("RGBA" if "transparency" in picture.info or picture.mode == "PA" else "RGB")


def _fitted(picture: "Image", mime_type: str, most: int) -> ImageBlock:
    """Scale to the longest side, then in steps until the data is small enough; what stays too large becomes a JPEG."""
    side = MAX_SIDE
    while side >= 1:
        picture.thumbnail((side, side))
        for mime in dict.fromkeys((mime_type, JPEG)):
            data = base64.b64encode(_encode(picture, mime)).decode("ascii")
            if len(data) <= most:
                return ImageBlock(data=data, mime_type=mime)
        side = int(max(picture.size) * _SHRINK)
    raise BrokenImage("it cannot be made small enough")


def _encode(picture: "Image", mime_type: str) -> bytes:
    buffer = io.BytesIO()
    if mime_type == PNG:
        picture.save(buffer, format="PNG")
    else:
        _on_white(picture).save(buffer, format="JPEG", quality=_JPEG_QUALITY)
    return buffer.getvalue()


def _on_white(picture: "Image") -> "Image":
    """Without transparency, which JPEG cannot have."""
    if picture.mode in {"L", "RGB"}:
        return picture
    from PIL import Image

    layer = picture.convert("RGBA")
    return Image.alpha_composite(Image.new("RGBA", layer.size, "white"), layer).convert("RGB")
