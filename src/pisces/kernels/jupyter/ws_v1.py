"""The newer way in which a Jupyter server frames a message on a websocket; it takes and gives no bytes itself.

A binary frame: the number of offsets, the offsets (all little-endian, 64 bits), then the parts that lie between them:
channel, header, parent header, metadata, content, buffers. The server passes the parts on as the kernel wrote them.
"""

import struct
from itertools import accumulate, pairwise
from typing import Any, Final

from pisces.kernels.jupyter.message import Message
from pisces.kernels.jupyter.payload import BadPayload, decode_json, encode_json
from pisces.kernels.jupyter.ws_json import BadFrame, known_channel, mapping

SUBPROTOCOL: Final = "v1.kernel.websocket.jupyter.org"
_WORD: Final = 8
_FIXED: Final = ("header", "parent_header", "metadata", "content")


def encode(message: Message) -> tuple[bytes, bool]:
    """The payload of the frame, and whether it is a text frame, which it never is."""
    parts = (
        message.channel.encode("ascii"),
        encode_json(message.header),
        encode_json(message.parent_header),
        encode_json(message.metadata),
        encode_json(message.content),
        *message.buffers,
    )
    count = len(parts) + 1
    offsets = accumulate(map(len, parts), initial=_WORD * (count + 1))
    return b"".join((struct.pack(f"<{count + 1}Q", count, *offsets), *parts)), False


def decode(payload: bytes | bytearray, *, text: bool) -> Message:
    """The message in a frame. Raises `BadFrame`."""
    if text:
        raise BadFrame("a text frame where only binary ones were agreed on")
    channel, *parts = _split(payload)
    header, parent, metadata, content = (
        _part(part, name) for part, name in zip(parts[: len(_FIXED)], _FIXED, strict=True)
    )
    name = bytes(channel).decode("utf-8", "replace")
    return Message(known_channel(name), header, parent, content, metadata, tuple(map(bytes, parts[len(_FIXED) :])))


def _split(payload: bytes | bytearray) -> list[memoryview]:
    size = len(payload)
    count = int.from_bytes(payload[:_WORD], "little")
    first = _WORD * (count + 1)
    if count < len(_FIXED) + 2 or first > size:
        raise BadFrame(f"a frame of {size} bytes cannot have {count} offsets")
    offsets = struct.unpack_from(f"<{count}Q", payload, _WORD)
    if offsets[0] < first or offsets[-1] > size or any(start > stop for start, stop in pairwise(offsets)):
        raise BadFrame("the parts of a frame overlap, or end behind it")
    view = memoryview(payload)
    return [view[start:stop] for start, stop in pairwise(offsets)]


def _part(part: memoryview, name: str) -> dict[str, Any]:
    try:
        return mapping(decode_json(part), name)
    except BadPayload as error:
        raise BadFrame(f"the {name} of a message is {error}") from None
