"""Signals that end the talk, whatever it waits for."""

import signal
import socket
import threading
from types import FrameType, TracebackType
from typing import Final, Never, Self

_AGAIN: Final = 0.2
"""Seconds after which a signal that was not heard is sent again."""


class Ended(SystemExit):
    """A signal came that ends us. As it is a `SystemExit`, the event loop lets it through."""


class EndSignals:
    """While entered, SIGTERM and SIGHUP raise `Ended` in the main thread.

    One that comes just before readline begins to wait for a key is not heard before that key, so it is sent again until
    it is.
    """

    def __init__(self) -> None:
        self._before = {number: signal.getsignal(number) for number in (signal.SIGTERM, signal.SIGHUP)}
        self._heard = threading.Event()
        self._coming, self._sign = socket.socketpair()
        self._sign.setblocking(False)
        self._wakeup = -1

    def __enter__(self) -> Self:
        for number, handler in self._before.items():
            if handler != signal.SIG_IGN:  # As SIGHUP is with `nohup`.
                signal.signal(number, self._end)
        self._wakeup = signal.set_wakeup_fd(-1)
        threading.Thread(target=self._see_that_it_is_heard, daemon=True).start()
        return self

    def watch(self) -> None:
        """A line is about to be waited for. Call it before each: an event loop that ran meanwhile took over."""
        signal.set_wakeup_fd(self._sign.fileno(), warn_on_full_buffer=False)

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._heard.set()
        signal.set_wakeup_fd(self._wakeup)
        self._sign.close()
        for number, handler in self._before.items():
            signal.signal(number, handler)

    def _end(self, number: int, _frame: FrameType | None) -> Never:
        self._heard.set()
        raise Ended(128 + number)

    def _see_that_it_is_heard(self) -> None:
        with self._coming:
            while number := self._coming.recv(1):
                if number[0] in self._before and signal.getsignal(number[0]) == self._end:
                    self._send_again(number[0])

    def _send_again(self, number: int) -> None:
        main = threading.main_thread().ident
        while main is not None and not self._heard.wait(_AGAIN):
            signal.pthread_kill(main, number)
