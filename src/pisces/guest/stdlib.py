"""The standard library as it was before any code of the user's ran.

Tests and mocks replace functions of modules, and may leave them replaced: `mock.patch("os.getpid")`, an open fake file
system, a frozen clock. The kernel itself calls these copies. They are no modules, so that tools which search
`sys.modules` for what to replace do not find them. What works for a cell, as the helpers do, sees what the cell sees.
"""

# ruff: noqa: PLC0414  # Without an alias, a type checker takes an import for our own use.

from __future__ import annotations

import builtins
import sys
from importlib import import_module
from types import SimpleNamespace

TYPE_CHECKING = False
if TYPE_CHECKING:
    import _socket as _socket
    import _thread as _thread
    import array as array
    import asyncio as asyncio
    import faulthandler as faulthandler
    import fcntl as fcntl
    import gc as gc
    import json as json
    import mmap as mmap
    import os as os
    import platform as platform
    import resource as resource
    import select as select
    import selectors as selectors
    import signal as signal
    import socket as socket
    import stat as stat
    import struct as struct
    import termios as termios
    import threading as threading
    import time as time
    import weakref as weakref

open = builtins.open  # noqa: A001  # The guest imports this name in place of the builtin.
loaded_modules = sys.modules


def __getattr__(name: str) -> object:
    """A copy of a module, made when our first module imports it from here: all that a kernel needs, at its start."""
    if name[:2] == "__":
        raise AttributeError(name)
    copy = globals()[name] = SimpleNamespace(**vars(import_module(name)))
    return copy
