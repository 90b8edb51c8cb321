"""Lengths of time and counts of things in words."""

import math
from typing import Final

_LARGE: Final = 10**15


def duration(milliseconds: float) -> str:
    """`38 ms`, `1.2 s`, `2 min 5 s`, `1 h 2 min`."""
    if abs(milliseconds) > _LARGE or math.isnan(milliseconds):
        return "? s"
    if milliseconds < 999.5:
        return f"{max(0.0, milliseconds):.0f} ms"
    seconds = milliseconds / 1000
    if seconds < 59.95:
        return f"{seconds:.1f} s"
    minutes, rest = divmod(round(seconds), 60)
    if minutes < 60:
        return f"{minutes} min {rest} s"
    return f"{minutes // 60} h {minutes % 60} min"


def counted(count: object, one: str, many: str = "") -> str:
    """`1 line`, `3 lines`; a count that is no number is shown as it is."""
    if isinstance(count, int) and not isinstance(count, bool):
        if abs(count) > _LARGE:  # Python refuses to write the largest ones, and nobody could read them.
            return f"very many {many or one + 's'}"
        return f"{count:,} {one if count == 1 else many or one + 's'}"
    return f"{count} {many or one + 's'}"


def more_lines(count: int, *, at_least: bool = False) -> str:
    """What stands in the place of lines that are not shown; `at_least` where nobody has counted all of them."""
    return f"… {'at least ' if at_least else ''}{counted(count, 'more line')}"
