"""Status events: what a helper did, told once for each call to whoever watches the cell."""

from __future__ import annotations

import functools
from contextvars import ContextVar

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any, TypeVar

    F = TypeVar("F", bound=Callable[..., Any])

MIME = "application/x-pisces-status"
_SUBJECTS = ("path", "pattern", "src", "dst", "cmd", "a", "b", "ids")
"""The parameters that say what a call was about, for one that failed before it could tell more."""
_LONGEST = 500
_LISTED = 20

_told: ContextVar[dict[str, Any] | None] = ContextVar("pisces_told", default=None)
"""What the helper that runs now has told so far; each thread and each task of asyncio has its own."""
_IS_COROUTINE = 0x80  # inspect.CO_COROUTINE, without the import of inspect
_publishers: list[Callable[[dict[str, Any]], None]] = []


def publish_with(publish: Callable[[dict[str, Any]], None]) -> None:
    """Send MIME bundles this way from now on."""
    _publishers[:] = [publish]


def show(bundle: dict[str, Any]) -> None:
    """Show a MIME bundle in the cell that runs; nowhere, where there is no kernel around us."""
    for publish in _publishers:
        publish(bundle)


def emit(op: str, /, **fields: Any) -> None:
    """Tell that something was done."""
    show({MIME: {**fields, "op": op}})


def tell(**fields: Any) -> None:
    """Add to the event of the helper that runs now; the event goes out when it returns."""
    told = _told.get()
    if told is not None:
        told.update(fields)


def helper(category: str, *, op: str = "") -> Callable[[F], F]:
    """Make a function a helper: it is listed under this category, and each call of it is told in one status event.

    `op` is what the event is called, if not by the name of the function. What raises is told with its `error`.
    """
    if not isinstance(category, str):
        raise TypeError('a helper has a category: write @helper("Data"), not @helper')

    def decorate(function: F) -> F:
        name = op or function.__name__

        @functools.wraps(function)
        def call(*args: Any, **kwargs: Any) -> Any:
            with _Telling(name, function, args, kwargs):
                return function(*args, **kwargs)

        @functools.wraps(function)
        async def call_async(*args: Any, **kwargs: Any) -> Any:
            with _Telling(name, function, args, kwargs):
                return await function(*args, **kwargs)

        code = getattr(function, "__code__", None)
        wrapped: Any = call_async if code is not None and code.co_flags & _IS_COROUTINE else call
        wrapped.category = category  # How the documentation finds it.
        return wrapped  # type: ignore[no-any-return]  # It takes and returns what the function does.

    return decorate


class _Telling:
    """One call of a helper: the event goes out at its end, with the error if there is one."""

    def __init__(self, op: str, function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        self._op = op
        self._call = (function, args, kwargs)

    def __enter__(self) -> None:
        self._fields: dict[str, Any] = {}
        self._outer = _told.set(self._fields)

    def __exit__(self, kind: object, error: BaseException | None, traceback: object) -> None:
        try:
            _told.reset(self._outer)
        except ValueError:
            pass  # A coroutine that nobody awaits any more is closed wherever it is found, not where it began.
        if error is None:
            emit(self._op, **self._fields)
        else:
            emit(self._op, **{**_subjects(*self._call), **self._fields, "error": _words(error)})


def cut(text: str, size: int) -> str:
    """The beginning of a text, for an event."""
    return text if len(text) <= size else text[:size]


def said(value: Any) -> str:
    """Any value as text, for an event: what cannot be put into words keeps no helper from its work."""
    try:
        return str(value)
    except Exception as failure:  # The value is the user's, and so is its text; `str` refuses large numbers, too.
        return f"<{type(value).__name__} whose text raised {type(failure).__name__}>"


def _words(error: BaseException) -> str:
    return cut(f"{type(error).__name__}: {said(error)}".rstrip(": "), _LONGEST)


def _subjects(function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> dict[str, Any]:
    """The arguments that say what the call was about, as far as they can be told."""
    import inspect

    try:
        given = inspect.signature(function).bind_partial(*args, **kwargs).arguments
    except TypeError:
        return {}
    return {name: _subject(given[name]) for name in _SUBJECTS if name in given}


def _subject(value: Any) -> str | list[str]:
    if isinstance(value, (list, tuple)):
        return [cut(said(one), _LONGEST) for one in value[:_LISTED]]
    return cut(said(value), _LONGEST)
