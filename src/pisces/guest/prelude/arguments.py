"""What users give to helpers, checked before anything is done: paths, numbers, texts and patterns."""

from __future__ import annotations

import operator
import os
import re
from pathlib import Path

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Union

    AnyPath = Union[str, os.PathLike[str]]
    AnyPattern = Union[str, re.Pattern[str]]

_ADDRESS = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+://")


def named(path: AnyPath) -> str:
    """A path as the user gave it, as text. Raises `TypeError` or `ValueError` for what can name no file."""
    if not isinstance(path, (str, os.PathLike)):
        raise TypeError(f"a path is a text or a Path, not {type(path).__name__}: {path!r}")
    text = os.fsdecode(path)
    if not text:
        raise ValueError("the path is empty")
    try:
        usable = b"\0" not in os.fsencode(text)
    except UnicodeEncodeError:
        usable = False
    if not usable:
        raise ValueError(f"no file can have this name: {text!a}")
    return text


def is_address(name: str) -> bool:
    """Whether this is no path but an address, such as `artifact://3`."""
    return _ADDRESS.match(name) is not None


def located(path: AnyPath) -> Path:
    """Where the file is: `~` is expanded. Raises as `named` does, and `ValueError` for an address."""
    name = named(path)
    if is_address(name):
        raise ValueError(f"{name} is an address, not a file; read() gives what is there")
    return Path(os.path.expanduser(name))


def whole_number(value: Any, name: str, least: int) -> int:
    """A number that counts something. Raises `TypeError`, or `ValueError` if it is less than it can be."""
    if isinstance(value, bool):
        raise TypeError(f"{name} is a whole number, not {value!r}")
    try:
        number = operator.index(value)
    except TypeError:
        raise TypeError(f"{name} is a whole number, not {value!r}") from None
    if number < least:
        raise ValueError(f"{name} is {least} or more, not {number}")
    return number


def text_of(value: Any, name: str) -> str:
    """A text. Raises `TypeError` for anything else."""
    if isinstance(value, str):
        return value
    why = "; Path(…).write_bytes(…) writes bytes" if isinstance(value, (bytes, bytearray, memoryview)) else ""
    raise TypeError(f"{name} is a text, not {type(value).__name__}{why}")


def storable(text: str, path: Path) -> bytes:
    """A text as it is in a file. Raises `ValueError` for half of a surrogate pair, which no file can hold."""
    try:
        return text.encode("utf-8")
    except UnicodeEncodeError as error:
        half = text[error.start]
        raise ValueError(f"{path}: {half!a} at {error.start} is half of a character, which no file can hold") from None


def compiled(pattern: AnyPattern, flags: int = 0) -> re.Pattern[str]:
    """A regular expression in which `^` and `$` mean each line; one that is compiled already is taken as it is.

    Raises `ValueError`, with the pattern, for what is none.
    """
    if isinstance(pattern, re.Pattern):
        if flags or not isinstance(pattern.pattern, str):
            raise ValueError(f"{pattern!r} is compiled already: give its text, with the flags")
        return pattern
    if not text_of(pattern, "the pattern"):
        raise ValueError("the pattern is empty")
    try:
        return re.compile(pattern, flags | re.MULTILINE)
    except (re.error, ValueError, OverflowError, RecursionError) as error:
        raise ValueError(f"{pattern!r} does not compile: {error}") from None
