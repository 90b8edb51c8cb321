"""What a scripted cell does, step by step, and the execution that takes the steps.

Above is `memory`, which makes a kernel of it. A script stands for a user's code: it emits events, and does what a
real process may do, such as wait to be interrupted, ignore that, hang or die.
"""

import copy
import traceback
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from types import ModuleType
from typing import Any

import anyio
import msgspec

from pisces.kernels.base import ExecuteRequest
from pisces.model.events import AnyEvent, Done, DoneStatus, Error, ProcessExit, Result, Started

_BATCH = 256


@dataclass(frozen=True)
class WaitFor:
    """Go on when the event is set; an interrupt before that ends the cell."""

    event: anyio.Event


class WaitForInterrupt:
    """Go no further: the cell runs until it is interrupted, or killed."""


class IgnoreInterrupt:
    """Wait for an interrupt and go on, as code does that catches KeyboardInterrupt."""


class Hang:
    """Go no further, interrupted or not: only a kill ends the cell."""


@dataclass(frozen=True)
class Die:
    """The process ends here."""

    signal: int | None = None
    code: int | None = None
    detail: str = ""


Wait = WaitFor | WaitForInterrupt | IgnoreInterrupt | Hang
Step = AnyEvent | Wait | Die
"""`Started` and `Done` come by themselves; a `Done` among the steps ends the cell as it says."""

Handler = Callable[[ExecuteRequest, dict[str, Any]], Iterable[Step]]
"""Says what a cell does; the dictionary is the kernel's namespace. What it raises is an error of the cell."""

Script = Handler | Mapping[str, Sequence[Step]]
"""A handler, or the steps of each cell by its code."""


@dataclass
class MemoryProcess:
    """What stands for a process: a namespace, the number of the last counted cell, and an end."""

    namespace: dict[str, Any] = field(default_factory=dict)
    count: int = 0
    exit: ProcessExit | None = None


class MemoryExecution:
    """Takes the steps of one cell, as far as it is asked to."""

    run = ""

    def __init__(self, process: MemoryProcess, request: ExecuteRequest, handler: Handler) -> None:
        self._process = process
        self._request = request
        self._steps = _steps_of(handler, request, process.namespace)
        self._blocked_on: Wait | None = None
        self._started = False
        self._status: DoneStatus = "ok"
        self._interrupts = 0
        self._news = anyio.Event()
        self.done = False

    async def receive(self) -> Sequence[AnyEvent]:
        while not (events := self._advance()):
            self._news = anyio.Event()
            if isinstance(self._blocked_on, WaitFor):
                await _first_of(self._news.wait, self._blocked_on.event.wait)
            else:
                await self._news.wait()
        return events

    def interrupt(self) -> None:
        """Interrupt the cell; one that is not waiting takes it when it next waits."""
        self._interrupts += 1
        self._news.set()

    def wake(self) -> None:
        """Look again: the process has ended."""
        self._news.set()

    def _advance(self) -> list[AnyEvent]:
        """Everything up to the next wait, at most a batch."""
        events: list[AnyEvent] = []
        if not self._started:
            self._started = True
            events.append(Started())
        while not self.done and len(events) < _BATCH:
            if self._process.exit is not None:
                self.done = True
                events.append(Done("crashed", state="lost", process_exit=self._process.exit))
            elif self._blocked_on is None:
                self._take(self._next_step(), events)
            elif not self._pass(self._blocked_on, events):
                break
        return events

    def _next_step(self) -> Step:
        try:
            return next(self._steps, None) or Done(self._status)
        except Exception as error:  # noqa: BLE001 - the script stands for a user's code, which may raise anything
            lines = "".join(traceback.format_exception_only(error)).splitlines()
            return Error(type(error).__name__, str(error), tuple(lines))

    def _take(self, step: Step, events: list[AnyEvent]) -> None:
        match step:
            case Done():
                self._end(step, events)
            case Die():
                self._process.exit = ProcessExit(code=step.code, signal=step.signal, detail=step.detail)
            case WaitFor() | WaitForInterrupt() | IgnoreInterrupt() | Hang():
                self._blocked_on = step
            case Result():
                if not self._request.silent:
                    events.append(msgspec.structs.replace(step, execution_count=self._process.count + 1))
            case _:
                if isinstance(step, Error):
                    self._status = "error"
                events.append(step)

    def _pass(self, wait: Wait, events: list[AnyEvent]) -> bool:
        """Whether the wait is over, one way or the other."""
        if isinstance(wait, WaitFor) and wait.event.is_set():
            self._blocked_on = None
        elif self._interrupts and not isinstance(wait, Hang):
            self._interrupts -= 1
            self._blocked_on = None
            if not isinstance(wait, IgnoreInterrupt):
                events.append(Error("KeyboardInterrupt", "", ("KeyboardInterrupt",)))
                self._end(Done("interrupted"), events)
        return self._blocked_on is None

    def _end(self, done: Done, events: list[AnyEvent]) -> None:
        self.done = True
        if not self._request.silent:
            self._process.count += self._request.store_history
            done = msgspec.structs.replace(done, execution_count=self._process.count)
        events.append(done)


def copied(namespace: Mapping[str, Any]) -> dict[str, Any]:
    """A namespace of its own with the same values; modules are shared, as they are between a process and its fork."""
    shared = [*(value for value in namespace.values() if isinstance(value, ModuleType)), namespace.get("__builtins__")]
    return copy.deepcopy(dict(namespace), {id(value): value for value in shared})


def _steps_of(handler: Handler, request: ExecuteRequest, namespace: dict[str, Any]) -> Iterator[Step]:
    """The steps, from the moment they are taken: what the handler raises belongs to the cell."""
    yield from handler(request, namespace)


async def _first_of(*waits: Callable[[], Awaitable[object]]) -> None:
    """Until the first of them is over; the others are given up."""
    async with anyio.create_task_group() as group:

        async def wait_for(wait: Callable[[], Awaitable[object]]) -> None:
            await wait()
            group.cancel_scope.cancel()

        for wait in waits:
            group.start_soon(wait_for, wait)
