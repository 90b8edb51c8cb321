"""The text of a value: `repr`, with containers laid out over lines as IPython does.

A container is on one line while that has at most 79 characters, else each element is on a line of its own. Of more
than 1,000 elements in one container the first 1,000 are shown.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

_WIDTH = 79
_MOST_ELEMENTS = 1000
_DEEPEST = 40
_BRACKETS: dict[type, tuple[str, str]] = {
    list: ("[", "]"),
    tuple: ("(", ")"),
    set: ("{", "}"),
    frozenset: ("frozenset({", "})"),
    dict: ("{", "}"),
}


def pretty(value: Any) -> str:
    """The text to show for `value`; raises what its `__repr__` raises."""
    if type(value) not in _BRACKETS or not value:
        return repr(value)
    return _layout(value, indent=0, column=0, parents=())


def _layout(value: Any, *, indent: int, column: int, parents: tuple[int, ...]) -> str:
    """The text of `value` that starts at `column`; lines after its first begin at `indent`."""
    if type(value) not in _BRACKETS or not value:
        return repr(value).replace("\n", "\n" + " " * indent)
    if id(value) in parents:
        return _cycle(value)
    if len(parents) >= _DEEPEST:
        return repr(value)
    flat = _flat(value, _WIDTH - column, parents)
    if flat is not None:
        return flat
    opening, closing = _BRACKETS[type(value)]
    indent += len(opening)
    parents = (*parents, id(value))
    elements = [
        key + _layout(item, indent=indent, column=indent + len(key), parents=parents) for key, item in _items(value)
    ]
    if len(value) > _MOST_ELEMENTS:
        elements.append("...")
    if type(value) is tuple and len(value) == 1:
        elements[0] += ","
    return opening + (",\n" + " " * indent).join(elements) + closing


def _flat(value: Any, room: int, parents: tuple[int, ...]) -> str | None:
    """The text of a container on one line, or None as soon as it is certain that it does not fit."""
    if len(value) * 3 - 2 > room or len(parents) >= _DEEPEST:
        return None
    opening, closing = _BRACKETS[type(value)]
    room -= len(opening) + len(closing)
    parents = (*parents, id(value))
    texts = []
    for key, item in _items(value):
        if type(item) not in _BRACKETS or not item:
            text: str | None = repr(item)
        elif id(item) in parents:
            text = _cycle(item)
        else:
            text = _flat(item, room - len(key), parents)
        if text is None or "\n" in text:
            return None
        texts.append(key + text)
        room -= len(key) + len(text) + 2
        if room < -2:
            return None
    tail = "," if type(value) is tuple and len(value) == 1 else ""
    return opening + ", ".join(texts) + tail + closing


def _items(value: Any) -> Iterator[tuple[str, Any]]:
    """What comes before each shown element, and the element."""
    if type(value) is dict:
        pairs = zip(range(_MOST_ELEMENTS), list(value.items()))
        return ((repr(key) + ": ", item) for _, (key, item) in pairs)
    elements = _sorted(value) if type(value) in (set, frozenset) else value
    return (("", item) for _, item in zip(range(_MOST_ELEMENTS), elements))


def _sorted(elements: Any) -> Any:
    if len(elements) > _MOST_ELEMENTS:
        return elements
    try:
        return sorted(elements)
    except Exception:  # elements that cannot be compared stay as they come
        return elements


def _cycle(value: Any) -> str:
    opening, closing = _BRACKETS[type(value)]
    return f"{opening}...{closing}"
