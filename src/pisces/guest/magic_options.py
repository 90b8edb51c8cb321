"""Options at the head of a magic's line."""

from __future__ import annotations

import re

from .tracebacks import UsageError

_OPTION = re.compile(r"\s*(?:--(?P<long>[A-Za-z][\w-]*)|-(?P<short>[A-Za-z]))(?P<glued>[=\w.]*)")
_VALUE = re.compile(r"""\s*("[^"]*"|'[^']*'|\S+)""")


def split_options(
    magic: str, line: str, *, flags: tuple[str, ...] = (), valued: tuple[str, ...] = ()
) -> tuple[dict[str, str], str]:
    """The options that the line begins with, and the rest of the line as it was written.

    Options without a value have the empty text. `--` ends them. One that the magic does not have is a UsageError.
    """
    options: dict[str, str] = {}
    while True:
        if re.match(r"\s*--(?:\s|$)", line):
            return options, line.partition("--")[2].lstrip()
        match = _OPTION.match(line)
        if match is None:
            return options, line.lstrip()
        name, glued = match.group("long") or match.group("short"), match.group("glued").lstrip("=")
        line = line[match.end() :]
        if name in flags and not glued:
            options[name] = ""
        elif name in valued:
            options[name], line = _value(magic, name, glued, line)
        else:
            known = " ".join(_spelled(one) for one in (*flags, *valued)) or "none"
            raise UsageError(f"{magic} has no option `{_spelled(name)}{glued}`. Its options are: {known}.")


def integer(magic: str, options: dict[str, str], name: str, default: int) -> int:
    """The value of an option that is a positive number."""
    text = options.get(name)
    if text is None:
        return default
    if not text.isdigit() or int(text) == 0:
        raise UsageError(f"{magic} takes a positive number for `-{name}`, not {text!r}.")
    return int(text)


def words(magic: str, line: str) -> list[str]:
    """The line split as a POSIX shell would."""
    from shlex import split

    try:
        return split(line)
    except ValueError as failure:
        raise UsageError(f"{magic} could not read its arguments {line!r}: {failure}.") from None


def _value(magic: str, name: str, glued: str, line: str) -> tuple[str, str]:
    if glued:
        return glued, line
    match = _VALUE.match(line)
    if match is None:
        raise UsageError(f"{magic} takes a value for `{_spelled(name)}`, and there is none.")
    return match.group(1).strip("\"'"), line[match.end() :]


def _spelled(name: str) -> str:
    return f"-{name}" if len(name) == 1 else f"--{name}"
