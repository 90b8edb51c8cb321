"""What the `bash` tool can be asked, and what is wrong with it where something is."""

from typing import Annotated, Final

from msgspec import Meta, Struct

from pisces.errors import InvalidCall

DEFAULT_TIMEOUT: Final = 30.0
MIN_TIMEOUT: Final = 1.0
MAX_TIMEOUT: Final = 3600.0


class BashParams(Struct, frozen=True, forbid_unknown_fields=True):
    """Parameters of the `bash` tool."""

    command: str
    timeout: Annotated[float, Meta(description="Seconds; default 30.")] | None = None
    cwd: str | None = None
    env: Annotated[dict[str, str], Meta(description="Further variables.")] | None = None


def command_of(params: BashParams) -> str:
    """The command. Raises `InvalidCall` when there is none, or it cannot be given to a shell."""
    if not params.command.strip():
        raise InvalidCall("`command` is empty: give a command line, as in `ls -l`")
    _check("command", params.command)
    return params.command


def variables_of(params: BashParams) -> dict[str, str]:
    """The variables that the caller wants. Raises `InvalidCall` for one that no environment can have."""
    for name, value in (params.env or {}).items():
        if not name or "=" in name:
            raise InvalidCall(f"Wrong value for `env`: {name!r} cannot be the name of a variable")
        _check("env", name)
        _check(f"env.{name}", value)
    return params.env or {}


def _check(place: str, text: str) -> None:
    if "\0" in text:
        raise InvalidCall(f"Wrong value for `{place}`: a text without null characters is needed")
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        raise InvalidCall(f"Wrong value for `{place}`: half a character (a lone surrogate) is no text") from None
