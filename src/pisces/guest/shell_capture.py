"""Taking a snapshot of the user's shell: what the rc file of bash makes of an interactive one.

Most rc files do nothing in a shell that is not interactive, so an interactive one is started: in a session of its own,
without a terminal, with nothing to read and two seconds of time. Whatever the rc file does then, it holds nobody up,
and nothing that it started stays. Of its variables only PATH is kept: the others may be secrets.
"""

from __future__ import annotations

import os
import re
import subprocess
import threading

from . import shell_processes
from .shell_snapshot import FAILED, is_active, own_folder, quoted

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

SECONDS = 2.0
_MOST_BYTES = 4 << 20
_END = "end of the snapshot"
_READ_BACK = "read back"
_OWN = "__pi_"
_KEPT_OPTIONS = frozenset(("braceexpand", "noclobber", "physical", "pipefail"))
"""Of `set -o`; the others would end commands early, or print what they do."""
_KEPT_SHOPTS = frozenset(
    (
        "dotglob",
        "extglob",
        "failglob",
        "globskipdots",
        "globstar",
        "lastpipe",
        "nocaseglob",
        "nocasematch",
        "nullglob",
        "patsub_replacement",
        "xpg_echo",
    )
)
_COMPLETION = re.compile(r"/bash[-_]completion")
"""Hundreds of functions that only an interactive shell needs, and every command would have to read."""
_ASKS = re.compile(r"(alias -- |alias )?(rm|cp|mv|ln)=.*\s-(\w*[iI]|-interactive)")
"""Nobody can answer: `rm -i` would delete nothing, and say that it went well."""

# Aliases count here, and functions may have the names of builtins; hence the backslashes and `builtin`. IFS may be such
# that it cannot be set, which only a `local` survives.
_QUESTION = r"""
\builtin trap - DEBUG ERR RETURN EXIT
__pi_tell() {
\builtin local IFS=$'\n'
\builtin printf '%s\0' "$PATH"
\builtin set +o; \builtin printf '\0'
\builtin set +eux
\builtin shopt -p; \builtin printf '\0'
\builtin alias -p; \builtin printf '\0'
\builtin shopt -s extdebug
\builtin set -f
for __pi_name in $(\builtin compgen -A function); do
\builtin declare -F -- "$__pi_name"; \builtin declare -f -- "$__pi_name"; \builtin printf '\0'
done
\builtin printf '%s' END
}
__pi_tell >| ANSWER 2>/dev/null
"""


def take(path: str, bash: str, rc: str, env: Mapping[str, str]) -> str:
    """Take the snapshot into this file, or write there why it could not be taken; that is returned then."""
    scratch = f"{path}.{os.getpid()}.{threading.get_ident()}"
    try:
        _make_private(os.path.dirname(path))
        os.close(os.open(scratch, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))
    except OSError as error:
        return _warning(rc, f"it cannot be kept in {os.path.dirname(path)} ({error.strerror})")
    try:
        why, answer = _ask(bash, scratch, env)
        content = "" if why else _snapshot(answer, env)
        if content and not _can_be_read(bash, scratch, content, env):
            why = "bash cannot read back what it told"
        _write(scratch, f"{FAILED}{why}\n" if why else content)
        os.replace(scratch, path)
    except OSError as error:
        return _warning(rc, f"it cannot be kept in {os.path.dirname(path)} ({error.strerror})")
    finally:
        _remove(scratch)
    return _warning(rc, why) if why else ""


def _warning(rc: str, why: str) -> str:
    return f"No snapshot of your shell was taken from {rc}: {why}. Commands run without its functions and aliases."


def _ask(bash: str, answer: str, env: Mapping[str, str]) -> tuple[str, str]:
    """Why there is no answer, if there is none; and the answer."""
    question = _QUESTION.replace("ANSWER", quoted(answer)).replace("END", quoted(_END))
    ended = _run([bash, "-ic", question], _outside(env))
    with open(answer, encoding="utf-8", errors="surrogateescape", newline="") as file:
        text = file.read(_MOST_BYTES + 1)
    if text.endswith(_END):
        return "", text[: -len(_END)]
    if len(text) > _MOST_BYTES:
        return f"it defines more than {_MOST_BYTES >> 20} MiB of functions", ""
    return ("it ended the shell" if ended else f"it did not end within {SECONDS:g} seconds"), ""


def _outside(env: Mapping[str, str]) -> dict[str, str]:
    """The environment as it is outside of any project: the snapshot is for all of them."""
    outside = {name: value for name, value in env.items() if name not in {"VIRTUAL_ENV", "BASH_ENV"}}
    if "PATH" in env:
        entries = env["PATH"].split(os.pathsep)
        own = own_folder(env)  # An environment that is neither active nor first on PATH is the user's own.
        outside["PATH"] = os.pathsep.join(entry for entry in entries if entry != own and not is_active(entry, env))
    return outside


