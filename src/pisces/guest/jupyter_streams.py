"""The standard streams of ipykernel, whole and in order: prints, child processes and C code, in bounded messages.

ipykernel reads what child processes write in a thread of its own, in no order with what Python prints, and puts all
that is printed within 0.2 s into one message, however much that is. Here whoever prints first takes in what children
have written, and a stream is sent on when another one is written to, or when much has gathered.
"""

from __future__ import annotations

import codecs
import sys

from .stdlib import os, select, threading

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_GATHERED = 1 << 18
_READ = 1 << 16
_QUEUED = 64
"""Messages that wait for a reader; whoever prints then waits too."""


class Captured:
    """One stream, and the pipe that its descriptor leads to."""

    def __init__(self, stream: Any, descriptor: int, pipe: int) -> None:
        self.stream = stream
        self.descriptor = descriptor
        self.pipe = pipe
        self.write = stream.write
        self.send = stream.flush
        self.gathered = 0
        self.decoder = codecs.getincrementaldecoder("utf-8")("replace")

    def read(self) -> bool:
        """Take in what children have written; whether there was anything."""
        try:
            data = os.read(self.pipe, _READ)
        except OSError:
            return False  # Nothing there, or gone.
        if data:
            # The thread that reads may be another one than the one that prints, and ipykernel keeps their texts apart.
            self.flush()
            self.put(self.decoder.decode(data))
            self.flush()
        return bool(data)

    def finish(self) -> None:
        """Half a character that no child goes on with is not kept for the next cell."""
        rest = self.decoder.decode(b"", True)
        if rest:
            self.put(rest)

    def put(self, text: str) -> None:
        for start in range(0, len(text), _GATHERED):
            piece = text[start : start + _GATHERED]
            self.gathered += len(piece)  # Before it is written: an interrupt may come between.
            self.write(piece)
            if self.gathered > _GATHERED:
                self.flush()

    def flush(self) -> None:
        """Have what was written sent, if anything was: waiting for the thread that sends costs as much as a cell."""
        if self.gathered:
            self.send()
            self.gathered = 0  # Not before: what an interrupt kept from being sent would come with a later cell.


class OrderedStreams:
    """Both streams of a kernel."""

    def __init__(self, captured: list[Captured]) -> None:
        self._captured = captured
        self._pipes = select.poll()
        for one in captured:
            self._pipes.register(one.pipe, select.POLLIN)
        self._last = captured[0]
        self._lock = threading.RLock()
        self._owner = os.getpid()

    @classmethod
    def install(cls, shell: Any) -> OrderedStreams | None:
        """Take over the streams of this shell's kernel; None where they are not what we know."""
        captured = [_take_over(stream) for stream in (sys.stdout, sys.stderr)]
        known = [one for one in captured if one is not None]
        if len(known) != 2:
            return None
        streams = cls(known)
        for one in known:
            streams.replace_write(one)
        threading.Thread(target=streams.watch, name="pisces-streams", daemon=True).start()
        shell.events.register("post_execute", streams.settle)
        return streams

    def replace_write(self, one: Captured) -> None:
        """Have what is written through Python come in order."""

        def write(text: str) -> int | None:
            if type(text) is not str or os.getpid() != self._owner:
                return one.write(text)  # type: ignore[no-any-return]  # A fork of the user's: its own affair.
            with self._lock:
                self._take_in()
                self._turn_to(one)
                one.put(text if text.isascii() else _printable(text))
            return len(text)

        def flush() -> None:
            if os.getpid() == self._owner:
                with self._lock:
                    self._take_in()  # A display flushes first: what a child wrote before it stands before it.
                    one.flush()
            else:
                one.send()

        one.stream.write = write
        one.stream.flush = flush
        one.stream.fileno = lambda: one.descriptor

    def watch(self) -> None:
        """Take in what children write while nobody prints."""
        pipes = [one.pipe for one in self._captured]
        while True:
            select.select(pipes, [], [])
            with self._lock:
                self._take_in()

    def flush(self) -> None:
        """Send on all that there is."""
        with self._lock:
            self._take_in()
            for one in self._captured:
                one.flush()

    def settle(self) -> None:
        """At the end of a cell: what C code holds back, what children wrote, what Python printed."""
        if os.getpid() == self._owner:
            _flush_c()
            with self._lock:
                self._take_in()
                for one in self._captured:
                    one.finish()
                self.flush()

    def _take_in(self) -> None:
        while ready := self._pipes.poll(0):
            reading = False
            readable = {pipe for pipe, _ in ready}
            for one in self._captured:
                if one.pipe in readable:
                    self._turn_to(one)
                    reading |= one.read()
            if not reading:
                return

    def _turn_to(self, one: Captured) -> None:
        """What was written to the other stream goes first."""
        if self._last is not one:
            self._last.flush()
            self._last = one


def drop_nothing(shell: Any) -> None:
    """Have the kernel wait for a reader that does not keep up: it would drop what does not fit, without a word."""
    thread = getattr(getattr(shell, "kernel", None), "iopub_thread", None)
    if thread is not None:
        thread.schedule(lambda: _wait_for_readers(thread.socket))  # Only the thread that uses it may touch it.


def _wait_for_readers(socket: Any) -> None:
    import zmq

    try:
        socket.setsockopt(zmq.XPUB_NODROP, 1)
    except (AttributeError, zmq.ZMQError):
        socket.setsockopt(zmq.SNDHWM, 0)  # Then it keeps all that there is.
    else:
        socket.setsockopt(zmq.SNDHWM, _QUEUED)


def _take_over(stream: Any) -> Captured | None:
    """End ipykernel's own reading of a stream's descriptor; None if there is none."""
    pipe = getattr(stream, "_fid", None)
    descriptor = getattr(stream, "_original_stdstream_fd", None)
    reader = getattr(stream, "watch_fd_thread", None)
    if pipe is None or descriptor is None or reader is None or not getattr(stream, "_should_watch", False):
        return None
    stream._should_watch = False
    os.write(descriptor, b"\n")  # It wakes, sees that it is not wanted, and drops this.
    reader.join(2)
    if reader.is_alive():
        stream._should_watch = True
        return None
    os.set_blocking(pipe, False)
    return Captured(stream, descriptor, pipe)


def _printable(text: str) -> str:
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return text.encode("utf-8", "backslashreplace").decode("utf-8")
    return text


def _flush_c() -> None:
    try:
        import ctypes

        ctypes.CDLL(None).fflush(None)
    except (ImportError, OSError, AttributeError):
        pass  # A Python without ctypes has no C code of that kind either.
