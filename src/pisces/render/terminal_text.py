"""Text of others for a terminal: what it would obey is taken out, colours aside, and what is too long is cut."""

import re
from typing import Final

import msgspec

from pisces.output.sanitize import Sanitizer, clean

LONGEST_LINE: Final = 4000
"""Characters of a line that are shown."""

_COLOUR: Final = re.compile(r"\x1b\[[0-9;:]{0,64}m")
_CONTROL: Final = re.compile("[\x00-\x08\x0a-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]")


class Lines(msgspec.Struct, frozen=True):
    """Some lines of a text, and how many more it has."""

    shown: list[str]
    more: int = 0
    at_end: bool = False
    """Whether the lines that are shown are the last ones."""

    @property
    def note(self) -> str:
        """What to say of those that are not shown; nothing where all are."""
        return f"… {self.more} more line{'' if self.more == 1 else 's'}" if self.more else ""


def cut(text: str, most: int | None, *, at_end: bool = False) -> Lines:
    """The first lines of a text, or its last ones, each cut where it is too long; with None for `most`, all of it."""
    lines = text.removesuffix("\n").split("\n")
    if most is None:
        return Lines(lines)
    more = max(0, len(lines) - most)
    kept = lines[more:] if at_end else lines[: len(lines) - more]
    return Lines([_shortened(line) for line in kept], more, at_end)


def without_control(text: str) -> str:
    """The text alone, as it stood in the end: of a line that was written over, the last state."""
    return _last_states(clean(text))


def with_colours(text: str) -> str:
    """The same with the sequences in it that set colours, and no others."""
    sanitizer, parts, at = Sanitizer(), list[str](), 0
    for colour in _COLOUR.finditer(text):
        parts += (sanitizer.feed(text[at : colour.start()]), colour[0])
        at = colour.end()
    parts += (sanitizer.feed(text[at:]), sanitizer.finish())
    return _last_states("".join(parts))


def visible(line: str) -> str:
    """A line in which characters that a terminal would obey are named, so that they can be compared."""
    return _CONTROL.sub(lambda found: ascii(found[0])[1:-1], line)


def _last_states(text: str) -> str:
    if "\r" not in text:
        return text
    return "\n".join(line.rstrip("\r").rpartition("\r")[2] for line in text.split("\n"))


def _shortened(line: str) -> str:
    if len(line) <= LONGEST_LINE:
        return line
    return f"{line[:LONGEST_LINE]}[…{len(line) - LONGEST_LINE} characters cut…]"