def _run(command: list[str], env: dict[str, str], output: int = subprocess.DEVNULL) -> bool:
    """Run a shell for as long as it may take, and end all that it started; False if it was not done by then."""
    cookie = shell_processes.new_cookie()
    process = subprocess.Popen(
        command,
        stdin=subprocess.DEVNULL,
        stdout=output,
        stderr=subprocess.DEVNULL,
        cwd="/",
        env={**env, shell_processes.COOKIE: cookie},
        start_new_session=True,
    )
    try:
        process.wait(SECONDS)
        return True
    except subprocess.TimeoutExpired:
        return False
    finally:
        shell_processes.end(process.pid, cookie, ended=process.returncode is not None)
        process.wait()


def _snapshot(answer: str, env: Mapping[str, str]) -> str:
    """The text of the snapshot. Functions come before aliases, which would count while they are read."""
    path, options, shopts, aliases, *functions = answer.split("\0")
    lines = [
        "# What the rc file makes of a shell. This file may be deleted: it is then taken again.",
        "unset BASH_ENV",
        *(line for line in options.split("\n") if line.rpartition(" ")[2] in _KEPT_OPTIONS),
        *(line for line in shopts.split("\n") if line.rpartition(" ")[2] in _KEPT_SHOPTS),
    ]
    for function in functions:
        place, _, body = function.partition("\n")
        if body and not place.startswith(_OWN) and not _COMPLETION.search(place):
            lines.append(body.rstrip("\n"))
    lines += [f"builtin {alias}" for alias in _whole_aliases(aliases) if not _ASKS.match(alias)]
    lines += ["builtin shopt -s expand_aliases", *_path_lines(path, _outside(env).get("PATH", ""))]
    return "\n".join(lines) + "\n"


def _whole_aliases(text: str) -> list[str]:
    """One alias each; some have several lines."""
    aliases: list[str] = []
    for line in text.split("\n"):
        if line.startswith("alias ") or not aliases:
            aliases.append(line)
        else:
            aliases[-1] += "\n" + line
    return [alias for alias in aliases if alias]


def _path_lines(after: str, before: str) -> list[str]:
    """Shell code that adds to PATH what is missing: in front what the rc file put there, behind it the rest.

    The folder of a virtual environment stays the first.
    """
    known = set(before.split(os.pathsep))
    entries = [entry for entry in after.split(os.pathsep) if os.path.isabs(entry)]
    front = []
    for entry in entries:
        if entry in known:
            break
        front.append(entry)
    own = '"${VIRTUAL_ENV:-//}/bin":*|"${CONDA_PREFIX:-//}/bin":*'
    take_off = '__pi_first="${PATH%%:*}:"; PATH="${PATH#*:}"'
    lines = ["__pi_first=", f'case "$PATH" in {own}) {take_off} ;; esac']
    for entry in (*reversed(front), *(entry for entry in entries if entry not in front)):
        added = f'{quoted(entry)}:"$PATH"' if entry in front else f'"$PATH":{quoted(entry)}'
        lines.append(f'case ":$__pi_first$PATH:" in *:{quoted(entry)}:*) ;; *) PATH={added} ;; esac')
    return [*lines, 'PATH="$__pi_first$PATH"', "builtin unset __pi_first"]


def _can_be_read(bash: str, scratch: str, content: str, env: Mapping[str, str]) -> bool:
    _write(scratch, f"{content}\\builtin printf '%s' {quoted(_READ_BACK)}\n")
    fd = os.open(scratch, os.O_RDWR | os.O_APPEND)
    try:
        size = os.fstat(fd).st_size
        _run([bash, "-c", f". {quoted(scratch)}"], _outside(env), fd)
        return os.pread(fd, len(_READ_BACK), size) == _READ_BACK.encode("ascii")
    finally:
        os.close(fd)


def _make_private(folder: str) -> None:
    """Make a folder, and those above it that are missing, for the user alone."""
    if not os.path.isdir(folder):
        _make_private(os.path.dirname(folder))
        try:
            os.mkdir(folder, 0o700)
        except FileExistsError:
            pass  # Somebody else was quicker.


def _write(path: str, content: str) -> None:
    with open(path, "w", encoding="utf-8", errors="surrogateescape", newline="") as file:
        file.write(content)


def _remove(path: str) -> None:
    try:
        os.unlink(path)
    except OSError:
        pass  # It has its lasting name by now.
