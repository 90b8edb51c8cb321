"""A bare pipe: the least that running code in another process can cost.

The child evaluates a line and writes a line; the host reads chunks and drops them. Nothing is ordered, kept, cleaned
or bounded, and nothing survives an error. The buffer of the child's output is chosen by the measurement: with the
64 KiB of a Pisces kernel a pipe is faster than with the 8 KiB that are Python's own.
"""

import os
import subprocess
import sys

from bench.subjects.base import Received

_READ_BYTES = 1 << 18
_END = b"\0\n"
_CHILD = r"""
import sys
namespace = {}
sys.stdout = out = open(1, "w", buffering=int(sys.argv[1]), encoding="utf-8", newline="\n", closefd=False)
for line in sys.stdin:
    code = line.rstrip("\n").replace("\0", "\n")
    if "\n" in code:
        exec(code, namespace)
    else:
        out.write(repr(eval(code, namespace)))
    out.write("\0\n")
    out.flush()
"""


class PipeSubject:
    """A child of this interpreter with two pipes."""

    def __init__(self, buffer_bytes: str) -> None:
        self._buffer_bytes = buffer_bytes
        self._process: subprocess.Popen[bytes] | None = None
        self._printed = 0

    async def start(self) -> None:
        self._process = subprocess.Popen(  # noqa: ASYNC220 - a bare pipe has no event loop
            [sys.executable, "-I", "-c", _CHILD, self._buffer_bytes],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            bufsize=0,
        )

    async def evaluate(self, code: str) -> str:
        source = self._send(code)
        answer = b""
        while not answer.endswith(_END):
            answer += _read(source)
        return answer.removesuffix(_END).decode("utf-8")

    async def print_much(self, code: str) -> None:
        source = self._send(code.replace("\n", "\0"))
        self._printed = 0
        last = b""
        while not last.endswith(_END):
            chunk = _read(source)
            self._printed += len(chunk)
            last = chunk if len(chunk) > 1 else last[-1:] + chunk
        self._printed -= len(_END)

    def received(self) -> Received:
        return Received(self._printed)

    async def stop(self) -> None:
        process = self._process
        if process is None or process.stdin is None or process.stdout is None:
            return
        process.stdin.close()
        process.wait(timeout=10)
        process.stdout.close()

    def _send(self, line: str) -> int:
        """Send code; returns where its output comes."""
        process = self._process
        if process is None or process.stdin is None or process.stdout is None:
            raise RuntimeError("the bare pipe has not been started")
        os.write(process.stdin.fileno(), line.encode("utf-8") + b"\n")
        return process.stdout.fileno()


def _read(source: int) -> bytes:
    chunk = os.read(source, _READ_BYTES)
    if not chunk:
        raise RuntimeError("the child at the other end of the bare pipe has ended")
    return chunk
