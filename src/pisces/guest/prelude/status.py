"""Status events: what a helper did, told once for each call to whoever watches the cell."""

from __future__ import annotations

import functools
import threading

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any, TypeVar

    F = TypeVar("F", bound=Callable[..., Any])

MIME = "application/x-pisces-status"
_SUBJECTS = ("path", "pattern", "src", "dst", "key", "cmd", "a", "b", "ids")
"""The parameters that say what a call was about, for one that failed before it could tell more."""
_LONGEST = 500


class _Calls(threading.local):
    """What the calls under way in this thread have told so far, the innermost last."""

    def __init__(self) -> None:
        self.fields: list[dict[str, Any]] = []


_calls = _Calls()
_publishers: list[Callable[[dict[str, Any]], None]] = []


def publish_with(publish: Callable[[dict[str, Any]], None]) -> None:
    """Send MIME bundles this way from now on."""
    _publishers[:] = [publish]


def show(bundle: dict[str, Any]) -> None:
    """Show a MIME bundle in the cell that runs; nowhere, where there is no kernel around us."""
    for publish in _publishers:
        publish(bundle)


def emit(op: str, **fields: Any) -> None:
    """Tell that something was done."""
    show({MIME: {"op": op, **fields}})


def tell(**fields: Any) -> None:
    """Add to the event of the helper that runs now; the event goes out when it returns."""
    if _calls.fields:
        _calls.fields[-1].update(fields)


def helper(category: str, *, op: str = "") -> Callable[[F], F]:
    """Make a function a helper: it is listed under this category, and each call of it is told in one status event.

    `op` is what the event is called, if not by the name of the function. What raises is told with its `error`.
    """

    def decorate(function: F) -> F:
        @functools.wraps(function)
        def call(*args: Any, **kwargs: Any) -> Any:
            fields: dict[str, Any] = {}
            _calls.fields.append(fields)
            try:
                value = function(*args, **kwargs)
            except BaseException as error:
                emit(name, **{**_subjects(function, args, kwargs), **fields, "error": _words(error)})
                raise
            finally:
                _calls.fields.pop()
            emit(name, **fields)
            return value

        name = op or function.__name__
        call.category = category  # type: ignore[attr-defined]  # How the documentation finds it.
        return call  # type: ignore[return-value]  # It takes and returns what the function does.

    return decorate


def cut(text: str, size: int) -> str:
    """The beginning of a text, for an event."""
    return text if len(text) <= size else text[:size]


def _words(error: BaseException) -> str:
    return cut(f"{type(error).__name__}: {error}".rstrip(": "), _LONGEST)


def _subjects(function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> dict[str, Any]:
    """The arguments that say what the call was about, as far as they can be told."""
    import inspect

    try:
        given = inspect.signature(function).bind_partial(*args, **kwargs).arguments
    except TypeError:
        return {}
    return {name: cut(str(given[name]), _LONGEST) for name in _SUBJECTS if name in given}
