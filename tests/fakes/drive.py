"""Run cells on any kernel and look at what it said."""

import time
from collections.abc import Callable, Mapping
from typing import Any, TypeVar

import anyio
import psutil

from pisces.kernels.base import ExecuteRequest, Execution, Kernel
from pisces.model.events import AnyEvent, ClearOutput, Display, Done, Error, Event, Result, Started, Stream

DEAF = """
import time
while True:
    try:
        time.sleep(60)
    except BaseException:
        pass
"""
"""A cell that no interrupt stops: its kernel has to be killed."""
PATIENCE = 30.0
"""How long anything may take on a busy machine before the test fails."""

_E = TypeVar("_E", bound=Event)


class Ran:
    """Everything that one cell said; asked for by kind."""

    def __init__(self, events: list[AnyEvent]) -> None:
        self.events = events

    def of(self, kind: type[_E]) -> list[_E]:
        """The events of one kind, in order."""
        return [event for event in self.events if isinstance(event, kind)]

    def text(self, name: str) -> str:
        """All text of one stream."""
        return "".join(event.text for event in self.of(Stream) if event.name == name)

    @property
    def stdout(self) -> str:
        return self.text("stdout")

    @property
    def stderr(self) -> str:
        return self.text("stderr")

    @property
    def done(self) -> Done:
        assert isinstance(self.events[-1], Done), f"the last event is {self.events[-1]}"
        return self.events[-1]

    @property
    def error(self) -> Error:
        (error,) = self.of(Error)
        return error

    @property
    def result(self) -> Any:
        """The plain text of the last expression's value, None when there was none."""
        results = self.of(Result)
        return results[0].bundle["text/plain"] if results else None

    @property
    def outline(self) -> list[tuple[str, Any]]:
        """What was shown, in order: neighbouring pieces of a stream put together, all the rest one by one."""
        shown: list[tuple[str, Any]] = []
        for event in self.events:
            match event:
                case Stream(name=name, text=text) if shown and shown[-1][0] == name:
                    shown[-1] = (name, shown[-1][1] + text)
                case Stream(name=name, text=text):
                    shown.append((name, text))
                case Display(bundle=bundle):
                    shown.append(("display", bundle["text/plain"]))
                case Result(bundle=bundle):
                    shown.append(("result", bundle["text/plain"]))
                case ClearOutput(wait=wait):
                    shown.append(("clear", wait))
                case Error(ename=ename):
                    shown.append(("error", ename))
                case _:
                    pass
        return shown

    @property
    def explained(self) -> str:
        """For the message of an assertion."""
        lines = [line for error in self.of(Error) for line in error.traceback]
        return "\n".join([str(self.done), *lines, self.stderr[-2000:]])


class Running:
    """A cell under way."""

    def __init__(self, execution: Execution) -> None:
        self.execution = execution
        self.events: list[AnyEvent] = []

    async def until(self, seen: Callable[["Ran"], bool]) -> Ran:
        """Take events until the test has seen what it waits for."""
        with anyio.fail_after(PATIENCE):
            while not seen(Ran(self.events)):
                assert not any(isinstance(event, Done) for event in self.events), Ran(self.events).explained
                self.events += await self.execution.receive()
        return Ran(self.events)

    async def prints(self, text: str) -> None:
        """Wait until it has written this to standard output."""
        await self.until(lambda ran: text in ran.stdout)

    async def started(self) -> None:
        """Wait until the code has begun."""
        await self.until(lambda ran: bool(ran.of(Started)))

    async def finish(self) -> Ran:
        """Take the rest; `Done` must be the last event, and the only one of its kind."""
        with anyio.fail_after(PATIENCE):
            while not (self.events and isinstance(self.events[-1], Done)):
                self.events += await self.execution.receive()
        ran = Ran(self.events)
        assert len(ran.of(Done)) == 1
        return ran


async def stop(kernel: Kernel, running: Running) -> Ran:
    """Interrupt a cell and take the rest; a second time if need be, as a session does.

    A signal that arrives in the moment before code blocks in the operating system is seen only when that returns.
    """
    await kernel.interrupt()
    with anyio.move_on_after(2.0):
        return await running.finish()
    await kernel.interrupt()
    return await running.finish()


async def begin(kernel: Kernel, code: str, **options: Any) -> Running:
    """Send a cell and do not wait for anything."""
    with anyio.fail_after(PATIENCE):
        return Running(await kernel.execute(ExecuteRequest(code, **options)))


async def run(kernel: Kernel, code: str, **options: Any) -> Ran:
    """Run a cell to its end."""
    running = await begin(kernel, code, **options)
    return await running.finish()


async def ok(kernel: Kernel, code: str, **options: Any) -> Ran:
    """Run a cell that must go well."""
    ran = await run(kernel, code, **options)
    assert ran.done.status == "ok", ran.explained
    return ran


async def value(kernel: Kernel, expression: str) -> str:
    """The plain text of an expression's value."""
    ran = await ok(kernel, expression)
    assert isinstance(ran.result, str)
    return ran.result


async def eventually(condition: Callable[[], bool], *, within: float = PATIENCE) -> None:
    """Wait for what another process does and nobody announces."""
    deadline = time.monotonic() + within
    while not condition():
        assert time.monotonic() < deadline, "it did not happen in time"
        await anyio.sleep(0.02)


async def stands_still(process: psutil.Process) -> None:
    """Wait until a process has nothing to do."""
    seen: list[float] = []
    while len(seen) < 8 or len(set(seen[-8:])) > 1:
        seen.append(sum(process.cpu_times()[:2]))
        await anyio.sleep(0.15)  # In which one that works would have used some of the processor's time.


def plain_environment(**more: str) -> Mapping[str, str]:
    """The environment of a kernel in a test: the same for all, so that they share a supervisor."""
    return {"PATH": "/usr/local/bin:/usr/bin:/bin", "LANG": "C.UTF-8", **more}
