"""The event loop that ipykernel runs cells in: `asyncio.run` works inside it, and no task of the user's ends it."""

from __future__ import annotations

import asyncio
from asyncio import events

from . import cell_loop

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


def prepare() -> None:
    """Prepare the loop that runs now; nothing where the kernel runs cells without one."""
    loop = events._get_running_loop()
    if loop is not None:
        cell_loop.let_loops_run(lambda: loop if events._get_running_loop() is loop else None)
        _outlive_exits(loop)


def _outlive_exits(loop: asyncio.AbstractEventLoop) -> None:
    """SystemExit out of a task or a callback would leave the loop, and end the kernel with all it knows."""
    plain = events.Handle._run

    def run(handle: Any) -> Any:
        if handle._loop is not loop:
            return plain(handle)
        try:
            return plain(handle)
        except SystemExit as error:
            said = "SystemExit in a task or callback: that is over, and the kernel goes on"
            loop.call_exception_handler({"message": said, "exception": error})

    events.Handle._run = run  # type: ignore[method-assign,assignment]  # There is no other place to catch it.
