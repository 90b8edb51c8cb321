"""An entry as a line of bytes, and back."""

import re
from collections.abc import Mapping
from functools import cache
from typing import Any, Final

import msgspec

from pisces.journal.entries import AnyEntry, Entry

_encoder: Final = msgspec.json.Encoder(enc_hook=repr)
_SURROGATE: Final = re.compile("[\ud800-\udfff]")


def encode_line(entry: Entry) -> bytes:
    """The entry as one line, newline included; what JSON cannot hold is replaced.

    Lone surrogates become U+FFFD, a value that JSON has no form for its `repr`, NaN and the infinities null. Raises
    RecursionError for data nested too deeply to be written.
    """
    try:
        return _encoder.encode_lines([entry])
    except (UnicodeEncodeError, TypeError):
        return _encoder.encode_lines([_encodable(msgspec.to_builtins(entry, enc_hook=repr))])


def decode_line(line: bytes) -> AnyEntry:
    """The entry of a line.

    Raises msgspec.ValidationError for one of a kind or shape that this version does not know, and another
    msgspec.DecodeError for one that is not a whole line of JSON.
    """
    try:
        return _decoder().decode(line)
    except (UnicodeDecodeError, RecursionError) as error:
        raise msgspec.DecodeError(str(error)) from error


@cache
def _decoder() -> msgspec.json.Decoder[AnyEntry]:
    """Made when somebody reads: it takes a millisecond, and most hosts only write."""
    return msgspec.json.Decoder(AnyEntry)


def _encodable(value: Any) -> Any:
    match value:
        case str():
            return _SURROGATE.sub("\ufffd", value)
        case Mapping():
            return {_encodable(_key(key)): _encodable(item) for key, item in value.items()}
        case list() | tuple():
            return [_encodable(item) for item in value]
        case _:
            return value


def _key(key: Any) -> str:
    return key if isinstance(key, str) else repr(key)
