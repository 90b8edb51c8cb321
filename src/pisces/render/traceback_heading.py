"""The heading of IPython's tracebacks, for other widths than the 75 columns that it is made for."""

import re
from typing import Final

BEGINNING: Final = "Traceback (most recent call last)"
_COLOUR: Final = re.compile(r"\x1b\[[0-9;:]{0,64}m")
_RULE: Final = re.compile(rf"((?:{_COLOUR.pattern})*)-{{20,}}((?:{_COLOUR.pattern})*)$")
_HEADING: Final = re.compile(r"^-{75}\n(\S{1,200}) {3,75}(?=Traceback \(most recent call last\)$)", re.MULTILINE)


def narrowed(line: str, width: int) -> str:
    """A line of a traceback: one of its heading that is too long has fewer dashes, or fewer spaces and words."""
    if _fits(line, width):
        return line
    if rule := _RULE.match(line):
        return f"{rule[1]}{'-' * width}{rule[2]}"
    name, beginning, rest = line.partition(BEGINNING)
    if not beginning or not name.endswith("   "):
        return line
    near = f"{name.rstrip(' ')}  {beginning}{rest}"
    return near if _fits(near, width) else f"{name.rstrip(' ')}  Traceback{rest}"


def _fits(line: str, width: int) -> bool:
    return len(line) <= width or len(_COLOUR.sub("", line)) <= width


def spoken(text: str) -> str:
    """Text without colours in which headings are words alone, for those who hear it."""
    return _HEADING.sub(r"\1: ", text)
