"""Where the cells of a notebook stand in its text, found with Python's own decoder and none of the code under test."""

import json
from collections.abc import Iterator
from typing import Any, NamedTuple

_decode = json.JSONDecoder().raw_decode
_SPACE = " \t\r\n"


class Place(NamedTuple):
    """A part of a text."""

    start: int
    end: int

    def around(self, text: str) -> tuple[str, str]:
        """All of the text but this part."""
        return text[: self.start], text[self.end :]

    def within(self, text: str) -> str:
        """This part of the text."""
        return text[self.start : self.end]


def cell_places(text: str) -> list[Place]:
    """Where each cell of a notebook is; none where it has no list of them."""
    found = _members(text, text.index("{")).get("cells")
    return [] if found is None or text[found.start] != "[" else list(_elements(text, found.start))


def source_place(text: str) -> Place:
    """Where the source of a cell is in the text of the cell."""
    return _members(text, 0)["source"]


def changed_part(before: str, after: str, place: Place) -> str:
    """What stands in a part of a text now. Fails if anything but that part has changed."""
    head, tail = place.around(before)
    assert after.startswith(head), "something before it has changed"
    assert after.endswith(tail), "something after it has changed"
    assert len(after) >= len(head) + len(tail), "something beside it is gone"
    return after[len(head) : len(after) - len(tail)]


def joined(source: Any) -> str:
    """A source in one piece."""
    return source if isinstance(source, str) else "".join(source)


def _members(text: str, at: int) -> dict[str, Place]:
    """The values of the object that begins here."""
    found: dict[str, Place] = {}
    at = _after_space(text, at + 1)
    while text[at] != "}":
        key, end = _decode(text, at)
        start = _after_space(text, _after_space(text, end) + 1)
        found[key] = Place(start, _decode(text, start)[1])
        at = _after_comma(text, found[key].end)
    return found


def _elements(text: str, at: int) -> Iterator[Place]:
    """The elements of the array that begins here."""
    at = _after_space(text, at + 1)
    while text[at] != "]":
        place = Place(at, _decode(text, at)[1])
        yield place
        at = _after_comma(text, place.end)


def _after_comma(text: str, at: int) -> int:
    at = _after_space(text, at)
    return _after_space(text, at + 1) if text[at] == "," else at


def _after_space(text: str, at: int) -> int:
    while text[at] in _SPACE:
        at += 1
    return at
