"""Importing the SDK: most of what a client waits for when it launches a server."""

import gc
from functools import partial
from importlib import import_module
from typing import Any

import anyio


async def load(module: str) -> Any:
    """Import a module of ours that loads the SDK, in a thread: what the first call needs comes up meanwhile."""
    return await anyio.to_thread.run_sync(partial(_import_without_collecting, module))


def _import_without_collecting(module: str) -> Any:
    """The SDK makes a hundred thousand objects that stay, and next to no garbage.

    To look for some, again and again, is a tenth of the import. Nor is it looked for in them later.
    """
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        return import_module(module)
    finally:
        gc.freeze()
        if was_enabled:
            gc.enable()
