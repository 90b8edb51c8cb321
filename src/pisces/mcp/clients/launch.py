"""The command with which a client starts this very installation."""

import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

import pisces
from pisces.errors import PiscesError
from pisces.settings.own_process import bare_environment

_PATIENCE: Final = 30.0
_WHERE: Final = "import pisces; print(pisces.__file__)"
_SUBCOMMAND: Final = "mcp"


def launch_command() -> list[str]:
    """Our interpreter, isolated: neither the client's folder nor its variables decide what `pisces` is.

    Raises `PiscesError` where this Pisces is found only by such means.
    """
    if not sys.executable or not _found_when_isolated():
        raise PiscesError(
            f"A client could not start this Pisces ({Path(pisces.__file__).parent}): its interpreter "
            f"({sys.executable or 'unknown'}) finds it only through PYTHONPATH or the current folder.",
            hint="Install Pisces into an environment, or run the `pisces` script of its source tree.",
        )
    return [sys.executable, "-I", "-m", "pisces", _SUBCOMMAND]


def server_arguments(*, tools: Sequence[str], cwd: str | None) -> list[str]:
    """What comes after the command: only what was asked for, so that an entry stays short."""
    given = [name for part in tools for name in part.split(",") if name.strip()]
    chosen = ["--tools", ",".join(name.strip() for name in given)] if given else []
    return [*chosen, *(() if cwd is None else ("--cwd", cwd))]


def launch_of(entry: Any) -> list[str] | None:
    """The command of an entry up to its options: which installation it starts. None if it starts nothing of ours."""
    command = command_of(entry)
    if command is None or _SUBCOMMAND not in command[1:]:
        return None
    return command[: command.index(_SUBCOMMAND, 1) + 1]


def command_of(entry: Any) -> list[str] | None:
    """The whole command of an entry; None if it has none, or one that is not of texts."""
    if not isinstance(entry, dict):
        return None
    command, arguments = entry.get("command"), entry.get("args", [])
    if not isinstance(command, str) or not isinstance(arguments, list):
        return None
    return [command, *arguments] if all(isinstance(each, str) for each in arguments) else None


def variables_of(entry: Any) -> dict[str, str]:
    """The variables that an entry sets."""
    given = entry.get("env") if isinstance(entry, dict) else None
    return {str(name): str(value) for name, value in given.items()} if isinstance(given, dict) else {}


def _found_when_isolated() -> bool:
    if sys.flags.isolated:
        return True
    try:
        asked = subprocess.run(
            [sys.executable, "-I", "-c", _WHERE],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            env=bare_environment(),
            timeout=_PATIENCE,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return False
    answer = os.fsdecode(asked.stdout.rstrip(b"\r\n"))
    return asked.returncode == 0 and os.path.realpath(answer) == os.path.realpath(pisces.__file__)
