"""The event loop that IPython runs in a thread for `%%bash` and its like: a copy has the loop without the thread.

Whoever waits for that loop in a copy waits for ever, so a copy that is woken forgets it, and IPython makes another.
"""

from __future__ import annotations

import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    import threading
    from typing import Any


def runs_scripts(thread: threading.Thread) -> bool:
    """Whether IPython started this thread for its scripts."""
    scripts = _script_magics()
    loop = None if scripts is None else scripts.event_loop
    return loop is not None and getattr(getattr(thread, "_target", None), "__self__", None) is loop


def forget_loop() -> None:
    """Have the next script begin with a loop of its own; for a copy that is woken."""
    scripts = _script_magics()
    if scripts is None or scripts.event_loop is None:
        return
    scripts.event_loop = None
    finalizer = getattr(scripts, "_event_loop_finalizer", None)  # Newer ones stop the loop at the end.
    if finalizer is not None:
        finalizer.detach()
        scripts._event_loop_finalizer = None


def _script_magics() -> Any:
    """IPython's object behind `%%script`; None where no script can have run yet."""
    ipython = sys.modules.get("IPython")
    if ipython is None or "IPython.core.magics.script" not in sys.modules:
        return None
    shell = ipython.get_ipython()
    return None if shell is None else shell.magics_manager.registry.get("ScriptMagics")
