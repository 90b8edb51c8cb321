"""A handler for the scripted kernel that understands enough Python for the contract suite.

Plain cells run by `exec` in this process, and what they print or display becomes events. Cells that would block or
die cannot run here: those are known by their text, and have steps instead.
"""

import ast
import contextlib
import io
import signal
import traceback
from collections.abc import Iterator
from typing import Any, cast

from pisces.kernels.base import ExecuteRequest
from pisces.kernels.memory_script import Die, Hang, IgnoreInterrupt, Step, WaitForInterrupt
from pisces.model.events import ClearOutput, Display, Done, Error, InputRequested, Result, Stream, StreamName
from tests.contract import cells

SCRIPTED: dict[str, list[Step]] = {
    cells.DISPLAYS: [],
    cells.SPIN: [Stream("stdout", "ready\n"), WaitForInterrupt()],
    cells.SLEEP: [Stream("stdout", "ready\n"), WaitForInterrupt()],
    cells.AWAIT: [Stream("stdout", "ready\n"), WaitForInterrupt()],
    cells.CHILD_SLEEPS: [Stream("stdout", "ready\n"), WaitForInterrupt()],
    cells.CATCH_AND_GO_ON: [Stream("stdout", "ready\n"), IgnoreInterrupt(), Stream("stdout", "caught\n")],
    cells.NEVER_STOP: [Stream("stdout", "ready\n"), Hang()],
    cells.KILL_ITSELF: [Stream("stdout", "last words\n"), Die(signal=signal.SIGKILL)],
    cells.SEGFAULT: [Die(signal=signal.SIGSEGV)],
    cells.LEAVE_WITH_0: [Die(code=0)],
    cells.LEAVE_WITH_3: [Die(code=3)],
}


def tiny_python(request: ExecuteRequest, namespace: dict[str, Any]) -> Iterator[Step]:
    """What a cell does, as steps."""
    if request.code in SCRIPTED:
        yield from SCRIPTED[request.code]
        return
    said: list[Step] = []
    failure = _run(request.code, namespace, said)
    yield from said
    if failure is not None:
        yield from _told(failure)


def _run(code: str, namespace: dict[str, Any], said: list[Step]) -> BaseException | None:
    namespace.update(_builtins(said))
    streams = contextlib.ExitStack()
    streams.enter_context(contextlib.redirect_stdout(cast("io.StringIO", _Voice("stdout", said))))
    streams.enter_context(contextlib.redirect_stderr(cast("io.StringIO", _Voice("stderr", said))))
    with streams:
        try:
            tree = ast.parse(code, "<cell>")
            last = tree.body.pop().value if tree.body and isinstance(tree.body[-1], ast.Expr) else None  # type: ignore[attr-defined]
            exec(compile(tree, "<cell>", "exec"), namespace)
            value = None if last is None else eval(compile(ast.Expression(last), "<cell>", "eval"), namespace)
        except BaseException as error:  # noqa: BLE001  # Whatever ends a cell is the cell's.
            return error
    if value is not None:
        said.append(Result({"text/plain": repr(value)}))
    return None


class _Voice:
    """A stream whose writes become events."""

    def __init__(self, name: StreamName, said: list[Step]) -> None:
        self._name: StreamName = name
        self._said = said

    def write(self, text: str) -> int:
        self._said.append(Stream(self._name, text))
        return len(text)

    def flush(self) -> None:
        """Nothing is held back."""


def _builtins(said: list[Step]) -> dict[str, Any]:
    def display(bundle: dict[str, Any], *, raw: bool, display_id: str | None = None) -> None:
        said.append(Display(bundle, display_id=display_id))

    def update_display(bundle: dict[str, Any], *, raw: bool, display_id: str) -> None:
        said.append(Display(bundle, display_id=display_id, update=True))

    def clear_output(wait: bool = False) -> None:
        said.append(ClearOutput(wait))

    def refuse(prompt: str = "") -> str:
        said.append(InputRequested(prompt))
        raise EOFError("interactive input is not supported")

    return {"display": display, "update_display": update_display, "clear_output": clear_output, "input": refuse}


def _told(failure: BaseException) -> Iterator[Step]:
    lines = traceback.format_exception(failure)
    yield Error(type(failure).__name__, str(failure), tuple(lines[:1] + lines[2:]))
    if isinstance(failure, SystemExit):
        yield Done("error", exit_code=int(failure.code or 0))
