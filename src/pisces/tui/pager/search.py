"""A search through a file, from an event loop: it goes on in a process of its own and can be given up at any time."""

import asyncio
import os
import signal
from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Callable
from contextlib import suppress
from typing import Final

import msgspec

from pisces.settings.own_process import bare_environment, module_command
from pisces.tui.pager.rows import Parts
from pisces.tui.pager.search_process import Wanted, compiled

_CHUNK: Final = 64 * 1024
Span = tuple[int, int]


class Matches:
    """The rows that match, in order, and where in each: some 30 bytes for a row."""

    def __init__(self) -> None:
        self.rows = array("Q")
        self._firsts = array("Q")
        self._spans = array("H")

    def add(self, row: int, spans: list[int]) -> None:
        """A row after all others; of each match the beginning and the end."""
        self.rows.append(row)
        self._firsts.append(len(self._spans))
        self._spans.extend(spans)

    def spans(self, row: int) -> list[Span]:
        """Where a row matches."""
        at = bisect_left(self.rows, row)
        if at == len(self.rows) or self.rows[at] != row:
            return []
        end = self._firsts[at + 1] if at + 1 < len(self._firsts) else len(self._spans)
        numbers = self._spans[self._firsts[at] : end]
        return list(zip(numbers[::2], numbers[1::2], strict=True))

    def after(self, row: int) -> int | None:
        """The next row that matches."""
        at = bisect_right(self.rows, row)
        return self.rows[at] if at < len(self.rows) else None

    def before(self, row: int) -> int | None:
        """The one before."""
        at = bisect_left(self.rows, row)
        return self.rows[at - 1] if at else None

    def forget_from(self, row: int) -> None:
        """Drop what was found from this row on: it is looked at again."""
        at = bisect_left(self.rows, row)
        if at < len(self.rows):
            del self._spans[self._firsts[at] :], self._firsts[at:], self.rows[at:]


class Search:
    """Looks for one pattern. `changed` is called when there is more to say."""

    def __init__(self, pattern: str, parts: Parts, changed: Callable[[], object]) -> None:
        """Raises `re.error` for what is no regular expression."""
        compiled(pattern)
        self.pattern = pattern
        self.matches = Matches()
        self.running = False
        self.enough = False
        """Whether it stopped because there were too many."""
        self.searched = 0
        """Bytes of the file."""
        self.failed = False
        self._parts = parts
        self._changed = changed

    async def go_on(self, start: int = 0, first_row: int = 0) -> None:
        """Look at everything from this page on. Cancelling it ends the process."""
        self.matches.forget_from(first_row)
        self.running, self.enough, self.failed = True, False, True
        starting = asyncio.create_task(self._process())
        try:
            await asyncio.wait([starting])
            if starting.exception() is None:
                await self._hear(starting.result(), Wanted(self.pattern, self._parts, start, first_row))
        finally:  # Who is cancelled while the process starts has one all the same.
            self.running = False
            await _in_any_case(asyncio.create_task(_end(starting)))
            self._changed()

    async def _hear(self, process: asyncio.subprocess.Process, wanted: Wanted) -> None:
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(msgspec.json.encode(wanted))
        process.stdin.close()
        self.failed = not await self._read(process.stdout)

    async def _process(self) -> asyncio.subprocess.Process:
        return await asyncio.create_subprocess_exec(
            *module_command("pisces.tui.pager.search_process"),
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.DEVNULL,
            env=bare_environment(),
            pass_fds=self._parts.descriptors,
        )

    async def _read(self, stream: asyncio.StreamReader) -> bool:
        """Take what is found; whether the search came to its end."""
        rest, ended = b"", False
        while chunk := await stream.read(_CHUNK):
            *lines, rest = (rest + chunk).split(b"\n")
            for line in lines:
                first, *numbers = line.split()
                if first == b".":
                    self.searched = int(numbers[0])
                elif first.isdigit():
                    self.matches.add(int(first), [int(number) for number in numbers])
                else:
                    ended, self.enough = True, first == b"enough"
            self._changed()
        return ended


async def _end(starting: "asyncio.Task[asyncio.subprocess.Process]") -> None:
    """Have no process, whatever became of its start."""
    with suppress(OSError):
        process = await starting
        if process.returncode is None:  # `kill` of asyncio's would reap it, and its own watcher miss it.
            with suppress(ProcessLookupError):
                os.kill(process.pid, signal.SIGKILL)
        await process.wait()


async def _in_any_case(task: "asyncio.Task[None]") -> None:
    """Wait for a task, and let it come to its end also when the search is given up in this moment."""
    try:
        await asyncio.shield(task)
    except asyncio.CancelledError:
        await task
        raise
