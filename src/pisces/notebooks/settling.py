"""A notebook that somebody is just writing: Jupyter saves in place, so that for a moment there is half a file."""

import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import Final, TypeVar

from pisces.errors import InvalidJson

_MOMENT: Final = 0.05
_MOMENTS: Final = 10
_RECENT: Final = 2.0
"""A file that was last written more than so many seconds ago is as it is."""

T = TypeVar("T")


def once_settled(path: Path, work: Callable[[], T]) -> T:
    """Do the work; where that fails because the file is no JSON, and was written just now, wait a moment and try again.

    Raises what the last try raises. It blocks, for half a second at most.
    """
    for _ in range(_MOMENTS):
        try:
            return work()
        except InvalidJson:
            if not _was_written_just_now(path):
                raise
            time.sleep(_MOMENT)
    return work()


def _was_written_just_now(path: Path) -> bool:
    try:
        return abs(time.time() - os.stat(path).st_mtime) < _RECENT
    except OSError:
        return False
