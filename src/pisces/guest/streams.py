"""Standard output and standard error of a kernel: raw bytes on fd 1 and fd 2, in an order the host can rebuild.

Text is not framed. `sys.stdout` and `sys.stderr` write to the same pipes as child processes and C code, and the host
reads those raw. So that it can put the two pipes and the frames together again, `OutputOrder` writes numbered markers
with a secret nonce to both pipes: between text and a frame, and where Python turns from one stream to the other.
"""

from __future__ import annotations

import io
import sys
from contextlib import contextmanager

from .descriptors import private_duplicate
from .flusher import Flusher, InterruptGuard
from .fork_messages import no_fork_messages
from .forking import expect_output, is_aside
from .stdlib import array, fcntl, os, select, termios, threading

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Any

_CHILD_STARTS = frozenset(
    ("subprocess.Popen", "os.system", "os.posix_spawn", "os.fork", "os.forkpty", "os.exec", "os.spawn", "pty.spawn")
)
_OWN_THREADS = 2  # The main thread and the one that flushes.


def write_all(fd: int, data: bytes) -> None:
    """Write everything, also when a child has made the shared pipe non-blocking."""
    view = memoryview(data)
    while view:
        try:
            view = view[os.write(fd, view) :]
        except BlockingIOError:
            select.select([], [fd], [])


class OutputOrder:
    """Who wrote last, and the markers between. One lock orders markers, raw writes and frames.

    A marker in front of a frame is written only when there is something in the pipes that it must be told from, or
    when a child may write something that does not wait for us.
    Otherwise it is owed: the frame names its number already, and it is written in front of the next text.
    """

    def __init__(self) -> None:
        self.lock = threading.RLock()
        self.guard = InterruptGuard()
        self.guard.whole.add(_RawWriter.write.__code__)
        self.stdout_pipe = private_duplicate(1)
        self.stderr_pipe = private_duplicate(2)
        self.children: bool  # There may be one: then anybody may write between two writes of ours.
        self.release_frames: Callable[[], None] = _nothing
        """Sends the frames that are held back: they stand before the text that comes now."""
        self.begin("")

    def begin(self, nonce: str) -> None:
        """Count from nothing, with markers of this nonce: nothing has been written yet."""
        self._prefix = b"\x1ep" + nonce.encode("ascii")
        self._sequence = 0
        self._owed = False
        self._last: _RawWriter | None = None
        self._enabled = True
        self.children = False

    def place(self) -> tuple[int, bool]:
        """The place of a frame: after all text in front of the marker of this number, which is written or owed.

        The caller has flushed the streams and holds the lock.
        """
        if self.children or _unread(self.stdout_pipe) or _unread(self.stderr_pipe):
            self.mark()
            return self._sequence, True
        if not self._owed:
            self._sequence += 1
            self._owed = True
        return self._sequence, False

    def mark(self) -> None:
        """Write a marker to both pipes: what follows comes after all that was written or sent before."""
        if not self._enabled:
            return
        self.release_frames()
        if not self._owed:
            self._sequence += 1
        self._owed = False
        self._last = None
        marker = b"%s%08x\n" % (self._prefix, self._sequence)
        write_all(self.stdout_pipe, marker)
        write_all(self.stderr_pipe, marker)

    def turn_to(self, writer: _RawWriter) -> None:
        """Mark the place where Python turns to a stream from the other one, or from frames. The caller has the lock."""
        if self._owed or self.children or (self._last is not writer and self._last is not None):
            self.mark()
        self._last = writer

    def disown(self) -> None:
        """In a process that user code forked: write on, but never a marker."""
        self._enabled = False
        self.lock = threading.RLock()


def _nothing() -> None:
    pass


def _unread(pipe: int) -> bool:
    """Whether the host has yet to read something from the pipe; True where the system does not tell."""
    count = array.array("i", [0])
    try:
        fcntl.ioctl(pipe, termios.FIONREAD, count)
    except OSError:
        return True
    return count[0] > 0


