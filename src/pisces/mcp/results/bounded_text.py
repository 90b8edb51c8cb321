"""The texts of a result, cut to what clients take."""

from collections.abc import Sequence
from typing import Final

import msgspec

_LEAST: Final = 400
"""Bytes below which the beginning of a text is not worth showing."""
_MARK: Final = "\n[…{} bytes are left out here…]\n"


class Texts(msgspec.Struct, frozen=True):
    """What there is room for, in order."""

    shown: tuple[str | None, ...]
    """None for what is left out."""
    cut: tuple[int, ...]
    """The places of those that are not shown whole."""


def bounded_texts(texts: Sequence[str], most: int) -> Texts:
    """As many texts as take up so many bytes: the first that is too long is cut, and those after it are left out."""
    shown: list[str | None] = []
    room = most
    for text in texts:
        size = len(text.encode("utf-8"))
        if size <= room:
            shown.append(text)
            room -= size
        else:
            shown.append(_without_middle(text, room) if room >= _LEAST else None)
            room = 0
    return Texts(tuple(shown), tuple(i for i, text in enumerate(texts) if shown[i] != text))


def _without_middle(text: str, most: int) -> str:
    """The beginning and the end: what was asked for is at the one, and how it ended at the other."""
    data = text.encode("utf-8")
    room = most - len(_MARK.format(len(data)).encode("utf-8"))
    head = data[: room * 3 // 4]
    if (line_end := head.rfind(b"\n")) > len(head) // 2:
        head = head[:line_end]
    tail = data[-(room // 4) :]
    if 0 <= (line_end := tail.find(b"\n")) < len(tail) // 2:
        tail = tail[line_end + 1 :]
    left_out = len(data) - len(head) - len(tail)
    return head.decode("utf-8", "ignore") + _MARK.format(left_out) + tail.decode("utf-8", "ignore")
