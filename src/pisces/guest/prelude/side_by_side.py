"""Functions run side by side, in threads: `parallel`."""

from __future__ import annotations

import time

from .company import Company
from .status import tell
from .workers import Workers

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from concurrent.futures import Future
    from typing import Any

_SETTLE_SECONDS = 3.0
"""A command that is interrupted has two seconds to end before it is killed."""


def parallel(calls: Iterable[Callable[[], Any]], *, limit: int = 16) -> list[Any]:
    """The values of all calls, in order. If some raise, all are let finish, and the first error by order is raised.

    An interrupt takes back those that have not begun, and stops the commands and tools that the others wait for.
    """
    work = list(calls)
    _check(work, limit)
    began = time.monotonic()
    company, workers = Company(), Workers(limit)
    futures: list[Future[Any]] = []
    try:
        with company:
            futures += map(workers.submit, work)
        errors = [error for error in map(_error_of, futures) if error is not None]
    except BaseException:
        for future in futures:
            future.cancel()
        company.stop()
        _let_settle(futures)
        raise
    tell(count=len(work), failed=len(errors), ms=round((time.monotonic() - began) * 1000, 1))
    if errors:
        raise errors[0]
    return [future.result() for future in futures]


def _check(work: list[Any], limit: Any) -> None:
    if not isinstance(limit, int) or limit < 1:
        raise ValueError(f"parallel() needs a limit of at least 1, got {limit!r}")
    for place, call in enumerate(work):
        if not callable(call):
            raise TypeError(
                f"parallel() takes functions without arguments, but item {place} is of type {type(call).__name__}: "
                "write `lambda: f(x)`, not `f(x)`"
            )


def _let_settle(futures: list[Future[Any]]) -> None:
    """Wait a while for those that have been stopped; what takes no heed of it goes on without us."""
    from concurrent.futures import wait

    wait(futures, timeout=_SETTLE_SECONDS)


def _error_of(future: Future[Any]) -> BaseException | None:
    return future.exception()
