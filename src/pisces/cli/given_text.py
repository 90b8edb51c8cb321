"""What a command was given to run: as an argument, in a file, or on standard input."""

import sys

from pisces.errors import InvalidCall

_STANDARD_INPUT = "-"


def read_given(file: str | None, ways: str) -> tuple[str, bytes]:
    """What is in a file, or comes on standard input, and what that is called; `ways` are those to give something.

    Raises `InvalidCall` when nothing is given, or the file cannot be read.
    """
    if file is not None and file != _STANDARD_INPUT:
        return file, _read(file, ways)
    if file is None and sys.stdin is not None and sys.stdin.isatty():
        raise InvalidCall("There is nothing to run.", hint=ways)
    return "standard input", sys.stdin.buffer.read() if sys.stdin is not None else b""


def refuse_both(file: str | None) -> None:
    """Raises `InvalidCall` if there is a file besides `-c`."""
    if file is not None:
        raise InvalidCall(f"Both a file ({file}) and -c were given.", hint="Give one of them.")


def checked(text: str, name: str) -> str:
    """A text that is one. Raises `InvalidCall`: Python keeps bytes that are no UTF-8 as halves of surrogates."""
    try:
        text.encode("utf-8")
    except UnicodeEncodeError as error:
        raise InvalidCall(f"{name} is not UTF-8, from character {error.start} on.", hint="Use UTF-8.") from error
    return text


def _read(file: str, ways: str) -> bytes:
    try:
        with open(file, "rb") as opened:
            return opened.read()
    except OSError as error:
        raise InvalidCall(f"Cannot read {file}: {error.strerror or error}.", hint=ways) from error
