"""How much memory this process has, and how much it had at most."""

import resource
import sys
from pathlib import Path

_STATUS = Path("/proc/self/status")
_MB = 1e6


class MemoryWatch:
    """From where it is made on, how far the resident memory of this process grows at its peak."""

    def __init__(self) -> None:
        if _STATUS.exists():
            Path("/proc/self/clear_refs").write_text("5", encoding="ascii")  # The peak counts from now.
        self._before = _peak()

    def growth(self) -> float:
        """Megabytes."""
        return (_peak() - self._before) / _MB


def _peak() -> float:
    """Not `ru_maxrss` on Linux: that one begins with the peak of the process that started this one."""
    if not _STATUS.exists():
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        return peak if sys.platform == "darwin" else peak * 1024
    lines = _STATUS.read_text(encoding="ascii").splitlines()
    return next(int(line.split()[1]) * 1024 for line in lines if line.startswith("VmHWM:"))
