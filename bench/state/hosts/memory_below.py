"""What the processes below this one hold, and how many there are."""

import psutil


def processes_below() -> list[psutil.Process]:
    """Every process that this one started, and those that they started."""
    return psutil.Process().children(recursive=True)


def pss_below() -> float:
    """Bytes: of what processes share, each of them counts its part (proportional set size)."""
    return float(sum(process.memory_full_info().pss for process in processes_below()))
