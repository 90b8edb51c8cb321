"""The lock of a file: on the file itself, so that nothing is left beside it.

It belongs to the open file description. So it keeps threads of one process apart as well as processes, and it goes with
the process that held it, however that ended.
"""

import errno
import fcntl
import os
from typing import Final, Literal

Lock = Literal["held", "busy", "unsupported"]
"""What came of a try. `unsupported`: this file system has no locks."""

_BUSY: Final = frozenset({errno.EWOULDBLOCK, errno.EAGAIN, errno.EACCES})
# The last is what a network file system says to a descriptor that is not open for writing.
_UNSUPPORTED: Final = frozenset(
    {errno.ENOLCK, errno.EOPNOTSUPP, errno.ENOTSUP, errno.ENOSYS, errno.EINVAL, errno.EBADF}
)


def try_lock(descriptor: int) -> Lock:
    """Take the lock if it is free; do not wait."""
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        if error.errno in _BUSY:
            return "busy"
        if error.errno in _UNSUPPORTED:
            return "unsupported"
        raise
    return "held"


def leads_to(path: str | os.PathLike[str], descriptor: int) -> bool:
    """Whether a name still is the name of an open file."""
    try:
        named = os.stat(path)
    except OSError:
        return False
    return os.path.samestat(named, os.fstat(descriptor))
