"""Starting the UI: on the screen where that can be, else in lines of text; and a host ahead of its first cell."""

import gc
import os
import signal
import sys
import threading
from collections.abc import Mapping
from importlib.util import find_spec
from types import FrameType
from typing import TYPE_CHECKING, Final, TextIO

from pisces.tui.options import UiOptions

if TYPE_CHECKING:
    from pisces.tui.app import PiscesApp

_KNOW_NO_SCREEN: Final = frozenset({"", "dumb", "unknown"})
_FIXED_SIZE: Final = ("COLUMNS", "LINES")
"""Variables that would count more than the terminal, which may become larger and smaller while it is looked at."""
_TURN: Final = 0.001
"""Seconds after which a thread that hears output lets the one go on that draws the answer to a key."""
_END_IT: Final = (signal.SIGTERM, signal.SIGHUP, signal.SIGINT)
_TO_END: Final = 3.0
"""Seconds to leave the screen after a signal, and to end after that: what is waited for may never come."""


def start(options: UiOptions, *, plain: bool) -> int:
    """Show the UI until it is left, and return the exit code."""
    why = "" if plain else why_no_screen(os.environ, (sys.__stdin__, sys.__stdout__, sys.__stderr__))
    if plain or why:
        from pisces.tui.plain.talk import talk

        return talk(options, why=why)
    _have_a_host_soon()
    return _show(options)


def why_no_screen(environ: Mapping[str, str], streams: tuple[TextIO | None, ...]) -> str:
    """What keeps a screen from being drawn, in a sentence; nothing where it can be."""
    for stream, name in zip(streams, ("input", "output", "error"), strict=True):
        if stream is None or not stream.isatty():
            return f"standard {name} is not a terminal"
        # What is drawn goes to standard error, and lines are what most of it is made of.
        if name == "error" and (stream.encoding or "").lower().replace("-", "") != "utf8":
            return f"the encoding of this terminal is {stream.encoding}, and a screen needs UTF-8"
    if environ.get("TERM", "") in _KNOW_NO_SCREEN:
        return f"TERM={environ.get('TERM', '')} is a terminal without a screen"
    if find_spec("textual") is None:
        return f"textual is not installed; `{sys.executable} -m pip install 'textual>=8,<9'` brings the screen"
    return ""


def _have_a_host_soon() -> None:
    """Start the background host while the person begins to type. One that nobody uses ends by itself."""
    threading.Thread(target=_have_a_host, daemon=True).start()


def _have_a_host() -> None:
    from pisces.errors import PiscesError
    from pisces.host.start import have_host

    try:
        have_host(os.environ).close()
    except PiscesError:
        return  # The first cell meets the same, and the person is told then.


def _show(options: UiOptions) -> int:
    import asyncio

    for name in _FIXED_SIZE:
        os.environ.pop(name, None)
    if not os.environ.get("NO_COLOR"):
        os.environ.pop("NO_COLOR", None)  # An empty one means nothing, and the toolkit takes it for a wish.

    from pisces.tui.app import PiscesApp
    from pisces.tui.driver import TerminalDriver

    sys.setswitchinterval(_TURN)
    _look_for_garbage_seldom()
    app = PiscesApp(options)
    app.driver_class = TerminalDriver
    return asyncio.run(_until_it_ends(app))


def _look_for_garbage_seldom() -> None:
    """A look through everything holds up a key for 100 ms: leave out what stays, and look a fiftieth as often."""
    gc.freeze()
    often, less_often, seldom = gc.get_threshold()
    gc.set_threshold(often, less_often, seldom * 50)


async def _until_it_ends(app: "PiscesApp") -> int:
    """The exit code. A signal has the screen left first, so that the terminal is as it was."""
    import asyncio

    loop = asyncio.get_running_loop()

    def end(number: int, _frame: FrameType | None) -> None:
        # In a thread, because the loop may be held up by a terminal that is gone.
        _end_at_last(128 + number)
        loop.call_soon_threadsafe(app.exit, 128 + number)

    for number in _END_IT:
        signal.signal(number, end)
    ended = await app.run_async()
    code = ended if isinstance(ended, int) else app.return_code or 0
    _end_at_last(code)  # Threads are waited for at the end, and one may wait for a host that does not answer.
    return code


def _end_at_last(code: int) -> None:
    timer = threading.Timer(_TO_END, os._exit, (code,))
    timer.daemon = True
    timer.start()
