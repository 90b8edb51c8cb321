"""Stopping the time of calls whose answers are checked, and handing the figures over."""

import sys
import time
from collections.abc import Awaitable
from typing import Any

import msgspec

from pisces import ToolResult


async def timed(call: Awaitable[ToolResult], expected: str | None = None) -> float:
    """Seconds that a call took. Raises `RuntimeError` when it failed, or did not say what it was expected to."""
    began = time.perf_counter()
    result = await call
    taken = time.perf_counter() - began
    if expected is None and result.is_error:
        raise RuntimeError(f"a call that is measured failed: {result.text}")
    # A busy machine may make checkpoints too dear; that is then said below the value.
    if expected is not None and result.text.partition("\n")[0] != expected:
        raise RuntimeError(f"a call that is measured gave {result.text!r} and not {expected!r}")
    return taken


def hand_over(figures: dict[str, Any]) -> None:
    """Print what was measured, for the process that started this one."""
    sys.stdout.write(msgspec.json.encode(figures).decode() + "\n")
    sys.stdout.flush()
