"""What a checkpoint has to know of the kernel it is a copy of: what will not be there when it goes on."""

from __future__ import annotations

from . import fork_losses, fork_revivals, fork_safety, ipython_scripts, processes, shell_processes
from .stdlib import asyncio, os

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection
    from typing import Any

_MOST_NAMED = 20


def facts_before_fork(*, own_children: Collection[int] | None) -> dict[str, Any]:
    """In the live kernel, just before the fork: what cannot be seen from the copy.

    `own_children` are child processes that are not the user's; None if there can be no others.
    """
    fork_safety.before_fork()
    fork_revivals.note_threads()
    pids = [] if own_children is None else [pid for pid in processes.children(os.getpid()) if pid not in own_children]
    children = _names_of_children([*pids, *shell_processes.left()])
    return {"threads": fork_safety.lost_threads(), "children": children, "by_value": fork_safety.by_value_reason()}


def _names_of_children(pids: Collection[int]) -> list[str]:
    names = [(pid, processes.name(pid)) for pid in pids]
    return [f"child process {name!r} ({pid})" for pid, name in names if name][:_MOST_NAMED]


def give_up_imports() -> list[str]:
    """In a copy that begins to sleep: modules that a lost thread was importing are not imported. Returns them."""
    return fork_revivals.give_up_imports()[:_MOST_NAMED]


def give_up_tasks(loop: asyncio.AbstractEventLoop) -> list[str]:
    """The tasks that were pending: their loop is not run any more. Returns them for the reader of a restore."""
    tasks = _unfinished_tasks(loop)
    for task in tasks:
        task._log_destroy_pending = False  # type: ignore[attr-defined]  # The reader is told already.
    return [f"asyncio task {task.get_name()!r}" for task in tasks][:_MOST_NAMED]


def lost_variables(namespace: dict[str, Any], reserved: Collection[str], loop: asyncio.AbstractEventLoop) -> list[str]:
    """The variables that hold something which did not come along; what can be mended is mended."""
    names = [name for name in namespace if type(name) is str and name[:1] != "_" and name not in reserved]
    own = {name: namespace[name] for name in names}
    ipython_scripts.forget_loop()
    return fork_losses.lost_objects(own, tasks_are_lost=bool(_unfinished_tasks(loop)))[:_MOST_NAMED]


def _unfinished_tasks(loop: asyncio.AbstractEventLoop) -> list[asyncio.Task[Any]]:
    return [task for task in asyncio.all_tasks(loop) if not task.done()]
