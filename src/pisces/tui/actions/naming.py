"""Names for what is made: which are good, and which are free."""

from collections.abc import Collection
from itertools import count

from pisces.errors import InvalidCall
from pisces.tools.schema import check_name

_LONGEST = 200


def wrong_name(name: str) -> str:
    """What is wrong with a name, in a sentence; nothing where it is good."""
    if len(name) > _LONGEST:
        return f"A name has at most {_LONGEST} characters; this one has {len(name)}."
    try:
        check_name("name", name)
    except InvalidCall as error:
        return str(error)
    return ""


def free_name(name: str, taken: Collection[str]) -> str:
    """The name with the first number from 2 on that nobody has."""
    return next(each for number in count(2) if (each := f"{name}-{number}") not in taken)
