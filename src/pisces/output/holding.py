"""Whether a process still writes to a file: the writer holds a lock on it for as long as it has the file open.

The system gives the lock back when the writer's process ends, however that comes about. Those who only ask share
theirs, so that none of them takes another one for the writer.
"""

import fcntl
import logging

_log = logging.getLogger(__name__)


def hold(descriptor: int) -> None:
    """Hold the open file until it is closed. Where the system knows no locks, nobody will know that it is held."""
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        _log.info("whether a file is still written to will not be known: %s", error)


def is_held(descriptor: int) -> bool | None:
    """Whether anybody holds the file that is open here; None where the system does not tell."""
    try:
        fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    except OSError:
        return None
    fcntl.flock(descriptor, fcntl.LOCK_UN)
    return False
