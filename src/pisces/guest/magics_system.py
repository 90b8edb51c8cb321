"""Magics about the process and its surroundings: folders, environment, packages, scripts of the shell."""

from __future__ import annotations

import os
import sys

from .commands import run
from .magic_options import split_options, words
from .tracebacks import UsageError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .builtin_shell import BuiltinShell

_SECRET_WORDS = ("key", "token", "secret", "password")
_LONGEST_ARGUMENT = 100_000  # Linux takes 128 KiB for one argument


def cd(shell: BuiltinShell, line: str) -> None:
    """Change the working directory: `%cd [-q] PATH`, `%cd` for home, `%cd -` for the one before."""
    visited = shell.namespace.setdefault("_dh", [os.getcwd()])
    back = line.strip() == "-"
    options, target = ({}, "") if back else split_options("%cd", line, flags=("q",))
    if back and len(visited) < 2:
        raise UsageError("%cd - goes back to the directory before, and there was none yet.")
    path = visited[-2] if back else os.path.expanduser(target.strip().strip("\"'") or "~")
    os.chdir(path)
    visited.append(os.getcwd())
    if "q" not in options:
        print(visited[-1])


def pwd(_shell: BuiltinShell, _line: str) -> str:
    """Return the working directory: `%pwd`."""
    return os.getcwd()


def ls(shell: BuiltinShell, line: str) -> None:
    """List files: `%ls [ARGUMENTS OF ls]`."""
    shell.namespace["_exit_code"] = run(f"ls -F {line}".rstrip())


def env(shell: BuiltinShell, line: str) -> dict[str, str] | str | None:
    """Show or set environment variables: `%env`, `%env NAME`, `%env NAME=VALUE`, `%env NAME VALUE`."""
    name, separator, _ = line.strip().partition("=" if "=" in line.split(" ", maxsplit=1)[0] else " ")
    if not name:
        return {key: _hidden(key, value) for key, value in os.environ.items()}
    if separator:
        set_env(shell, line)
        return None
    if name not in os.environ:
        raise UsageError(f"Environment does not have key: {name}")
    return os.environ[name]


def set_env(_shell: BuiltinShell, line: str) -> None:
    """Set an environment variable: `%set_env NAME=VALUE` or `%set_env NAME VALUE`."""
    text = line.strip()
    name, separator, value = text.partition("=" if "=" in text.split(" ")[0] else " ")
    name, value = name.strip(), value.strip()
    if not separator or not name or any(character.isspace() for character in name):
        raise UsageError(f"%env sets a variable with NAME=VALUE, not {text!r}.")
    os.environ[name] = value
    print(f"env: {name}={_hidden(name, value)}")


def pip(shell: BuiltinShell, line: str) -> None:
    """Run pip of this interpreter: `%pip install PACKAGE`."""
    code = run([sys.executable, "-m", "pip", *words("%pip", line)])
    shell.namespace["_exit_code"] = code
    if code == 0:
        from importlib import invalidate_caches

        invalidate_caches()


def bash(shell: BuiltinShell, line: str, cell: str) -> None:
    """Run the cell by bash: `%%bash [--no-raise-error] [OPTIONS OF bash] [ARGUMENTS]`."""
    _script(shell, "bash", line, cell)


def sh(shell: BuiltinShell, line: str, cell: str) -> None:
    """Run the cell by sh: `%%sh [--no-raise-error] [OPTIONS OF sh] [ARGUMENTS]`."""
    _script(shell, "sh", line, cell)


def _script(shell: BuiltinShell, program: str, line: str, cell: str) -> None:
    arguments = words(f"%%{program}", line)
    lenient = "--no-raise-error" in arguments
    arguments = [one for one in arguments if one != "--no-raise-error"]
    options = [one for one in arguments if one.startswith("-")]
    code = _run_script([program, *options], cell, [one for one in arguments if not one.startswith("-")])
    shell.namespace["_exit_code"] = code
    if code != 0 and not lenient:
        from subprocess import CalledProcessError

        raise CalledProcessError(code, program)


def _run_script(head: list[str], script: str, arguments: list[str]) -> int:
    """Not on standard input, as that is where the script's own commands would read."""
    if len(script.encode("utf-8", "surrogateescape")) < _LONGEST_ARGUMENT:
        return run([*head, "-c", script, head[0], *arguments])
    from tempfile import NamedTemporaryFile

    with NamedTemporaryFile("w", suffix=".sh", encoding="utf-8", errors="surrogateescape") as file:
        file.write(script)
        file.flush()
        return run([*head, file.name, *arguments])


def _hidden(name: str, value: str) -> str:
    return "<hidden>" if any(word in name.lower() for word in _SECRET_WORDS) else value
