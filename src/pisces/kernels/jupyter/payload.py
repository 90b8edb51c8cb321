"""JSON as kernels write it: mostly strict, sometimes with NaN or lone surrogates, which must not harm the host."""

import json
from typing import Any

import msgspec

_decode = msgspec.json.Decoder().decode
_encode = msgspec.json.Encoder().encode


class BadPayload(ValueError):
    """Bytes that are no JSON."""


def decode_json(data: bytes | bytearray | memoryview | str) -> Any:
    """The value of a JSON text. NaN and infinities come as strings, lone surrogates as U+FFFD. Raises `BadPayload`."""
    try:
        return _decode(data)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        pass  # It may still be what Python's own encoder writes.
    try:
        text = data if isinstance(data, str) else bytes(data).decode("utf-8", "replace")
        return _mended(json.loads(text, parse_constant=str))
    except (ValueError, RecursionError) as error:
        raise BadPayload(f"no JSON: {error}") from None


def encode_json(value: Any) -> bytes:
    """The value as JSON; lone surrogates as escapes, which every kernel understands."""
    try:
        return _encode(value)
    except UnicodeEncodeError:
        return json.dumps(value, ensure_ascii=True).encode("ascii")


def _mended(value: Any) -> Any:
    if isinstance(value, str):
        return value.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    if isinstance(value, list):
        return [_mended(item) for item in value]
    if isinstance(value, dict):
        return {_mended(key): _mended(item) for key, item in value.items()}
    return value
