"""What gRPC prints to standard error at each fork: kept back, as nobody asked for the fork of a checkpoint.

It is printed by C code, to the C library's `stderr`. While a checkpoint is forked, that name stands for a file in
memory, and what is not gRPC's own is passed on afterwards; a line that a thread was just about to write, with the next
checkpoint. Descriptor 2 stays as it is: a program that a thread starts meanwhile inherits it.
"""

from __future__ import annotations

import re
from contextlib import contextmanager

from . import processes
from .stdlib import loaded_modules, os

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Any

_GRPC = "grpc._cython.cygrpc"
_LINE = re.compile(rb"[IWE]\d{4} [\d:.]+ +\d+ (?:\S*/)?fork_posix\.cc:\d+\] [^\n]*\n")


class _MemoryFile:
    """A file of the C library that is kept in memory, made once and used again: a thread may be writing to it."""

    def __init__(self) -> None:
        import ctypes

        library = processes.c_library()
        library.gnu_get_libc_version  # noqa: B018  # Other C libraries may not let anybody set their `stderr`.
        self._library = library
        self._stderr = ctypes.c_void_p.in_dll(library, "stderr")
        self._text, self._size = ctypes.c_void_p(), ctypes.c_size_t()
        library.open_memstream.restype = ctypes.c_void_p
        file = library.open_memstream(ctypes.byref(self._text), ctypes.byref(self._size))
        if not file:
            raise OSError("the C library made no file in memory")
        self._file = ctypes.c_void_p(file)
        self._string_at = ctypes.string_at

    @contextmanager
    def as_stderr(self) -> Iterator[Callable[[], bytes]]:
        """`stderr` is this file in the block; what is given returns what was written to it, once."""
        before = self._stderr.value
        self._stderr.value = self._file.value
        try:
            yield self._take
        finally:
            self._stderr.value = before

    def _take(self) -> bytes:
        self._library.flockfile(self._file)
        try:
            self._library.fflush(self._file)
            written = self._string_at(self._text.value, self._size.value) if self._text.value else b""
            self._library.rewind(self._file)
        finally:
            self._library.funlockfile(self._file)
        return bytes(written)


_files: list[_MemoryFile | None] = []
"""The one there is; None where there can be none."""


@contextmanager
def no_fork_messages(write: Callable[[bytes], Any]) -> Iterator[None]:
    """In this block gRPC can print nothing about a fork; what other C code prints is written after it.

    Nothing is done where gRPC is not loaded. What is forked in the block prints nothing.
    """
    file = _memory_file() if _GRPC in loaded_modules else None
    if file is None:
        yield
        return
    pid = os.getpid()
    take = None
    try:
        with file.as_stderr() as take:
            yield
    finally:
        # In the copy this only forgets: glibc has released the locks of its files there.
        others = _LINE.sub(b"", take()) if take is not None else b""
        if others and os.getpid() == pid:
            write(others)


def _memory_file() -> _MemoryFile | None:
    if not _files:
        try:
            _files.append(_MemoryFile())
        except (ImportError, AttributeError, ValueError, OSError):
            _files.append(None)  # Not with this C library: then gRPC's lines are seen.
    return _files[0]
