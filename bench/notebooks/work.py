"""Doing one thing to a notebook some times over: how long each took, and the most memory that the first one needed."""

import json
import os
import sys
import time
from collections.abc import Awaitable, Callable
from typing import Any

from bench.subjects.memory import MemoryWatch

Step = Callable[[int], Awaitable[None]]
"""Does it for the time of that number."""


async def timed_steps(step: Step, count: int) -> dict[str, Any]:
    """The seconds of each step, and by how many megabytes the peak of resident memory rose with the first.

    What others have written is on the disk before the clock starts, so that no sync pays for the writes of another.
    """
    watch = MemoryWatch()
    seconds: list[float] = []
    growth = 0.0
    for number in range(count):
        os.sync()
        began = time.perf_counter()
        await step(number)
        seconds.append(time.perf_counter() - began)
        growth = growth or watch.growth()
    return {"seconds": seconds, "growth_mb": growth}


def hand_over(figures: dict[str, Any]) -> None:
    """Print what was measured, for the process that started this one."""
    sys.stdout.write(json.dumps(figures) + "\n")
    sys.stdout.flush()
