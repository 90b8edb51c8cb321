"""A script for kernels that keep their state: cells that assign, show, fail and crash, each known by its text."""

import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from pisces.kernels.base import ExecuteRequest, Outlook, Revival
from pisces.kernels.deadline import Deadline
from pisces.kernels.memory import CheckpointingMemoryKernel, MemoryBackend
from pisces.kernels.memory_script import Die, Step
from pisces.model.events import Done, Error, Result, Variable, VariableChanges
from pisces.runtime import Runtime
from pisces.sessions.session import Session
from tests.fakes.drive import PATIENCE
from tests.fakes.runtimes import call, details, pool_of, scripted_runtime

CRASH = "crash"
COSTLY = Outlook(resident_mb=1024)
"""A kernel of which a checkpoint is not worth its cost after a short cell."""
CHEAP = Outlook()


def assignments(request: ExecuteRequest, namespace: dict[str, Any]) -> Iterator[Step]:
    """`a = 1` assigns, `a` shows, `fail` raises, `crash` ends the process."""
    name, equals, value = (part.strip() for part in request.code.partition("="))
    if equals:
        changes = _changes(name, known=name in namespace)
        namespace[name] = int(value)
        yield Done("ok", variables=changes if request.inspect else None)
    elif name == CRASH:
        yield Die(signal=signal.SIGSEGV)
    elif name == "fail":
        yield Error("ValueError", "no", ("ValueError: no",))
        yield Done("error", variables=VariableChanges() if request.inspect else None)
    else:
        yield Result({"text/plain": str(namespace[name])})
        yield Done("ok", variables=VariableChanges() if request.inspect else None)


def _changes(name: str, *, known: bool) -> VariableChanges:
    variable = Variable(name, "int")
    return VariableChanges(changed=(variable,)) if known else VariableChanges(added=(variable,))


def keeping_backend(revival: Revival | None = None) -> MemoryBackend:
    """Kernels that run such cells and keep their state."""
    return MemoryBackend(assignments, revival=revival or Revival("exact"))


def keeping_runtime(folder: Path, backend: MemoryBackend | None = None, **python: Any) -> Runtime:
    """A runtime on such kernels."""
    return scripted_runtime(backend or keeping_backend(), folder, **python)


def soon() -> Deadline:
    """As long as a test waits for anything."""
    return Deadline.after(PATIENCE)


def session_of(runtime: Runtime, name: str = "default") -> Session:
    """The session of that name."""
    (session,) = [session for session in pool_of(runtime).sessions if session.key.id == name]
    return session


def kernel_in(session: Session) -> CheckpointingMemoryKernel:
    """The kernel behind it."""
    assert isinstance(session.kernel, CheckpointingMemoryKernel)
    return session.kernel


async def shown(runtime: Runtime, name: str, **params: Any) -> str:
    """What a cell that shows a variable shows."""
    return details(await call(runtime, name, **params)).cells[0].output.strip()
