"""Messages as ZMQ carries them: frames, signed. Bytes in and out; no socket.

A message is `[routing…, <IDS|MSG>, signature, header, parent, metadata, content, buffers…]`, the middle four as JSON.
This is what `jupyter_client.Session` does; to import that takes 0.12 s, four times as long as pyzmq, and longer than
all else that the host does before the first cell.
"""

import hmac
from collections.abc import Sequence
from typing import Any, Final

from pisces.kernels.jupyter.message import Channel, Message
from pisces.kernels.jupyter.payload import decode_json, encode_json

_DELIMITER: Final = b"<IDS|MSG>"
_PARTS: Final = 4
_EMPTY: Final = b"{}"


class Wire:
    """Packs and unpacks the messages of one connection, which are signed with one key."""

    def __init__(self, key: bytes) -> None:
        self._signer = hmac.new(key, digestmod="sha256")
        self._parent: tuple[bytes, dict[str, Any]] = (_EMPTY, {})
        self.rejected = 0
        """How many messages were not signed by the kernel, or made no sense."""

    def pack(self, message: Message) -> list[bytes]:
        """The frames of a message that we send."""
        parts = [
            encode_json(part) for part in (message.header, message.parent_header, message.metadata, message.content)
        ]
        return [_DELIMITER, self._sign(parts), *parts, *message.buffers]

    def unpack(self, channel: Channel, frames: Sequence[bytes | memoryview]) -> Message | None:
        """The message in these frames; None, and counted, when there is none that the kernel has signed."""
        try:
            start = frames.index(_DELIMITER) + 2
            signed = frames[start : start + _PARTS]
            header, parent, metadata, content = signed
            if not hmac.compare_digest(self._sign(signed), bytes(frames[start - 1])):
                raise ValueError("not signed")
            return Message(
                channel,
                _unpack(header),
                self._unpack_parent(parent),
                _unpack(content),
                {} if metadata == _EMPTY else _unpack(metadata),
                tuple(bytes(buffer) for buffer in frames[start + _PARTS :]),
            )
        except ValueError:
            self.rejected += 1
            return None

    def _sign(self, parts: Sequence[bytes | memoryview]) -> bytes:
        signer = self._signer.copy()
        for part in parts:
            signer.update(part)
        return signer.hexdigest().encode("ascii")

    def _unpack_parent(self, packed: bytes | memoryview) -> dict[str, Any]:
        # All that a cell says has the same parent.
        if packed != self._parent[0]:
            self._parent = (bytes(packed), _unpack(packed))
        return self._parent[1]


def _unpack(packed: bytes | memoryview) -> dict[str, Any]:
    part = decode_json(packed)
    if not isinstance(part, dict):
        raise ValueError("not an object")
    return part
