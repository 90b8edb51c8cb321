"""What asyncio tells code in a cell: the kernel's loop is there to put tasks on, and no loop is in the way of another.

A cell without a top-level await runs while the kernel's loop does not. So `asyncio.run`, uvloop, nest_asyncio and all
else that runs a loop works: they ask `asyncio._get_running_loop`, which says that none runs. Code that wants to put a
task on a loop asks `asyncio.get_running_loop`, which says the kernel's while a cell runs, as in any Jupyter kernel.
Where a loop does run around a cell, because of a top-level await or in ipykernel, `let_loops_run` has it step aside.
"""

from __future__ import annotations

import asyncio
import functools
import sys
from asyncio import events, tasks

from .stdlib import os, threading

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from types import FrameType
    from typing import Any

_REFUSE_BESIDE_A_LOOP = {
    ("anyio._core._eventloop", "current_async_library"),
    ("playwright.sync_api._context_manager", "__enter__"),
    ("patchright.sync_api._context_manager", "__enter__"),
    ("asgiref.sync", "__call__"),
    ("django.utils.asyncio", "inner"),
    ("agents.run", "run_sync"),
}
"""Functions, by module and name, that ask for the running loop only to refuse where there is one. In a cell without a
top-level await none runs, and they are told so: `anyio.run`, playwright's sync API, Django's ORM and the like work.
"""
_CAN_SWAP = hasattr(tasks, "_swap_current_task")  # New in 3.12.
_plain_get_running_loop = events.get_running_loop


class _Cell:
    """The cell that runs, and what the one before left."""

    loop: asyncio.AbstractEventLoop | None = None
    thread = 0
    pid = 0
    left: asyncio.AbstractEventLoop | None = None
    """A loop that the last cell left marked as running. playwright's sync API does: its loop runs in a greenlet."""


def install() -> None:
    """Patch asyncio. Called before anything of the user's is imported, which may take functions out of asyncio."""
    asyncio.get_running_loop = events.get_running_loop = get_running_loop
    for name in ("current_task", "all_tasks"):
        by_default_here = _for_this_loop(getattr(tasks, name))
        setattr(asyncio, name, by_default_here)
        setattr(tasks, name, by_default_here)
    let_loops_run(_loop_of_the_cell)


def begin(loop: asyncio.AbstractEventLoop) -> None:
    """A cell begins: this is its loop."""
    pid = os.getpid()
    if _Cell.left is not None:
        if pid == _Cell.pid and _Cell.left.is_running():  # What a copy has of it does not go on.
            events._set_running_loop(_Cell.left)
        _Cell.left = None
    _Cell.loop, _Cell.thread, _Cell.pid = loop, threading.get_ident(), pid


def end() -> None:
    """The cell has ended: the kernel can run its own loop."""
    if getattr(_Cell.loop, "_stopping", False):
        # The cell called `stop()` while the loop did not run. The next run would end at once, before its time.
        _Cell.loop._stopping = False  # type: ignore[union-attr]  # typeshed leaves out private names.
    _Cell.loop = None
    _Cell.left = events._get_running_loop()
    if _Cell.left is not None:
        events._set_running_loop(None)


def get_running_loop() -> asyncio.AbstractEventLoop:
    """Return the event loop of the current thread; in a cell, the kernel's if no other one runs.

    Raise a RuntimeError if there is none.
    """
    if events._get_running_loop() is None:
        loop = _loop_of_the_cell()
        if loop is not None and not _refuses_beside_a_loop(sys._getframe(1)):
            return loop
    return _plain_get_running_loop()


get_running_loop.__module__ = events.__name__  # Where it is found when it is unpickled.


def let_loops_run(kernels_loop: Callable[[], asyncio.AbstractEventLoop | None]) -> None:
    """Have other loops run beside the kernel's, which `kernels_loop` returns in a cell and None elsewhere."""
    asyncio.run = asyncio.runners.run = _beside(asyncio.run, kernels_loop, keeps_current=True)
    runner: Any = getattr(asyncio, "Runner", None)  # New in 3.11.
    if runner is not None:
        runner.run = _beside(runner.run, kernels_loop)
    loop: Any = asyncio.BaseEventLoop
    loop.run_until_complete = _beside(loop.run_until_complete, kernels_loop)
    loop.run_forever = _beside(loop.run_forever, kernels_loop)


def _beside(plain: Any, kernels_loop: Callable[[], Any], *, keeps_current: bool = False) -> Any:
    """A function that runs a loop, for which the kernel's is not in the way.

    With `keeps_current`, the kernel's loop is the current one afterwards: `asyncio.run` leaves none.
    """

    @functools.wraps(plain)
    def run(*args: Any, **options: Any) -> Any:
        __tracebackhide__ = True
        kernels = kernels_loop()
        if kernels is None:
            return plain(*args, **options)
        running = events._get_running_loop()
        # A loop that runs no task was only left marked as running; one that does is the user's, and counts.
        steps_aside = running is not None and (running is kernels or tasks.current_task(running) is None)
        task = _step_aside(running) if steps_aside else None
        try:
            return plain(*args, **options)
        finally:
            if steps_aside:
                _step_back(running, task)
            if keeps_current:
                events.set_event_loop(kernels)

    return run


def _step_aside(loop: Any) -> Any:
    """Have no loop run in this thread, nor a task: from Python 3.14 on, one thread has one task, whatever its loop."""
    task = tasks._swap_current_task(loop, None) if _CAN_SWAP else None  # type: ignore[attr-defined]  # typeshed leaves out private names.
    events._set_running_loop(None)
    return task


def _step_back(loop: Any, task: Any) -> None:
    events._set_running_loop(loop)
    if _CAN_SWAP:
        tasks._swap_current_task(loop, task)  # type: ignore[attr-defined]  # typeshed leaves out private names.


def _loop_of_the_cell() -> asyncio.AbstractEventLoop | None:
    """The kernel's loop, where the code of a cell asks: not one of its threads, nor a process that it forked."""
    loop = _Cell.loop
    return loop if loop is not None and threading.get_ident() == _Cell.thread and os.getpid() == _Cell.pid else None


def _refuses_beside_a_loop(caller: FrameType) -> bool:
    return (caller.f_globals.get("__name__"), caller.f_code.co_name) in _REFUSE_BESIDE_A_LOOP


def _for_this_loop(plain: Any) -> Any:
    """`current_task` or `all_tasks`, asking about the loop that `get_running_loop` returns."""

    @functools.wraps(plain)
    def ask(loop: asyncio.AbstractEventLoop | None = None) -> Any:
        return plain(get_running_loop() if loop is None else loop)

    ask.__module__ = tasks.__name__  # Where it is found when it is unpickled.
    return ask
