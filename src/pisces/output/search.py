"""Search output for a regular expression, in a process that can be stopped.

Patterns come from models, users and addresses of resources. Matching one can take for ever (`(a+)+b`), and holds the
interpreter lock all the time: in this process no other call would go on, and nothing could stop it. So each search is
a process, `python -m pisces.output.search`, which is killed when its time is over or its caller is cancelled. Plain
text is looked for in a thread, which looks before each line whether it is to stop.
"""

import re
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Final

import msgspec

from pisces.errors import ArtifactError, InvalidCall, PiscesError
from pisces.output.artifact_text import MISSING, LineRange, line_parts
from pisces.settings.own_process import bare_environment, module_command

SECONDS: Final = 30.0
"""The longest that one search may take."""
MATCH_LIMIT: Final = 200
"""The most matching lines that one search returns."""
_MATCH_CHARS: Final = 1000
_SPECIAL: Final = frozenset(r"\.^$*+?{}[]|()")
_COMMAND: Final = module_command("pisces.output.search")

Matches = Callable[[str], object]


class Searched(msgspec.Struct, frozen=True, kw_only=True):
    """What a search looks through: the file of an artifact, or numbered lines."""

    name: str
    """How messages name it: `artifact 3`, `job-1`."""
    artifact_id: str = ""
    path: str = ""
    lines: LineRange | None = None
    """Of the file."""
    numbered: list[tuple[int, str]] = []


class Request(msgspec.Struct, frozen=True):
    """What the process of a search is asked for."""

    pattern: bytes
    """As UTF-8; halves of surrogate pairs too, which JSON strings cannot hold."""
    searched: Searched
    seconds: float
    """After which it ends itself."""


class _Answer(msgspec.Struct, frozen=True, kw_only=True):
    text: str = ""
    error: str = ""
    hint: str = ""
    bad_pattern: bool = False


async def search(pattern: str, searched: Searched, *, seconds: float = SECONDS) -> str:
    """The matching lines as `<number>:<line>`, the first `MATCH_LIMIT` of them, and how many more there are.

    Raises `InvalidCall` for what is no regular expression, and `ArtifactError` for lines that are not there and when
    the search takes longer than `seconds`, or `SECONDS`. Cancelling it ends the process or the thread.
    """
    seconds = min(seconds, SECONDS)
    if _is_plain(pattern):
        return await _in_a_thread(pattern, searched, seconds)
    answer = await _in_a_process(pattern, searched, seconds)
    if answer.bad_pattern:
        raise InvalidCall(answer.error, hint=answer.hint)
    if answer.error:
        raise ArtifactError(answer.error, hint=answer.hint)
    return answer.text


def parse_pattern(pattern: str) -> Matches:
    """Understand a regular expression. Raises `InvalidCall` for what is none.

    What is returned may take for ever: call it only in a process that a person or a deadline can end.
    """
    if _is_plain(pattern):
        return lambda line: pattern in line
    try:
        return re.compile(pattern).search
    except (re.error, OverflowError, RecursionError) as error:
        raise InvalidCall(
            f"Not a regular expression: {pattern!r} ({error})", hint="Escape special characters with a backslash."
        ) from None


def matching_lines(
    path: Path, artifact_id: str, matches: Matches, lines: LineRange | None
) -> Iterator[tuple[int, str]]:
    """Each line that matches, once, with its number; of one longer than a block, the part that does.

    A note of what is missing comes in its place, as the number `MISSING`.
    """
    last_match = 0
    for number, part in line_parts(path, artifact_id, lines):
        text = part.decode("utf-8", "replace").removesuffix("\n")
        if number == MISSING:
            yield number, text.removeprefix("\n")
        elif number != last_match and matches(text):
            last_match = number
            yield number, text


def _is_plain(pattern: str) -> bool:
    return _SPECIAL.isdisjoint(pattern)


def _found(pattern: str, matches: Matches, searched: Searched) -> str:
    if searched.path:
        found = matching_lines(Path(searched.path), searched.artifact_id, matches, searched.lines)
    else:
        found = ((number, line) for number, line in searched.numbered if matches(line))
    shown: list[str] = []
    notes: list[str] = []
    count = 0
    for number, line in found:
        if number == MISSING:
            notes.append(line)
            continue
        count += 1
        if count <= MATCH_LIMIT:
            shown.append(f"{number}:{_clamped(line)}")
    if not count:
        shown.append(f"No line of {searched.name} matches {pattern!r}.")
    if count > MATCH_LIMIT:
        shown.append(f"[…{count - MATCH_LIMIT} more matching lines: narrow the search, or search in a range of lines…]")
    return "\n".join(shown + notes)


def _clamped(line: str) -> str:
    cut = len(line) - _MATCH_CHARS
    return line if cut <= 0 else f"{line[:_MATCH_CHARS]}[…{cut} characters cut…]"


async def _in_a_thread(text: str, searched: Searched, seconds: float) -> str:
    import anyio  # The process of a search does without it.

    stop = threading.Event()
    too_long = _too_long(text, seconds)

    def matches(line: str) -> bool:
        if stop.is_set():
            raise ArtifactError(too_long)
        return text in line

    try:
        with anyio.move_on_after(seconds):
            return await anyio.to_thread.run_sync(_found, text, matches, searched, abandon_on_cancel=True)
    finally:
        stop.set()  # The thread, if it still runs, ends with its next line.
    raise ArtifactError(too_long, hint="Search in fewer lines with `lines`.")


def _too_long(pattern: str, seconds: float) -> str:
    return f"The search for {pattern!r} took longer than {seconds:.3g} s and was stopped."


async def _in_a_process(pattern: str, searched: Searched, seconds: float) -> _Answer:
    import anyio

    # The process also ends itself, for the case that we are killed meanwhile.
    request = msgspec.json.encode(Request(pattern.encode("utf-8", "surrogatepass"), searched, seconds + 1))
    process, output = _start(), b""
    try:
        with anyio.move_on_after(seconds) as limit:
            output, _ = await anyio.to_thread.run_sync(process.communicate, request, abandon_on_cancel=True)
    finally:
        process.kill()
        with anyio.CancelScope(shield=True):
            await anyio.to_thread.run_sync(process.wait)
    if output:
        return msgspec.json.decode(output, type=_Answer)
    if limit.cancelled_caught:
        return _Answer(
            error=_too_long(pattern, seconds),
            hint="Search for plain text, write the pattern without nested repeats such as (a+)+, or search in fewer "
            "lines with `lines`.",
        )
    return _Answer(error=f"The search for {pattern!r} broke off (exit code {process.returncode}).")


def _start() -> "subprocess.Popen[bytes]":
    try:
        return subprocess.Popen(
            _COMMAND,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env=bare_environment(),
            start_new_session=True,  # A Ctrl+C at the terminal is for us.
        )
    except OSError as error:
        raise ArtifactError(f"The process for the search could not be started: {error}") from error


def main() -> None:
    """Carry out the search that standard input asks for."""
    request = msgspec.json.decode(sys.stdin.buffer.read(), type=Request)
    signal.setitimer(signal.ITIMER_REAL, request.seconds)
    try:
        pattern = request.pattern.decode("utf-8", "surrogatepass")
        answer = _Answer(text=_found(pattern, parse_pattern(pattern), request.searched))
    except PiscesError as error:
        answer = _Answer(error=str(error), hint=error.hint, bad_pattern=isinstance(error, InvalidCall))
    except OSError as error:
        answer = _Answer(error=f"The search broke off: {error}")
    sys.stdout.buffer.write(msgspec.json.encode(answer))


if __name__ == "__main__":
    main()
