"""Eventfd, timerfd, epoll, signalfd and inotify: read what the system holds for one, and make another like it.

A fork shares them. What one process takes out of an eventfd is gone for the other, and a descriptor that one removes
from an epoll set is removed for both, so a copy needs its own. The system tells in `/proc/self/fdinfo` what they hold.
Two things cannot be made again: what an inotify descriptor watches, and that two descriptors of a timerfd, an epoll set
or a signalfd are duplicates of one; each is made for itself. Duplicates of one eventfd stay so where the system gives
it an id.
"""

from __future__ import annotations

import re

from . import processes
from .stdlib import os, struct, time

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

_INFO_BYTES = 1 << 16
_PREFIX = "anon_inode:"
_ADD = 1  # EPOLL_CTL_ADD
_NONBLOCK = 0o4000
_SIGNALS = re.compile(r"sigmask:\s*([0-9a-f]+)")
_REGISTERED = re.compile(r"tfd:\s*(\d+) events:\s*([0-9a-f]+) data:\s*([0-9a-f]+)(?:\s+pos:\S+ ino:([0-9a-f]+))?")
_SOON = 1e-9  # A timer that has expired, and whose expiry nobody has read, expires again at once.


class EventDescriptor:
    """One of them, as it was when this was made."""

    def __init__(self, kind: str, info: str) -> None:
        self.kind = kind
        self._info = info
        self._noted = time.monotonic()

    def make(self) -> int:
        """Another like it, for this process alone; without the registrations of an epoll set.

        Raises `OSError`, also where this Python cannot call the C library.
        """
        try:
            made = _MAKERS[self.kind](self, processes.c_library())
        except (ImportError, AttributeError) as error:
            raise OSError(f"cannot make another {self.kind}: {error}") from error
        if made < 0:
            raise OSError(f"the system did not make another {self.kind}")
        return int(made)

    def register(self, fd: int, inodes: dict[int, int]) -> None:
        """Register with an epoll set what was registered with the one this was made of, as far as it is still there.

        `inodes` has the inode behind each descriptor at that time. What is behind a number now does not matter: one
        that went dead is reported as closed by the other side, so that nobody waits for it.
        """
        control = processes.c_library().epoll_ctl
        for number, events, data, inode in _REGISTERED.findall(self._info):
            target = int(number)
            if target in inodes and (not inode or int(inode, 16) == inodes[target]):
                control(fd, _ADD, target, _epoll_event(int(events, 16), int(data, 16)))

    @property
    def watches(self) -> bool:
        """Whether it is an inotify descriptor that watched something."""
        return self.kind == "inotify" and "inotify wd:" in self._info

    @property
    def identity(self) -> str:
        """The same for duplicates of one; empty when that is not known."""
        return self._number("eventfd-id: *([0-9]+)")

    def _number(self, pattern: str) -> str:
        found = re.search(pattern, self._info)
        return found[1] if found else ""

    def _flags(self) -> int:
        return int(self._number("flags:\\s*([0-7]+)") or "0", 8) & _NONBLOCK | os.O_CLOEXEC

    def _eventfd(self, library: Any) -> int:
        made: int = library.eventfd(0, self._flags() | int(self._number("eventfd-semaphore: *([0-9])") or 0))
        count = int(self._number("eventfd-count: *([0-9a-f]+)") or "0", 16)
        if made >= 0 and count:
            os.write(made, struct.pack("@Q", count))
        return made

    def _timerfd(self, library: Any) -> int:
        clock = int(self._number("clockid: *([0-9]+)"))
        made: int = library.timerfd_create(clock, self._flags())
        settings = int(self._number("settime flags: *([0-7]+)") or "0", 8)
        seconds = self._seconds("it_value")
        if int(self._number("ticks: *([0-9]+)") or 0):
            seconds, settings = _SOON, 0
        if made >= 0 and seconds:
            # It runs on in real time, as everything does that waits for a clock.
            seconds = max(seconds - (time.monotonic() - self._noted), _SOON)
            start = time.clock_gettime(clock) + seconds if settings & 1 else seconds
            library.timerfd_settime(made, settings, _timer(self._seconds("it_interval"), start), None)
        return made

    def _seconds(self, name: str) -> float:
        found = re.search(name + r": \((\d+), (\d+)\)", self._info)
        return int(found[1]) + int(found[2]) / 1e9 if found else 0.0

    def _epoll(self, library: Any) -> int:
        made: int = library.epoll_create1(os.O_CLOEXEC)
        return made

    def _inotify(self, library: Any) -> int:
        made: int = library.inotify_init1(self._flags())
        return made

    def _signalfd(self, library: Any) -> int:
        import ctypes

        found = _SIGNALS.search(self._info)
        signals = (ctypes.c_uint64 * 16)(int(found[1], 16) if found else 0)
        made: int = library.signalfd(-1, signals, self._flags())
        return made


_MAKERS: dict[str, Callable[[EventDescriptor, Any], int]] = {
    "[eventfd]": EventDescriptor._eventfd,
    "[timerfd]": EventDescriptor._timerfd,
    "[eventpoll]": EventDescriptor._epoll,
    "inotify": EventDescriptor._inotify,
    "[signalfd]": EventDescriptor._signalfd,
}


def read_event_descriptor(fd: int, pid: int | str = "self") -> EventDescriptor | None:
    """What a descriptor holds, if it is one of these; else None. Raises `OSError` when it is gone (10 µs)."""
    target = os.readlink(f"/proc/{pid}/fd/{fd}")
    if not target.startswith(_PREFIX) or target[len(_PREFIX) :] not in _MAKERS:
        return None
    info = os.open(f"/proc/{pid}/fdinfo/{fd}", os.O_RDONLY | os.O_CLOEXEC)
    pieces = []
    try:
        while piece := os.read(info, _INFO_BYTES):
            pieces.append(piece)
    finally:
        os.close(info)
    return EventDescriptor(target[len(_PREFIX) :], b"".join(pieces).decode("ascii", "replace"))


def _epoll_event(events: int, data: int) -> Any:
    """`struct epoll_event`, which is packed on x86-64 alone."""
    import ctypes

    layout = "=IQ" if os.uname().machine == "x86_64" else "@IQ"
    return ctypes.create_string_buffer(struct.pack(layout, events, data))


def _timer(interval: float, start: float) -> Any:
    """`struct itimerspec`."""
    import ctypes

    fields = [part for seconds in (interval, start) for part in divmod(round(seconds * 1e9), 10**9)]
    return (ctypes.c_long * 4)(*fields)
