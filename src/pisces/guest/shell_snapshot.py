"""How a command line of the shell is run: by which bash, and with what of the user's own shell.

The user's functions, aliases, options and PATH are in a snapshot: a file that bash reads before the command, so that
aliases count when the command is parsed. `PI_SHELL_SNAPSHOT` names it; the host chooses the name, and whoever runs the
first command has it taken (`shell_capture`). One that could not be taken says so in its first line, and nobody tries
again until the rc file changes; commands then run as if there were no rc file.

Only bash is asked. Who uses another shell, zsh for instance, has what the environment gives, PATH above all.
"""

from __future__ import annotations

import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

VARIABLE = "PI_SHELL_SNAPSHOT"
FAILED = "# Not taken: "
_SYSTEM_SHELL = "/bin/sh"
_LONGEST_ARGUMENT = 100_000
"""Bytes; Linux refuses an argument of 128 KiB."""


class ShellCommand:
    """A command line, ready to be started. Close `script`, if it is not -1, when that has been done."""

    __slots__ = ("args", "env", "script", "warning")

    def __init__(self, args: list[str], env: dict[str, str], warning: str = "") -> None:
        self.args = args
        self.env = env
        self.script = -1
        """A descriptor that the shell has to inherit: it has the command, which is too long for an argument."""
        self.warning = warning
        """Why the snapshot could not be taken, for the reader; empty if it was, or was not tried just now."""


def shell_command(text: str, env: Mapping[str, str]) -> ShellCommand:
    """The command line as bash is to run it in this environment; by the system's shell where there is no bash."""
    bash = find_bash(env)
    seen = dict(env)
    if not bash:
        command = ShellCommand([_SYSTEM_SHELL, "-c", "--", text], seen)
    elif not seen.get(VARIABLE):
        # A login shell may set PATH anew.
        command = ShellCommand([bash, "-lc", "--", _first_again(seen) + text], seen)
    else:
        command = ShellCommand([bash, "-c", "--", text], seen)
        snapshot, command.warning = _snapshot(bash, seen)
        if snapshot and seen.get("BASH_ENV"):
            command.args[-1] = f". {quoted(snapshot)}\n{text}"  # The user has something else read first.
        elif snapshot:
            seen["BASH_ENV"] = snapshot
    if len(command.args[-1]) > _LONGEST_ARGUMENT // 4 and len(os.fsencode(command.args[-1])) > _LONGEST_ARGUMENT:
        _put_aside(command)
    return command


def find_bash(env: Mapping[str, str]) -> str:
    """The user's own shell if that is bash, else the first on PATH outside of environments; empty if there is none."""
    own = env.get("SHELL", "")
    if os.path.basename(own) == "bash" and os.access(own, os.X_OK):
        return own
    for folder in env.get("PATH", os.defpath).split(os.pathsep):
        path = os.path.join(folder, "bash")
        can_run = os.path.isabs(folder) and os.path.isfile(path) and os.access(path, os.X_OK)
        if can_run and not of_environment(folder, env):
            return path
    return ""


def of_environment(folder: str, env: Mapping[str, str]) -> bool:
    """Whether a folder of PATH has the programs of a virtual or a conda environment.

    Such a folder may have come with a project. Its programs run when a command names them, and not before. The host
    has the same function (`environment/shell_snapshot.py`).
    """
    folder = os.path.normpath(folder)
    if is_active(folder, env):
        return True
    return any(os.path.lexists(os.path.join(folder, os.pardir, name)) for name in ("pyvenv.cfg", "conda-meta"))


def is_active(folder: str, env: Mapping[str, str]) -> bool:
    """Whether a folder of PATH has the programs of the environment that is active."""
    active = [os.path.join(env[name], "bin") for name in ("VIRTUAL_ENV", "CONDA_PREFIX") if env.get(name)]
    return os.path.normpath(folder) in map(os.path.normpath, active)


def rc_file(env: Mapping[str, str]) -> str:
    """What bash reads when a person starts it."""
    return os.path.join(env.get("HOME") or os.path.expanduser("~"), ".bashrc")


def snapshot_name(bash: str, rc: str) -> str:
    """What the file of a snapshot is called: another name for another bash, or when the rc file has changed.

    The host computes the same (`environment/shell_snapshot.py`).
    """
    from hashlib import sha256

    try:
        status = os.stat(rc)
        state = f"{status.st_mtime_ns}:{status.st_size}"
    except OSError:
        state = "-"
    named = "\0".join((bash, os.path.dirname(rc), rc, state))
    return sha256(os.fsencode(named)).hexdigest()[:16] + ".sh"


def own_folder(env: Mapping[str, str]) -> str:
    """The folder of the kernel's own programs, if PATH begins with it."""
    first = env.get("PATH", "").partition(os.pathsep)[0]
    return first if first and of_environment(first, env) else ""


def quoted(text: str) -> str:
    """A text as one word of the shell."""
    return "'" + text.replace("'", "'\\''") + "'"


def _snapshot(bash: str, env: Mapping[str, str]) -> tuple[str, str]:
    """The file to read first, or nothing; and why there is none, if that has come out just now."""
    path = env[VARIABLE]
    state = _state(path)
    if state is not None:
        return (path, "") if state else ("", "")
    rc = rc_file(env)
    if not os.path.exists(rc) or os.path.basename(path) != snapshot_name(bash, rc):
        return "", ""  # Nothing to take, or the name is that of another state of things than the one at hand.
    from . import shell_capture

    warning = shell_capture.take(path, bash, rc, env)
    return ("", warning) if warning else (path, "")


def _state(path: str) -> bool | None:
    """Whether there is a snapshot; False for one that could not be taken, None if nobody has tried."""
    try:
        with open(path, "rb") as file:
            return not file.read(len(FAILED)).startswith(FAILED.encode("ascii"))
    except OSError:
        return None


def _first_again(env: Mapping[str, str]) -> str:
    own = own_folder(env)
    return f'PATH={quoted(own)}:"$PATH"\n' if own else ""


def _put_aside(command: ShellCommand) -> None:
    """Have the shell read the command from a file, of which nobody it starts knows."""
    if hasattr(os, "memfd_create"):
        fd = os.memfd_create("command", 0)
    else:
        import tempfile

        with tempfile.TemporaryFile() as file:
            fd = os.dup(file.fileno())
    rest = memoryview(os.fsencode(f"exec {fd}<&-; {command.args[-1]}"))
    while rest:
        rest = rest[os.write(fd, rest) :]
    os.lseek(fd, 0, os.SEEK_SET)
    os.set_inheritable(fd, True)
    command.script = fd
    command.args[-1] = f". /dev/fd/{fd}"
