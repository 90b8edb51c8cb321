"""What a Python kernel of Jupyter's gets from us when it starts, so that cells behave there as they do everywhere.

Its source, and those of its neighbours below, are sent to the kernel and run in it: `set_up` first, then the other
functions, as expressions beside the user's code. Nothing of it is in the user's namespace.
"""

from __future__ import annotations

import os
import sys

from . import stdin
from .jupyter_streams import OrderedStreams
from .variables import NamespaceWatch

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_STDIN_MIME = "application/x-pisces-stdin"
_INLINE = "module://matplotlib_inline.backend_inline"

_state: dict[str, Any] = {}


class Answer:
    """A value that travels as JSON, in the place of an expression's value."""

    def __init__(self, value: Any) -> None:
        self._value = value

    def _repr_mimebundle_(self, **_: Any) -> dict[str, Any]:
        return {"application/json": self._value}

    def __repr__(self) -> str:
        return "(an answer)"


def set_up(shell: Any, nonce: str, cwd: str, env: dict[str, str]) -> None:
    """Prepare the kernel of this IPython shell; `nonce` is what it is known by from now on."""
    watch = NamespaceWatch(shell.user_ns)
    _state.update(nonce=nonce, watch=watch, notes=[])
    _set_variables(env)
    if cwd:
        try:
            os.chdir(cwd)
        except OSError:
            _state["notes"].append(
                f"The folder {cwd} is not there where the kernel runs; cells begin in {os.getcwd()}."
            )
    if "" not in sys.path:
        sys.path.insert(0, "")
    _show_figures()
    _refuse_input(shell)
    shell.ask_exit = _leave
    _state["streams"] = OrderedStreams.install(shell)
    watch.reset()


def identify() -> Answer:
    """Who this is, and what there was to say about the start."""
    notes, _state["notes"] = _state["notes"], []
    return Answer({"nonce": _state["nonce"], "notes": notes, "pid": os.getpid()})


def changes() -> Answer:
    """What has happened to the user's names since the last look."""
    return Answer(_state["watch"].changes())


def everything() -> Answer:
    """Every name of the user's."""
    return Answer(_state["watch"].everything())


def go(cwd: str | None, env: dict[str, str]) -> None:
    """Change the folder and set variables, before a cell."""
    _set_variables(env)
    if cwd is not None:
        os.chdir(cwd)


def _set_variables(env: dict[str, str]) -> None:
    os.environ.update(env)


def _show_figures() -> None:
    """Our own default draws figures for nobody; here Jupyter's own backend shows them."""
    if os.environ.get("MPLBACKEND", "").lower() in {"", "agg"} and "matplotlib" not in sys.modules:
        os.environ["MPLBACKEND"] = _INLINE


def _leave(*_: Any) -> None:
    """`exit()` ends the cell, not the kernel."""
    __tracebackhide__ = True
    raise SystemExit(0)


def _refuse_input(shell: Any) -> None:
    """Whoever asks for input fails at once. The kernel puts its own functions in place at every cell: it gets ours."""

    def refuse(prompt: object = "", password: bool = False) -> str:
        __tracebackhide__ = True
        streams = _state.get("streams")
        if streams is not None:
            streams.flush()
        shell.display_pub.publish({_STDIN_MIME: {"prompt": str(prompt), "password": password}})
        raise stdin.StdinNotSupported

    def raw_input(prompt: object = "") -> str:
        """Not available: nobody can answer. Raises at once."""
        __tracebackhide__ = True
        return refuse(prompt)

    def getpass(prompt: str = "Password: ", stream: object = None, **_: object) -> str:
        """Not available: nobody can answer. Raises at once."""
        __tracebackhide__ = True
        return refuse(prompt, password=True)

    kernel = getattr(shell, "kernel", None)
    if kernel is not None:
        kernel.raw_input, kernel.getpass = raw_input, getpass
    sys.stdin = sys.__stdin__ = stdin.RefusedStdin(refuse)  # type: ignore[misc,assignment]  # Final for typeshed.
