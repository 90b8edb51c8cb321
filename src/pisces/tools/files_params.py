"""What the tools for files can be asked."""

from typing import Annotated

from msgspec import Meta, Struct

from pisces.errors import InvalidCall

_Path = Annotated[str, Meta(min_length=1)]


class ReadParams(Struct, frozen=True, forbid_unknown_fields=True):
    """Parameters of the `read` tool."""

    path: Annotated[str, Meta(min_length=1)]


class WriteParams(Struct, frozen=True, forbid_unknown_fields=True):
    """Parameters of the `write` tool."""

    path: _Path
    content: str


class EditParams(Struct, frozen=True, forbid_unknown_fields=True):
    """Parameters of the `edit` tool."""

    path: _Path
    old_text: str
    new_text: str
    all: bool = False


def check_write(params: WriteParams) -> None:
    """Raises `InvalidCall` for a content that no file can have."""
    check_encodable("content", params.content)


def check_edit(params: EditParams) -> None:
    """Raises `InvalidCall` for an edit that says nothing."""
    check_encodable("old_text", params.old_text)
    check_encodable("new_text", params.new_text)
    if params.old_text == params.new_text:
        raise InvalidCall("`old_text` and `new_text` are the same: there is nothing to change")


def check_encodable(place: str, text: str) -> None:
    """Raises `InvalidCall` for a text that has half of a surrogate pair, which UTF-8 has not."""
    try:
        text.encode("utf-8")
    except UnicodeEncodeError as error:
        raise InvalidCall(
            f"Wrong value for `{place}`: character {error.start} is half of a surrogate pair, which no UTF-8 file has"
        ) from None
