"""The stages of a start with their times, on standard error, when `PI_DEBUG_STARTUP` asks for them."""

import logging
import os
import sys
import time

_log = logging.getLogger("pisces.startup")


def stage(name: str) -> None:
    """A stage of the start is over. Layers below say so to the logger `pisces.startup` themselves."""
    _log.debug(name)


def show_stages() -> None:
    """From now on print each stage as it ends."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(_StageFormatter())
    _log.addHandler(handler)
    _log.setLevel(logging.DEBUG)
    _log.propagate = False


class _StageFormatter(logging.Formatter):
    """Times count from the start of the process where the system tells when that was, else from now."""

    def __init__(self) -> None:
        super().__init__()
        self._began = time.perf_counter() - _age()

    def format(self, record: logging.LogRecord) -> str:
        return f"[startup] {(time.perf_counter() - self._began) * 1000:7.1f} ms  {record.getMessage()}"


def _age() -> float:
    """The age of this process in seconds, to a hundredth; 0 where nobody knows."""
    try:
        with open("/proc/self/stat", encoding="utf-8", errors="replace") as file:
            fields = file.read().rpartition(")")[2].split()
        return time.clock_gettime(time.CLOCK_BOOTTIME) - int(fields[19]) / os.sysconf("SC_CLK_TCK")
    except (OSError, AttributeError):
        return 0.0
