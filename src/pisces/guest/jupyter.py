"""What a Python kernel of Jupyter's gets from us when it starts, so that cells behave there as they do everywhere.

Its source, and those of its neighbours below, are sent to the kernel and run in it: `set_up` first, then the other
functions, as expressions beside the user's code. Nothing of it is in the user's namespace.
"""

from __future__ import annotations

import atexit
import contextlib
import functools
import shutil
import sys
import tempfile
import warnings
from binascii import a2b_base64, b2a_base64
from datetime import datetime

from . import jupyter_loop, modules, prelude, stdin
from .given_names import GivenNames
from .json_safe import json_safe
from .jupyter_streams import OrderedStreams, drop_nothing
from .own_frames import leave_out_helpers
from .stdlib import faulthandler, json, os
from .variables import NamespaceWatch

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_STDIN_MIME = "application/x-pisces-stdin"
_ARTIFACT_PROMPT = "application/x-pisces-artifact:"
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


def set_up(shell: Any, nonce: str, cwd: str, env: dict[str, str], shares_machine: bool) -> None:
    """Prepare the kernel of this IPython shell; `nonce` is what it is known by from now on."""
    given = GivenNames(shell.user_ns)
    given.hide = shell.user_ns_hidden.update
    prelude.give(given, functools.partial(_publish, shell.display_pub), lambda: str(_state["run"]))
    watch = NamespaceWatch(shell.user_ns, given)
    modules.expect(shell.user_ns, given, watch.reset)
    _state.update(nonce=nonce, watch=watch, notes=[], run="")
    shell.events.register("pre_execute", functools.partial(_note_run, shell))
    shell.events.register("post_execute", prelude.end_cell)
    _set_variables(env)
    if cwd:
        try:
            os.chdir(cwd)
        except OSError:
            _state["notes"].append(
                f"The folder {cwd} is not there where the kernel runs; cells begin in {os.getcwd()}."
            )
    _trace_crashes()
    jupyter_loop.prepare()
    drop_nothing(shell)
    if "" not in sys.path:
        sys.path.insert(0, "")
    _show_figures()
    if not shares_machine:
        _copy_artifacts_from_host(shell)
    _refuse_input(shell)
    _show_no_frame_of_ours(shell)
    _give_again_after_reset(shell, given)
    _pack_anything(shell)
    shell.ask_exit = functools.partial(_leave, shell)
    warnings.filterwarnings("ignore", message="To exit: use", category=UserWarning)
    _forget_output(shell)
    _state["shell"] = shell
    watch.reset()


def identify() -> Answer:
    """Who this is, and what there was to say about the start. Asked for right after the cell that does `set_up`.

    Newer IPython puts the streams' own `write` back at the end of a cell: ours can take its place only now.
    """
    if "streams" not in _state:
        _state["streams"] = OrderedStreams.install(_state["shell"])
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


def _copy_artifacts_from_host(shell: Any) -> None:
    """Have `output()` ask for files of the host with an input request, which the host answers and no user sees."""
    from .prelude import artifacts

    kernel = getattr(shell, "kernel", None)
    if kernel is None:
        return
    folder = tempfile.mkdtemp(prefix="pisces-artifacts-")
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    os.environ["PI_ARTIFACTS_DIR"] = os.environ["ARTIFACTS"] = folder
    ask = kernel.raw_input  # The kernel's own, which `_refuse_input` replaces.

    def fetch(number: int, start: int) -> tuple[str, str, bytes]:
        reply = json.loads(ask(_ARTIFACT_PROMPT + json.dumps({"id": str(number), "start": start})))
        if "error" in reply:
            raise LookupError(reply["error"])
        return reply["name"], reply["place"], a2b_base64(reply["data"])

    artifacts.fetch_with(fetch)


def _trace_crashes() -> None:
    """Where C code crashed is told on what was standard error before the kernel took it over."""
    descriptor = getattr(sys.stderr, "_original_stdstream_copy", None)
    if descriptor is not None:
        faulthandler.enable(file=descriptor)


def _set_variables(env: dict[str, str]) -> None:
    os.environ.update(env)


def _show_figures() -> None:
    """Our own default draws figures for nobody; here Jupyter's own backend shows them."""
    if os.environ.get("MPLBACKEND", "").lower() in {"", "agg"} and "matplotlib" not in sys.modules:
        os.environ["MPLBACKEND"] = _INLINE


def _pack_anything(shell: Any) -> None:
    """Have any value travel. A lone surrogate in an error would keep the reply from being sent, and the cell from
    ending.
    """
    session = getattr(getattr(shell, "kernel", None), "session", None)
    if session is None or not hasattr(session, "pack"):
        return
    plain = session.pack

    def pack(value: Any) -> bytes:
        try:
            return json.dumps(value, default=_as_text, ensure_ascii=False, allow_nan=False).encode("utf-8")
        except (TypeError, ValueError):
            return plain(json_safe(value))  # type: ignore[no-any-return]  # It is the library's.

    session.pack = pack


def _as_text(value: Any) -> str:
    if isinstance(value, datetime):
        return (value if value.tzinfo else value.astimezone()).isoformat()
    if isinstance(value, bytes):
        return b2a_base64(value, newline=False).decode("ascii")
    raise TypeError(f"{type(value).__name__} is no JSON")


def _forget_output(shell: Any) -> None:
    """Newer IPython keeps all that cells print, for ever: a hundred megabytes of it, if need be."""
    if hasattr(shell, "_tee"):
        shell._tee = lambda channel: contextlib.nullcontext()


def _publish(publisher: Any, bundle: dict[str, Any]) -> None:
    """Show what we have to tell, whatever captures the displays of the cell: that takes the publisher's place."""
    streams = _state.get("streams")
    if streams is not None:
        streams.flush()
    publisher.publish(bundle)


def _note_run(shell: Any) -> None:
    """Which request the cell is that begins now. Asked in the thread that runs cells: others may not know."""
    parent = getattr(shell, "parent_header", None)
    header = parent.get("header", parent) if isinstance(parent, dict) else {}
    _state["run"] = header.get("msg_id", "")


def _show_no_frame_of_ours(shell: Any) -> None:
    """The user's line raised, as far as the user can see: a helper is not theirs to look into."""
    plain = shell.showtraceback

    def show(exc_tuple: Any = None, *args: Any, **options: Any) -> None:
        leave_out_helpers((exc_tuple or sys.exc_info())[2])
        plain(exc_tuple, *args, **options)

    shell.showtraceback = show


def _give_again_after_reset(shell: Any, given: GivenNames) -> None:
    """`%reset` empties the namespace; what the kernel began with is there all the same."""
    plain = shell.reset

    def reset(*args: Any, **options: Any) -> None:
        plain(*args, **options)
        given.restore()

    shell.reset = reset


def _leave(shell: Any, *_: Any) -> None:
    """`exit()` ends the cell, not the kernel. What it was given stands where Jupyter wants to know about the kernel."""
    __tracebackhide__ = True
    given = getattr(shell, "keepkernel_on_exit", None)
    raise SystemExit(given if isinstance(given, int) and not isinstance(given, bool) else 0)


def _refuse_input(shell: Any) -> None:
    """Whoever asks for input fails at once. The kernel puts its own functions in place at every cell: it gets ours."""

    publisher = shell.display_pub

    def refuse(prompt: object = "", password: bool = False) -> str:
        __tracebackhide__ = True
        _publish(publisher, {_STDIN_MIME: {"prompt": str(prompt), "password": password}})
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