def _threads_of_the_user() -> bool:
    """Whether others may be printing: `threading.active_count()`, which takes a lock and so 20 times as long."""
    return len(threading._active) > _OWN_THREADS  # type: ignore[attr-defined]  # Not in typeshed; there in 3.9 to 3.13.


class _RawWriter(io.RawIOBase):
    """The bottom of a text stream: one descriptor, written through the common order."""

    def __init__(self, fd: int, order: OutputOrder) -> None:
        self._fd = fd
        self._order = order
        self._main = threading.get_ident()
        self.on_threads: Callable[[], None] = _nothing
        """Called when threads of the user's may be writing too, before a write that may wait."""

    def fileno(self) -> int:
        return self._fd

    def writable(self) -> bool:
        return True

    def write(self, data: Any) -> int:
        size = len(data)
        if is_aside() and threading.get_ident() == self._main:
            return size  # Printed by a function that user code has registered for forks. Nobody asked for this fork.
        if _threads_of_the_user():
            self.on_threads()
        with self._order.guard, self._order.lock:
            self._order.turn_to(self)
            write_all(self._fd, data)
            return size


class _TextStream(io.TextIOWrapper):
    """Text on one of the pipes. It cannot be closed: the kernel goes on when the cell that did so has ended."""

    def __init__(self, fd: int, order: OutputOrder, *, line_buffering: bool = False) -> None:
        raw = _RawWriter(fd, order)
        raw.on_threads = self.share
        buffer = io.BufferedWriter(raw, 65536)
        super().__init__(buffer, encoding="utf-8", errors="backslashreplace", line_buffering=line_buffering)
        self._guard = order.guard
        # Who flushes takes the text that others have written, and may then wait for the buffer below: without this,
        # they could write on and be there first.
        self.turn = threading.RLock()

    def flush(self) -> None:
        if _threads_of_the_user():
            with self.turn, self._guard:
                super().flush()
        else:
            super().flush()
        self._guard.raise_deferred()  # Code that does nothing but flush would hardly ever leave a moment for it.

    def close(self) -> None:
        """Flush."""
        self.flush()

    def share(self) -> None:
        """Several threads write from now on. One alone is never overtaken, and must not pay for it (0.3 µs a write)."""
        self.write = self._write_in_turn  # type: ignore[method-assign]  # For this stream alone.

    def _write_in_turn(self, text: str) -> int:
        with self.turn, self._guard:
            written = super().write(text)
        self._guard.raise_deferred()
        return written


class _Stdout(_TextStream):
    """Buffered: a print costs no system call; the buffer goes out when it is full, and every 20 ms."""

    name = "<stdout>"


class _Stderr(_TextStream):
    """Unbuffered, as everywhere; what was printed to stdout before comes before."""

    name = "<stderr>"

    def write(self, text: str) -> int:
        sys_stdout = StandardStreams.current
        if sys_stdout is not None:
            sys_stdout.stdout.flush()
        with self.turn:
            written = super().write(text)
            self.flush()
        return written

    def share(self) -> None:
        """Nothing to change: each write has its turn already."""


