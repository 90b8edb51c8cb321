"""The measurements' end of a subject's host process."""

import selectors
import subprocess
import sys
import time
from types import TracebackType
from typing import Any, Self

import msgspec

from bench.sandbox import ROOT, Sandbox

_ANSWER_SECONDS = 60.0


class SubjectProcess:
    """A host process of its own for one subject, from its start to its confirmed end."""

    def __init__(
        self, sandbox: Sandbox, *subject: str, host: tuple[str, str] = (sys.executable, "bench.subjects.serve")
    ) -> None:
        """`host` is the interpreter and the module that take the orders."""
        interpreter, module = host
        self._process = subprocess.Popen(
            [interpreter, "-m", module, *subject],
            cwd=ROOT,
            env=sandbox.environ,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            encoding="utf-8",
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        end(self._process)

    def round_trips(self, count: int) -> list[float]:
        """Seconds that each of so many evaluations of `1+1` took."""
        answer: list[float] = self._ask({"round_trips": count})
        return answer

    def output(self, code: str) -> dict[str, Any]:
        """What printing cost: `seconds`, `growth_mb`; and what came: `size`, `sha256`."""
        answer: dict[str, Any] = self._ask({"output": code})
        return answer

    def _ask(self, order: dict[str, Any]) -> Any:
        assert self._process.stdin is not None
        self._process.stdin.write(msgspec.json.encode(order).decode() + "\n")
        self._process.stdin.flush()
        return msgspec.json.decode(read_line(self._process, _ANSWER_SECONDS))


def read_line(process: subprocess.Popen[str], seconds: float) -> str:
    """The next line that the process writes, within that time. Nothing may be left of what it wrote before."""
    assert process.stdout is not None
    deadline = time.monotonic() + seconds
    with selectors.DefaultSelector() as selector:
        selector.register(process.stdout, selectors.EVENT_READ)
        if not selector.select(deadline - time.monotonic()):
            raise TimeoutError(f"{process.args!r} did not answer within {seconds:g} seconds")
    line = process.stdout.readline()
    if not line:
        raise RuntimeError(f"{process.args!r} ended with code {process.wait(timeout=10)} instead of an answer")
    return line


def end(process: subprocess.Popen[str], seconds: float = 15.0) -> None:
    """Close its input and wait for its end; terminate it where that does not come, and kill it at last."""
    if process.stdin is not None:
        process.stdin.close()
    for hasten in (process.terminate, process.kill):
        try:
            process.wait(timeout=seconds)
        except subprocess.TimeoutExpired:
            hasten()
    process.wait()
    if process.stdout is not None:
        process.stdout.close()
