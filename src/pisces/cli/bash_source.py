"""Where the command of `pisces bash` comes from, and its variables."""

import sys
from collections.abc import Sequence

from pisces.errors import InvalidCall

_STANDARD_INPUT = "-"
_WAYS = 'Give a script, `-` for standard input, or a command: pisces bash -c "ls".'


def read_command(file: str | None, code: str | None) -> str:
    """The command to run. Raises `InvalidCall` when there is none, or when it is not clear which is meant."""
    if code is not None:
        if file is not None:
            raise InvalidCall(f"Both a file ({file}) and -c were given.", hint="Give one of them.")
        return _checked(code, "What -c gives")
    if file is None and sys.stdin is not None and sys.stdin.isatty():
        raise InvalidCall("There is nothing to run.", hint=_WAYS)
    if file is None or file == _STANDARD_INPUT:
        name, content = "standard input", sys.stdin.buffer.read() if sys.stdin is not None else b""
    else:
        name, content = file, _read(file)
    command = _checked(content.decode("utf-8-sig", "surrogateescape"), name)
    if not command.strip():
        raise InvalidCall(f"There is no command in {name}.", hint=_WAYS)
    return command


def read_variables(given: Sequence[str]) -> dict[str, str]:
    """Variables as `NAME=VALUE`, the last of a name counts. Raises `InvalidCall` for anything else."""
    variables: dict[str, str] = {}
    for each in given:
        name, equals, value = _checked(each, "What --env gives").partition("=")
        if not name or not equals:
            raise InvalidCall(f"Wrong value for --env: NAME=VALUE is needed, got {each!r}.")
        variables[name] = value
    return variables


def _checked(text: str, name: str) -> str:
    try:
        text.encode("utf-8")
    except UnicodeEncodeError as error:
        raise InvalidCall(f"{name} is not UTF-8, from character {error.start} on.", hint="Use UTF-8.") from error
    return text


def _read(file: str) -> bytes:
    try:
        with open(file, "rb") as opened:
            return opened.read()
    except OSError as error:
        raise InvalidCall(f"Cannot read {file}: {error.strerror or error}.", hint=_WAYS) from error
