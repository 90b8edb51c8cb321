"""JSON as a tree, as deep and as long as it can be read; what is left out is counted."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import Any, Final

import msgspec

from pisces.render.shown_text import one_line
from pisces.render.spans import counted


class Leaf(msgspec.Struct, frozen=True):
    """A line of a tree."""

    guide: str
    """The lines that lead to it."""
    key: str
    value: str
    kind: str
    """What the value is: `str`, `number`, `word` (true, false, null), `group` (a container), or `more`."""

    @property
    def text(self) -> str:
        """The line without colours."""
        return f"{self.guide}{self.key}{': ' if self.key else ''}{self.value}"


class Bounds(msgspec.Struct, frozen=True):
    """How much of a tree is shown."""

    depth: int
    items: int
    """Of one object or list."""
    lines: int
    characters: int
    """Of one text."""


COLLAPSED: Final = Bounds(depth=2, items=20, lines=60, characters=120)
EXPANDED: Final = Bounds(depth=6, items=200, lines=2000, characters=2000)


class _Lead(msgspec.Struct, frozen=True):
    """The lines that lead to a value, and those that lead on to what is in it."""

    guide: str = ""
    below: str = ""
    depth: int = 0

    def to(self, *, last: bool) -> "_Lead":
        """The lead to something in it."""
        guide, below = ("└─ ", "   ") if last else ("├─ ", "│  ")
        return _Lead(self.below + guide, self.below + below, self.depth + 1)


def leaves(value: Any, bounds: Bounds) -> list[Leaf]:
    """The lines of the tree of a value, which may be of any type."""
    made = list(islice(_walk(_Lead(), "", value, bounds), bounds.lines + 1))
    if len(made) > bounds.lines:
        made[bounds.lines :] = [Leaf("", "", "… more than can be shown", "more")]
    return made


def tree_text(value: Any, *, expanded: bool = True) -> str:
    """The tree as plain text: keys are indented below what they belong to, without lines between them."""
    lines = leaves(value, EXPANDED if expanded else COLLAPSED)
    return "\n".join(f"{' ' * (len(leaf.guide) // 3 * 2)}{leaf.text[len(leaf.guide) :]}" for leaf in lines)


def _walk(lead: _Lead, key: str, value: Any, bounds: Bounds) -> Iterator[Leaf]:
    brace = "{}" if isinstance(value, Mapping) else "[]" if _is_list(value) else ""
    if not brace:
        yield Leaf(lead.guide, key, *_scalar(value, bounds.characters))
        return
    if not value:
        yield Leaf(lead.guide, key, brace, "group")
        return
    count = counted(len(value), "key" if brace == "{}" else "item")
    if lead.depth >= bounds.depth:
        yield Leaf(lead.guide, key, f"{brace[0]}…{brace[1]} {count}", "group")
        return
    yield Leaf(lead.guide, key, f"{brace} {count}", "group")
    items: Iterable[tuple[object, Any]] = value.items() if isinstance(value, Mapping) else enumerate(value)
    for number, (name, item) in enumerate(islice(items, bounds.items), 1):
        yield from _walk(lead.to(last=number == len(value)), one_line(str(name), 120), item, bounds)
    if (hidden := len(value) - bounds.items) > 0:
        yield Leaf(lead.to(last=True).guide, "", f"… {hidden:,} more", "more")


def _is_list(value: Any) -> bool:
    return isinstance(value, Sequence) and not isinstance(value, str | bytes | bytearray)


def _scalar(value: Any, most: int) -> tuple[str, str]:
    if value is None or isinstance(value, bool):
        return {None: "null", True: "true", False: "false"}[value], "word"
    if isinstance(value, str):
        cut = f"… {len(value) - most:,} more characters" if len(value) > most else ""
        return f'"{one_line(_escaped(value[:most]), most * 2)}"{cut}', "str"
    try:
        return one_line(str(value), most), "number" if isinstance(value, int | float) else "str"
    except ValueError:  # An integer with more digits than Python puts into words.
        return "a very large number", "number"


def _escaped(text: str) -> str:
    return text.replace("\\", "\\\\").replace("\n", "\\n").replace("\t", "\\t").replace("\r", "\\r")