class StandardStreams:
    """Puts our streams in place of `sys.stdout` and `sys.stderr`, and flushes them when it is time."""

    current: StandardStreams | None = None

    def __init__(self) -> None:
        self.order = OutputOrder()
        self.stdout = _Stdout(1, self.order)
        self.stderr = _Stderr(2, self.order)
        self._c_flush = _c_stdio_flush()
        self.flusher = Flusher(self.stdout, self.order.guard)
        self.before_child: Callable[[], None] = _nothing
        """Called when user code is about to start a child process."""

    def install(self) -> None:
        """Make these the streams of the process."""
        StandardStreams.current = self
        sys.stdout = sys.__stdout__ = self.stdout  # type: ignore[misc]  # Final for typeshed.
        sys.stderr = sys.__stderr__ = self.stderr  # type: ignore[misc]  # Final for typeshed.
        sys.addaudithook(self._on_audit)
        os.register_at_fork(after_in_child=self._in_forked_child)
        expect_output(self._flush_text)

    def attach(self, stdout: int, stderr: int, nonce: str) -> None:
        """Write to these pipes from now on."""
        for source, targets in ((stdout, (1, self.order.stdout_pipe)), (stderr, (2, self.order.stderr_pipe))):
            os.dup2(source, targets[0], inheritable=True)
            os.dup2(source, targets[1], inheritable=False)
        self.order.begin(nonce)
        self.flusher.forget()

    def attach_to_nothing(self) -> None:
        """Let go of the pipes, in a copy: what is printed from now on goes nowhere."""
        self.order.lock = threading.RLock()  # A thread that is lost may have held the old one.
        nowhere = os.open(os.devnull, os.O_WRONLY)
        self.attach(nowhere, nowhere, "")
        os.close(nowhere)

    @contextmanager
    def quiet(self) -> Iterator[None]:
        """Nothing is buffered, and no thread begins to write: the process can be forked, and both can go on.

        Not with the lock of the order: who comes to wait for that holds a lock of the buffer, which a copy cannot open.
        """
        self.flush()
        with self.flusher.quiet, self.stdout.turn, self.stderr.turn, no_fork_messages(lambda text: write_all(2, text)):
            yield

    def begin_cell(self) -> None:
        """A cell begins; its output must not wait for a full buffer."""
        self.order.children = self.order.children and _has_children()
        self.flusher.wake()

    def reopen(self) -> None:
        """Open fd 1 and fd 2 again where a cell has closed them: what it printed last may still be in a buffer.

        Where it has deleted `sys.stdout` or `sys.stderr`, put ours back.
        """
        for fd, pipe in ((1, self.order.stdout_pipe), (2, self.order.stderr_pipe)):
            try:
                fcntl.fcntl(fd, fcntl.F_GETFD)
            except OSError:
                os.dup2(pipe, fd, inheritable=True)
        for name, stream in (("stdout", self.stdout), ("stderr", self.stderr)):
            if not hasattr(sys, name):
                setattr(sys, name, stream)

    def end_cell(self) -> None:
        """A cell has ended: everything of it goes into the pipes now."""
        self.flusher.busy = False
        self.flush()

    def flush(self) -> None:
        """Bring everything that Python and C code have buffered into the pipes."""
        self.stdout.flush()
        self.stderr.flush()
        self._c_flush()

    def _flush_text(self) -> None:
        self.stdout.flush()
        self.stderr.flush()

    def _on_audit(self, event: str, args: object) -> None:
        if event in _CHILD_STARTS and StandardStreams.current is self and not is_aside():
            self.before_child()
            # What was printed or shown before a child starts must stand before what the child writes.
            self.stdout.flush()
            with self.order.lock:
                self.order.children = True
                self.order.mark()

    def _in_forked_child(self) -> None:
        if is_aside():
            return
        self.order.disown()
        self.flusher.forget()
        # A thread of the parent's may have held a lock inside the old streams: they are left alone, and kept, because
        # their end would flush them. Lines go out at once, as the process may end with os._exit.
        old = self._abandoned = (self.stdout, self.stderr)
        self.stdout = _Stdout(1, self.order, line_buffering=True)
        self.stderr = _Stderr(2, self.order)
        if sys.stdout is old[0]:
            sys.stdout = sys.__stdout__ = self.stdout  # type: ignore[misc]  # Final for typeshed.
        if sys.stderr is old[1]:
            sys.stderr = sys.__stderr__ = self.stderr  # type: ignore[misc]  # Final for typeshed.


def _has_children() -> bool:
    try:
        os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT)
    except ChildProcessError:
        return False
    return True


def _c_stdio_flush() -> Callable[[], object]:
    """`fflush(NULL)` of the C library, or nothing where ctypes is missing."""
    try:
        import ctypes

        fflush = ctypes.CDLL(None).fflush
    except (ImportError, OSError, AttributeError):
        return lambda: None
    return lambda: fflush(None)
