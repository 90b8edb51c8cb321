"""Ask a Python interpreter what it is, without ever being held up by it.

The candidate runs in a session of its own with the null device as standard input and one pipe for all it writes.
Whatever it does (waits, loops, prints for ever, starts children that stay), the probe ends in time, and so does
the candidate's whole process group.
"""

import os
from collections.abc import Mapping
from typing import Final

import anyio
import msgspec

from pisces.environment.captured_process import CapturedProcess
from pisces.errors import InterpreterError, without_descriptor

MINIMUM_VERSION: Final = (3, 9)
"""What the guest needs."""

MAX_OUTPUT: Final = 64 * 1024
"""An interpreter that has written this much is not going to answer."""

# It must be readable for every Python back to 2.7, so that an old one can say how old it is. The empty entry of
# sys.path goes first: it is the current folder, where a `json.py` of somebody's would be run.
_QUESTION: Final = """\
import sys
sys.path[:] = [entry for entry in sys.path if entry]
import json
answer = {
    "version": list(sys.version_info[:3]),
    "executable": sys.executable or "",
    "prefix": sys.prefix,
    "base_prefix": getattr(sys, "base_prefix", sys.prefix),
    "platform": sys.platform,
    "implementation": getattr(getattr(sys, "implementation", None), "name", "unknown"),
    "has_ipython": False,
}
if sys.version_info >= (3, 9):
    from importlib.util import find_spec
    answer["has_ipython"] = find_spec("IPython") is not None
sys.stdout.write("\\n" + sys.argv[1] + json.dumps(answer) + "\\n")
sys.stdout.flush()
"""


class ProbeAnswer(msgspec.Struct, frozen=True):
    """What an interpreter said about itself."""

    version: tuple[int, int, int]
    executable: str
    prefix: str
    base_prefix: str
    platform: str
    implementation: str
    has_ipython: bool | None = None
    """Whether IPython can be imported there; None when that was not asked now (the answer comes from a cache)."""


class ProbeFailed(Exception):
    """The candidate is no usable interpreter; the text is the reason, without a full stop."""


async def probe(path: str, *, cwd: str, env: Mapping[str, str], seconds: float) -> ProbeAnswer:
    """Run the interpreter at `path` and have its answer within `seconds`.

    Raises `ProbeFailed`, and `InterpreterError` when no process can be started at all.
    """
    marker = f"pisces-{os.urandom(8).hex()} "
    output = bytearray()
    try:
        process = CapturedProcess([path, "-c", _QUESTION, marker], cwd=cwd, env=env)
    except (OSError, ValueError) as error:
        why = getattr(error, "strerror", None) or error
        if without_descriptor(error) is not None:  # No other interpreter could be started either.
            raise InterpreterError(f"{path} cannot be started: {why}") from error
        raise ProbeFailed(f"cannot be started ({why})") from error
    async with process:
        with anyio.move_on_after(seconds) as limit:
            await _read_answer(process, marker.encode("ascii"), output)
    if marker.encode("ascii") not in output:
        late = f"did not answer within {seconds:.3g} s" if limit.cancelled_caught else ""
        raise ProbeFailed(late or _why_silent(output, process.exit_code))
    return _understand(output.decode("ascii", "replace").partition(marker)[2])


async def _read_answer(process: CapturedProcess, marker: bytes, output: bytearray) -> None:
    """Collect output until the answer's line is whole, the output is closed, or too much has come."""
    while len(output) <= MAX_OUTPUT:
        chunk = await process.read()
        output += chunk
        start = output.find(marker)
        if not chunk or (start >= 0 and output.find(b"\n", start) >= 0):
            return


def _why_silent(output: bytearray, exit_code: int | None) -> str:
    if len(output) > MAX_OUTPUT:
        return f"wrote more than {MAX_OUTPUT // 1024} KiB and no answer"
    lines = [line.strip() for line in output.decode("utf-8", "replace").splitlines() if line.strip()]
    last_words = f": {lines[-1][:200]}" if lines else ""
    how = "ended" if exit_code is None or exit_code < 0 else f"ended with exit code {exit_code}"
    return f"{how} without an answer{last_words}"


def _understand(text: str) -> ProbeAnswer:
    import json  # not msgspec: a path that is not UTF-8 arrives with lone surrogates, which only this one takes

    try:
        answer = msgspec.convert(json.loads(text.splitlines()[0]), ProbeAnswer)
    except (ValueError, IndexError, msgspec.ValidationError) as error:
        raise ProbeFailed(f"gave an answer that cannot be understood ({error})") from error
    if answer.version < MINIMUM_VERSION:
        version = ".".join(map(str, answer.version))
        needed = ".".join(map(str, MINIMUM_VERSION))
        raise ProbeFailed(f"is Python {version}, and {needed} or newer is needed")
    return answer
