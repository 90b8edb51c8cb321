"""Any value as strict JSON: what a display may carry, whatever the user put into it."""

from __future__ import annotations

import math

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_DEEPEST = 64
_name_of_type = vars(type)["__name__"].__get__
_WIDEST_INT = 4000  # in bits; `str` refuses integers of more than 4,300 digits, and so does the JSON encoder


def json_safe(value: Any) -> Any:
    """The value with NaN and infinities as strings, string keys, no lone surrogates, and anything else as its repr.

    What refers to itself, or is nested more than 64 levels deep, is cut there with a text in its place.
    """
    return _safe(value, ())


def safe_text(text: str) -> str:
    """The text as a plain `str` that UTF-8 can encode: each lone surrogate becomes U+FFFD."""
    if type(text) is not str:
        text = str.__str__(text)
    if text.isascii():
        return text
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return text


def type_name(value: Any) -> str:
    """The name of a value's type, without asking a metaclass of the user's for it."""
    return safe_text(_name_of_type(type(value)))


def _safe(value: Any, parents: tuple[int, ...]) -> Any:
    if value is None or value is True or value is False:
        return value
    if isinstance(value, str):
        return safe_text(value)
    if isinstance(value, float):
        number = float(value)
        return number if math.isfinite(number) else _spelled(number)
    if isinstance(value, int):
        return _safe_int(int(value))
    if isinstance(value, (dict, list, tuple)):
        return _safe_container(value, parents)
    return _safe_other(value)


def _safe_container(value: Any, parents: tuple[int, ...]) -> Any:
    if id(value) in parents:
        return "<circular reference>"
    if len(parents) >= _DEEPEST:
        return "<nested too deeply>"
    parents = (*parents, id(value))
    if isinstance(value, dict):
        return {_key(key): _safe(item, parents) for key, item in list(value.items())}
    return [_safe(item, parents) for item in list(value)]


def _key(key: Any) -> str:
    safe = _safe(key, ()) if not isinstance(key, tuple) else safe_text(_repr(key))
    if isinstance(safe, str):
        return safe
    return {None: "null", True: "true", False: "false"}[safe] if safe is None or isinstance(safe, bool) else str(safe)


def _safe_int(value: int) -> int | str:
    return value if value.bit_length() <= _WIDEST_INT else hex(value)


def _spelled(number: float) -> str:
    if math.isnan(number):
        return "NaN"
    return "Infinity" if number > 0 else "-Infinity"


def _safe_other(value: Any) -> Any:
    """Numbers of other libraries (numpy's scalars) as numbers; everything else as its repr."""
    try:
        if getattr(value, "shape", None) == () and callable(getattr(value, "item", None)):
            plain = value.item()
            if isinstance(plain, (bool, int, float, str)):
                return _safe(plain, ())
    except Exception:  # an object of the user may raise from anywhere; then its repr has to do
        return safe_text(_repr(value))
    return safe_text(_repr(value))


def _repr(value: Any) -> str:
    try:
        return repr(value)
    except Exception as failure:  # the same
        return f"<{type_name(value)} whose repr raised {type_name(failure)}>"
