"""Something that goes on beside a piece of work, and ends with it."""

from collections.abc import Awaitable, Callable, Coroutine
from typing import Any, TypeVar

import anyio

T = TypeVar("T")


async def beside(companion: Callable[[], Coroutine[Any, Any, None]], work: Callable[[], Awaitable[T]]) -> T:
    """Do the work; the companion runs meanwhile, and is cancelled when that has ended. Raises what the work raises."""
    async with anyio.create_task_group() as group:
        group.start_soon(companion)
        try:
            return await work()
        except Exception as error:  # noqa: BLE001 - raised again outside: the task group would wrap it
            failure = error
        finally:
            group.cancel_scope.cancel()
    raise failure


async def in_own_task(work: Callable[[], Awaitable[T]]) -> T:
    """Do the work in a task of its own, and wait for it to the end, however often the caller's task is cancelled.

    A second `cancel` of asyncio's would break into what the work does to settle. Raises what the work raises.
    """
    results: list[T] = []
    failures: list[Exception] = []

    async def guarded() -> None:
        try:
            results.append(await work())
        except Exception as error:  # noqa: BLE001 - raised again outside: the task group would wrap it
            failures.append(error)

    async with anyio.create_task_group() as group:
        group.start_soon(guarded)
    if failures:
        raise failures[0]
    return results[0]
