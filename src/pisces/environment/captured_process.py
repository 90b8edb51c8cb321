"""A process that is only run to hear what it says: in a session of its own, with nothing to read, and sure to end."""

import contextlib
import os
import signal
import subprocess
from collections.abc import Mapping, Sequence
from types import TracebackType
from typing import Final, Self

import anyio

_REAP_SECONDS: Final = 2.0
_POLL_SECONDS: Final = 0.001


class CapturedProcess:
    """Runs a command while the `async with` block lasts; leaving the block ends it and all of its group.

    Its standard input is the null device; what it writes on standard output and standard error comes from `read`.
    Making one raises `OSError` or `ValueError` when the command cannot be started.
    """

    def __init__(self, command: Sequence[str], *, cwd: str, env: Mapping[str, str]) -> None:
        self._output, theirs = os.pipe()
        try:
            self._process = subprocess.Popen(
                command,
                stdin=subprocess.DEVNULL,
                stdout=theirs,
                stderr=theirs,
                cwd=cwd,
                env=env,
                start_new_session=True,
            )
        except BaseException:
            os.close(self._output)
            raise
        finally:
            os.close(theirs)
        os.set_blocking(self._output, False)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        # The group is still its own: nobody else reaps the leader, so its number cannot have been given away.
        if self._process.returncode is None:
            with contextlib.suppress(ProcessLookupError, PermissionError):  # macOS refuses when all of it is gone
                os.killpg(self._process.pid, signal.SIGKILL)
            await self._wait(_REAP_SECONDS)
        os.close(self._output)

    async def read(self) -> bytes:
        """The next of what the process has written; nothing when all of its output is closed."""
        await anyio.wait_readable(self._output)
        return os.read(self._output, 16 * 1024)

    @property
    def exit_code(self) -> int | None:
        """How it ended, known once the block is left: negative for a signal, None if even SIGKILL did not end it."""
        return self._process.returncode

    async def _wait(self, seconds: float) -> None:
        with anyio.move_on_after(seconds, shield=True):
            while self._process.poll() is None:  # noqa: ASYNC110 - an exit is no event that every system can tell
                await anyio.sleep(_POLL_SECONDS)
