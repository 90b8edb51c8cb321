"""Our own processes, closed to the code that they run for others."""

import os
import sys
from typing import Final

_PR_SET_DUMPABLE: Final = 4
_FOR_PYTHON: Final = ("PYTHON", "LD_", "DYLD_")


def protect_process() -> None:
    """Have the system let no other process of the user read our memory, our environment or our descriptors.

    The environment of `pisces` has keys and tokens that the filter keeps from cells, and the first environment of a
    process stays readable in `/proc` whatever becomes of `os.environ`. Only Linux has this, and root can still read.
    The price is that debuggers and profilers need root too, and that there are no core dumps. Programs that we start
    are not affected. For processes of Pisces only: a library does not change the program that embeds it.
    """
    if sys.platform != "linux":
        return
    import ctypes

    try:
        ctypes.CDLL(None).prctl(_PR_SET_DUMPABLE, 0, 0, 0, 0)
    except (OSError, AttributeError):
        return  # A C library that cannot be asked; nothing else works differently.


def module_command(module: str) -> list[str]:
    """How to run a module of ours. No file in the folder where it starts can take the place of one of ours."""
    return [sys.executable, "-I" if sys.flags.isolated else "-P", "-m", module]


def bare_environment() -> dict[str, str]:
    """What Python needs of our environment to import us. No cell can read a secret from a process that has only this.

    `protect_process` would come too late for a short one: a program is readable until its first lines have run.
    """
    return {name: value for name, value in os.environ.items() if name.startswith(_FOR_PYTHON)}
