"""Pictures for tests, made with the standard library."""

import base64
import struct
import zlib


def png(width: int, height: int, *, noise: bytes | None = None) -> bytes:
    """A grey PNG; with `noise`, its rows repeat those bytes."""
    row = (noise or b"\x80") * (width // len(noise or b"\x80") + 1)
    rows = b"".join(b"\x00" + row[:width] for _ in range(height))
    return png_of(struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0), zlib.compress(rows))


def png_of(header: bytes, pixels: bytes) -> bytes:
    """A PNG file of just these parts, which need not fit together."""
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", pixels) + chunk(b"IEND", b"")


def chunk(kind: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


def encoded(raw: bytes) -> str:
    return base64.b64encode(raw).decode("ascii")
