"""Numbers that somebody types after a command."""

from typing import Final

from pisces.errors import InvalidCall

_MOST_DIGITS: Final = 9
"""Nothing here is counted further, and Python refuses to read numbers that are long enough."""


def typed_number(text: str, refusal: str) -> int:
    """The number. Raises `InvalidCall` with this refusal where it is none."""
    if not text.isdecimal() or len(text) > _MOST_DIGITS:
        raise InvalidCall(refusal)
    return int(text)
