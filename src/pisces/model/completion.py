"""What could stand where the cursor is, as a kernel tells."""

import msgspec


class Completion(msgspec.Struct, frozen=True):
    """Each of `matches` could stand in the place of the characters from `start` to `end` of the code."""

    matches: tuple[str, ...] = ()
    start: int = 0
    end: int = 0
