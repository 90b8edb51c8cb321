"""What a process is beside its variables, as far as it comes along by value.

The folder, the environment, where modules are looked for, the arguments, the extension modules, and the state of the
random numbers; not the settings that libraries keep inside (options of a data frame library, styles of plots).
"""

from __future__ import annotations

import pickle
import random
import sys

from . import modules
from .kernel import own_variables
from .stdlib import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any


def save_state() -> bytes:
    """The state of this process; what cannot be had is left out."""
    state: dict[str, Any] = {
        "environ": {name: value for name, value in os.environ.items() if name not in own_variables},
        "path": [entry for entry in sys.path if type(entry) is str],
        "argv": [argument for argument in sys.argv if type(argument) is str],
        "modules": modules.loaded(),
        "random": random.getstate(),
    }
    try:
        state["cwd"] = os.getcwd()
    except OSError:
        pass  # The folder is gone.
    numpy_random = sys.modules.get("numpy.random")
    if numpy_random is not None:
        # Apart, because loading it needs the very modules that the path above leads to.
        state["numpy"] = pickle.dumps(numpy_random.get_state())
    return pickle.dumps(state)


def load_state(pickled: bytes) -> list[str]:
    """Take the state over; what could not be, each as `what (why)`."""
    state = pickle.loads(pickled)
    own = {name: os.environ[name] for name in own_variables if name in os.environ}
    os.environ.clear()
    os.environ.update({**state["environ"], **own})
    sys.path[:] = state["path"]
    sys.argv[:] = state["argv"]
    missing: list[str] = []
    if "cwd" in state:
        _attempt("the current folder", lambda: os.chdir(state["cwd"]), missing)
    if state["modules"]:  # They may import what the path above leads to, and draw numbers.
        missing += modules.load_again(state["modules"])
    random.setstate(state["random"])
    if "numpy" in state:
        _attempt("the random state of numpy", lambda: _load_numpy(state["numpy"]), missing)
    return missing


def _load_numpy(pickled: bytes) -> None:
    import numpy.random

    numpy.random.set_state(pickle.loads(pickled))


def _attempt(what: str, action: Callable[[], object], missing: list[str]) -> None:
    try:
        action()
    except Exception as error:  # A library's, or the system's: the variables matter more.
        missing.append(f"{what} ({type(error).__name__}: {error})")
