"""The older way in which a Jupyter server frames a message on a websocket; it takes and gives no bytes itself.

A message without buffers is a text frame of JSON. One with buffers is a binary frame: the number of its parts, the
offset of each (all big-endian, 32 bits), the JSON, the buffers.
"""

import struct
from itertools import accumulate, pairwise
from typing import Any, Final

from pisces.kernels.jupyter.message import Channel, Message
from pisces.kernels.jupyter.payload import BadPayload, decode_json, encode_json

CHANNELS: Final[dict[str, Channel]] = {"shell": "shell", "iopub": "iopub", "stdin": "stdin", "control": "control"}
_WORD: Final = 4


class BadFrame(ValueError):
    """A frame that holds no message; the connection is sound all the same."""


def encode(message: Message) -> tuple[bytes, bool]:
    """The payload of the frame, and whether it is a text frame."""
    body = encode_json(
        {
            "channel": message.channel,
            "header": message.header,
            "parent_header": message.parent_header,
            "metadata": message.metadata,
            "content": message.content,
            "buffers": [],
        }
    )
    if not message.buffers:
        return body, True
    parts = (body, *message.buffers)
    first = _WORD * (len(parts) + 1)
    offsets = accumulate((len(part) for part in parts[:-1]), initial=first)
    return b"".join((struct.pack(f"!{len(parts) + 1}I", len(parts), *offsets), *parts)), False


def decode(payload: bytes | bytearray, *, text: bool) -> Message:
    """The message in a frame. Raises `BadFrame`."""
    if text:
        return _message(payload, ())
    body, *buffers = _split(payload)
    return _message(body, tuple(map(bytes, buffers)))


def _split(payload: bytes | bytearray) -> list[memoryview]:
    size = len(payload)
    count = int.from_bytes(payload[:_WORD], "big")
    first = _WORD * (count + 1)
    if count == 0 or first > size:
        raise BadFrame(f"a frame of {size} bytes cannot have {count} parts")
    offsets = (*struct.unpack_from(f"!{count}I", payload, _WORD), size)
    if offsets[0] < first or any(start > stop for start, stop in pairwise(offsets)):
        raise BadFrame("the parts of a frame overlap, or end behind it")
    view = memoryview(payload)
    return [view[start:stop] for start, stop in pairwise(offsets)]


def _message(body: bytes | bytearray | memoryview, buffers: tuple[bytes, ...]) -> Message:
    try:
        value = decode_json(body)
    except BadPayload as error:
        raise BadFrame(str(error)) from None
    if not isinstance(value, dict):
        raise BadFrame("a frame holds something else than a message")
    return Message(
        known_channel(value.get("channel")),
        mapping(value.get("header"), "header"),
        mapping(value.get("parent_header") or {}, "parent_header"),
        mapping(value.get("content") or {}, "content"),
        mapping(value.get("metadata") or {}, "metadata"),
        buffers,
    )


def known_channel(name: object) -> Channel:
    """One of the four channels. Raises `BadFrame`."""
    channel = CHANNELS.get(name) if isinstance(name, str) else None
    if channel is None:
        raise BadFrame(f"there is no channel {name!r:.40}")
    return channel


def mapping(value: object, part: str) -> dict[str, Any]:
    """A part of a message, which must be an object. Raises `BadFrame`."""
    if not isinstance(value, dict):
        raise BadFrame(f"the {part} of a message is no object")
    return value
