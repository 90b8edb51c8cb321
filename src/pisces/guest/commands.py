"""Child processes of a cell: `!command`, and what the magics start.

A child inherits descriptors 1 and 2, where the host reads; when the cell has put something else in place of
`sys.stdout` or `sys.stderr`, what the child writes goes there as well. Nobody answers on its standard input.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from types import FrameType
    from typing import IO, Any

    from .builtin_shell import BuiltinShell

_POSIX_SHELLS = frozenset({"ash", "bash", "dash", "ksh", "mksh", "sh", "zsh"})
_GRACE = 1.0  # seconds between asking a child to end and ending it
_EXPANDABLE = re.compile(
    r"""\$\$ | \$\{[^}]*\}                           # an escaped dollar; a variable of the shell's own
    | \$(?P<name>[^\W\d]\w*(?:\.[^\W\d]\w*)*)        # $name, $name.attribute
    | \{\{ | \}\} | \{(?P<expression>[^{}]+)\}       # escaped braces; {any expression!r:>8}
    """,
    re.VERBOSE,
)


class OutputLines(list[str]):
    """The lines that a command wrote: a list that can also be had as one text."""

    @property
    def n(self) -> str:
        """The lines, joined by newlines."""
        return "\n".join(self)

    @property
    def s(self) -> str:
        """The lines, joined by spaces."""
        return " ".join(self)

    @property
    def l(self) -> list[str]:  # noqa: E743 - the name that IPython gives it
        """The lines as a plain list."""
        return list(self)


def expand(text: str, namespace: Mapping[str, Any], frame: FrameType | None) -> str:
    """Put values in for `{expression}` and `$name`; `$$`, `{{` and `}}` stand for `$`, `{` and `}`.

    Names are looked up where the command stands, in a function too. What cannot be evaluated stays as it is, so that
    `awk '{print $1}'` and `${HOME}` reach the shell.
    """
    if "$" not in text and "{" not in text:
        return text
    scope = dict(namespace)
    if frame is not None and frame.f_locals is not namespace:
        scope.update(frame.f_locals)

    def replacement(match: re.Match[str]) -> str:
        whole, expression = match.group(), match.group("name") or match.group("expression")
        if expression is None:
            return whole[0] if whole in {"$$", "{{", "}}"} else whole
        return _evaluated(expression, scope, whole)

    return _EXPANDABLE.sub(replacement, text)


def _evaluated(expression: str, scope: dict[str, Any], otherwise: str) -> str:
    name = re.match(r"\w+", expression.strip())
    if name is not None and name.group() == expression.strip() and expression.strip() not in scope:
        return otherwise  # A lone word that the user never bound, such as `print` in a line of awk.
    try:
        return str(eval(f"f'''{{{expression}}}'''", scope))
    except Exception:  # Whatever it raises, it was not meant for us.
        return otherwise


def system(shell: BuiltinShell, command: str) -> None:
    """Run a command line by the user's shell; its exit code becomes `_exit_code`."""
    shell.namespace["_exit_code"] = run(command)


def getoutput(shell: BuiltinShell, command: str) -> OutputLines:
    """Run a command line by the user's shell and return what it wrote, standard error too, as lines."""
    _flush()
    process = _start(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    output, _ = _communicate(process)
    shell.namespace["_exit_code"] = process.returncode
    return OutputLines(_decoded(output).splitlines())


def run(command: str | Sequence[str]) -> int:
    """Run a command to its end and return its exit code, negative for a signal.

    A text is given to the user's shell, a sequence is started as it is. An interrupt ends the child, too.
    """
    _flush()
    process = _start(command, stdout=_target(sys.stdout, 1), stderr=_target(sys.stderr, 2))
    output, errors = _communicate(process)
    if output:
        sys.stdout.write(_decoded(output))
    if errors:
        sys.stderr.write(_decoded(errors))
    return process.returncode


def _start(command: str | Sequence[str], *, stdout: int | None, stderr: int | None) -> subprocess.Popen[bytes]:
    by_shell = isinstance(command, str)
    return subprocess.Popen(
        command,
        shell=by_shell,
        executable=_shell_path() if by_shell else None,
        stdin=subprocess.DEVNULL,
        stdout=stdout,
        stderr=stderr,
    )


def _communicate(process: subprocess.Popen[bytes]) -> tuple[bytes | None, bytes | None]:
    try:
        return process.communicate()
    except KeyboardInterrupt:
        _end(process)
        raise KeyboardInterrupt from None  # Where in `subprocess` it waited says nothing to the user.
    except BaseException:
        _end(process)
        raise


def _end(process: subprocess.Popen[bytes]) -> None:
    process.terminate()
    try:
        process.wait(_GRACE)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


def _target(stream: IO[str], descriptor: int) -> int | None:
    """Where a child's output goes: inherited, another file of the user's, or through a pipe to an object."""
    try:
        number = stream.fileno()
    except (AttributeError, OSError, ValueError):
        return subprocess.PIPE
    return None if number == descriptor else number


def _shell_path() -> str | None:
    """The user's own shell where it speaks POSIX, else the system's."""
    path = os.environ.get("SHELL", "")
    return path if os.path.basename(path) in _POSIX_SHELLS and os.access(path, os.X_OK) else None


def _flush() -> None:
    """What was printed before comes before what the child writes."""
    for stream in (sys.stdout, sys.stderr):
        stream.flush()


def _decoded(output: bytes | None) -> str:
    return (output or b"").decode("utf-8", "replace")
