"""A handler for the scripted kernel that remembers numbers: `x = 1` sets one, `x` shows it, `wait` waits."""

from collections.abc import Iterator
from typing import Any

from pisces.kernels.base import ExecuteRequest
from pisces.kernels.memory_script import Die, Step, WaitForInterrupt
from pisces.model.events import Result, Stream


def remembering(request: ExecuteRequest, namespace: dict[str, Any]) -> Iterator[Step]:
    """What a cell does, as steps."""
    name, equals, value = (part.strip() for part in request.code.partition("="))
    if equals:
        namespace[name] = int(value)
    elif name == "wait":
        yield Stream("stdout", "waiting\n")
        yield WaitForInterrupt()
    elif name == "die":
        yield Die(signal=9)
    else:
        yield Result({"text/plain": str(namespace.get(name, "unknown"))})
