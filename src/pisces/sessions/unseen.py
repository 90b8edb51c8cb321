"""An execution that nobody sees: code of ours between a kernel's start and its first cell, and what comes of it."""

import logging
from typing import Any, Final, TypeVar

import anyio
import msgspec

from pisces.errors import KernelError, KernelGone, KernelStartError
from pisces.kernels.base import ExecuteRequest, Execution, Kernel
from pisces.kernels.deadline import Deadline
from pisces.model.events import AnyEvent, Display, Done, Error, Stream
from pisces.model.mime import TEXT_PLAIN
from pisces.output.sanitize import clean

_log = logging.getLogger(__name__)

_T = TypeVar("_T")

_GRACE: Final = 1.0
"""Seconds for code to settle after each of two interrupts."""
_MOST_HEARD: Final = 4000
_MOST_PRINTED: Final = 500


class Said:
    """All that is of interest of one execution."""

    def __init__(self) -> None:
        self.done: Done | None = None
        """None if it was not over when the deadline came."""
        self.late = False
        """Whether it had to be interrupted."""
        self.error: Error | None = None
        self.told: dict[str, Any] = {}
        """What was displayed under MIME types of ours."""
        self._text = ""

    def answer(self, mime: str, kind: type[_T]) -> _T | None:
        """What it told under this type; None if it did not, or not so that it can be understood."""
        if mime not in self.told:
            return None
        try:
            return msgspec.convert(self.told[mime], kind)
        except msgspec.ValidationError as error:
            _log.warning("what a kernel told was not understood: %s", error)
            return None

    @property
    def printed(self) -> str:
        """The beginning of what it printed and showed, as a reader can have it."""
        text = clean(self._text).strip()
        return text if len(text) <= _MOST_PRINTED else f"{text[:_MOST_PRINTED]}…"

    @property
    def died(self) -> str:
        """How the kernel ended under it, for a sentence; empty if it did not."""
        if self.done is None or self.done.status != "crashed":
            return ""
        ended = self.done.process_exit
        return "ended" if ended is None else ended.describe()

    async def hear(self, execution: Execution) -> None:
        """Take in what is said until it is over."""
        while self.done is None:
            for event in await execution.receive():
                self._take(event)

    def _take(self, event: AnyEvent) -> None:
        match event:
            case Done():
                self.done = event
            case Error():
                self.error = event
            case Stream():
                self._print(event.text)
            case Display(bundle=bundle):
                self.told |= {mime: value for mime, value in bundle.items() if mime.startswith("application/x-pisces-")}
                self._print(str(bundle.get(TEXT_PLAIN, "")))
            case _:
                pass

    def _print(self, text: str) -> None:
        if len(self._text) < _MOST_HEARD:
            self._text += text[:_MOST_HEARD]


async def run_unseen(kernel: Kernel, code: str, deadline: Deadline, *, cap: float) -> Said:
    """Run code for at most `cap` seconds; then it is interrupted, twice if need be, and then the kernel is killed.

    Where the deadline comes first, nothing is done about it. Raises `KernelStartError` when the way to the kernel is
    lost; that the kernel has ended is an answer.
    """
    said = Said()
    execution: Execution | None = None
    try:
        with deadline.scope(cap):
            execution = await kernel.execute(ExecuteRequest(code=code, silent=True, store_history=False))
            await said.hear(execution)
    except KernelGone:
        said.done = Done("crashed", state="lost")
    except KernelError as error:
        raise KernelStartError(str(error), hint=error.hint) from error
    if said.done is None and execution is not None:
        await _stop(kernel, execution, said, deadline)
    if said.done is not None and said.done.status in ("disconnected", "aborted"):
        raise KernelStartError("The connection to the kernel was lost while it was being prepared")
    return said


async def _stop(kernel: Kernel, execution: Execution, said: Said, deadline: Deadline) -> None:
    said.late = True
    for _ in range(2):
        if said.done is None and not deadline.expired:
            with deadline.scope(_GRACE):
                await kernel.interrupt()
                await said.hear(execution)
    if said.done is None and not deadline.expired:
        with anyio.CancelScope(shield=True):
            await kernel.kill()
            await said.hear(execution)
