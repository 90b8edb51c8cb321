"""Where the command of `pisces bash` comes from, and its variables."""

from collections.abc import Sequence

from pisces.cli.given_text import checked, read_given, refuse_both
from pisces.errors import InvalidCall

_WAYS = 'Give a script, `-` for standard input, or a command: pisces bash -c "ls".'


def read_command(file: str | None, code: str | None) -> str:
    """The command to run. Raises `InvalidCall` when there is none, or when it is not clear which is meant."""
    if code is not None:
        refuse_both(file)
        return checked(code, "What -c gives")
    name, content = read_given(file, _WAYS)
    command = checked(content.decode("utf-8-sig", "surrogateescape"), name)
    if not command.strip():
        raise InvalidCall(f"There is no command in {name}.", hint=_WAYS)
    return command


def read_variables(given: Sequence[str]) -> dict[str, str]:
    """Variables as `NAME=VALUE`, the last of a name counts. Raises `InvalidCall` for anything else."""
    variables: dict[str, str] = {}
    for each in given:
        name, equals, value = checked(each, "What --env gives").partition("=")
        if not name or not equals:
            raise InvalidCall(f"Wrong value for --env: NAME=VALUE is needed, got {each!r}.")
        variables[name] = value
    return variables
