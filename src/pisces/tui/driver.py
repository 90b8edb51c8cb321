"""The toolkit's way to the terminal, with input that may be anything."""

import os
import selectors
import signal
from typing import Final

from textual._xterm_parser import XTermParser
from textual.drivers.linux_driver import LinuxDriver

from pisces.tui.terminal_input import TerminalInput

_LOOK_AGAIN: Final = 0.1
"""Seconds after which an escape character that nothing has followed is the key of that name."""
_CHUNK: Final = 4096


class TerminalDriver(LinuxDriver):
    """Reads keys as its base does, but for what `TerminalInput` makes safe. A terminal that has gone ends the app."""

    _continued = False
    _taking = False

    def run_input_thread(self) -> None:
        """Read until the app ends."""
        parser, given = XTermParser(self._debug), TerminalInput()
        with selectors.SelectSelector() as selector:
            selector.register(self.fileno, selectors.EVENT_READ)
            while not self.exit_event.is_set():
                if selector.select(_LOOK_AGAIN):
                    data = self._read()
                    if not data:
                        os.kill(os.getpid(), signal.SIGHUP)  # What it would have been told, had it been its own.
                        return
                    for event in parser.feed(given.feed(data)):
                        self.process_message(event)
                for event in parser.tick():
                    self.process_message(event)

    def _sigcont_application(self, *_: object) -> None:
        """Take the terminal again. Who was halted without a word has not given it back, and must not have it twice."""
        self._continued = True
        if self._taking:
            return  # The signal has come once more while the terminal was being taken.
        self._taking = True
        while self._continued:
            self._continued = False
            if self._auto_restart and not self._must_signal_resume:
                self.suspend_application_mode()
                self._must_signal_resume = True
            super()._sigcont_application()
        self._taking = False

    def _read(self) -> bytes:
        """What there is; nothing when there will be nothing more."""
        try:
            return os.read(self.fileno, _CHUNK)
        except OSError:
            return b""
