"""Where the source of a cell comes from: the command line, a file, standard input, or the user's editor."""

import os
import sys
from typing import Final

import click

_STANDARD_INPUT: Final = "-"


def given_content(code: str | None, file: str | None, dash: str | None) -> str | None:
    """The source that the command was given; None when it was given none, and a person sits at the terminal.

    What comes from a file or from standard input loses the newline at its end, which files have and cells do not.
    """
    if dash is not None and dash != _STANDARD_INPUT:
        raise click.UsageError(f"What is {dash!r}? Give the source with -c, as a --file, or as - for standard input.")
    if sum(given is not None for given in (code, file, dash)) > 1:
        raise click.UsageError("The source was given twice: give one of -c, --file and -.")
    if code is not None:
        _check_utf8(code)
        return code
    if file is not None and file != _STANDARD_INPUT:
        return _decoded(_read(file), file)
    if file is None and dash is None and (sys.stdin is None or sys.stdin.isatty()):
        return None
    content = sys.stdin.buffer.read() if sys.stdin is not None else b""
    if not content and file is None and dash is None:
        raise click.UsageError("There is no source: give it with -c, as a --file, or as - for standard input.")
    return _decoded(content, "standard input")


def can_edit() -> bool:
    """Whether there is a terminal for an editor."""
    return sys.stdin is not None and sys.stdin.isatty() and sys.stdout.isatty()


def _read(file: str) -> bytes:
    try:
        with open(file, "rb") as opened:
            return opened.read()
    except OSError as error:
        raise click.UsageError(f"Cannot read {file}: {os.strerror(error.errno or 0)}.") from error


def _check_utf8(code: str) -> None:
    try:
        code.encode("utf-8")
    except UnicodeEncodeError as error:  # Python keeps the bytes of an argument that are none as halves of surrogates.
        raise click.UsageError(f"What -c gives is not UTF-8, from character {error.start} on.") from error


def _decoded(content: bytes, name: str) -> str:
    try:
        return content.decode("utf-8-sig").removesuffix("\n")
    except UnicodeDecodeError as error:
        raise click.UsageError(f"{name} is not UTF-8: {error}.") from error
