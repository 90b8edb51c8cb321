"""`%%capture`: keeps what a cell would have shown."""

from __future__ import annotations

import io
import sys

from . import display
from .magic_options import split_options
from .tracebacks import UsageError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Coroutine
    from typing import Any

    from .builtin_shell import BuiltinShell
    from .shell_contract import Channel


class CapturedOutput:
    """What a captured cell printed and displayed: `stdout`, `stderr`, and `outputs`, a list of MIME bundles."""

    def __init__(self) -> None:
        self.stdout = ""
        self.stderr = ""
        self.outputs: list[dict[str, Any]] = []

    def __str__(self) -> str:
        return self.stdout

    def show(self) -> None:
        """Show it all now."""
        sys.stdout.write(self.stdout)
        sys.stderr.write(self.stderr)
        for bundle in self.outputs:
            display.display(bundle, raw=True)


class _Recorder:
    """A channel that keeps displays instead of showing them."""

    def __init__(self, inner: Channel, outputs: list[dict[str, Any]]) -> None:
        self._inner = inner
        self._outputs = outputs

    def display(self, data: dict[str, Any], _metadata: dict[str, Any], _display_id: str | None, _update: bool) -> None:
        self._outputs.append(data)

    def result(self, data: dict[str, Any], _metadata: dict[str, Any], _execution_count: int) -> None:
        self._outputs.append(data)

    def clear_output(self, wait: bool) -> None:
        del wait
        self._outputs.clear()

    def run_async(self, coroutine: Coroutine[Any, Any, Any]) -> Any:
        return self._inner.run_async(coroutine)


def capture(shell: BuiltinShell, line: str, cell: str) -> None:
    """Run the cell and keep what it shows: `%%capture [--no-stdout] [--no-stderr] [--no-display] [NAME]`."""
    options, name = split_options("%%capture", line, flags=("no-stdout", "no-stderr", "no-display"))
    name = name.strip()
    if name and not name.isidentifier():
        raise UsageError(f"%%capture keeps the output in a variable, and {name!r} is no name for one.")
    captured = CapturedOutput()
    streams, channel = (sys.stdout, sys.stderr), shell.channel
    texts = io.StringIO(), io.StringIO()
    if "no-stdout" not in options:
        sys.stdout = texts[0]
    if "no-stderr" not in options:
        sys.stderr = texts[1]
    if "no-display" not in options:
        shell.show_on(_Recorder(channel, captured.outputs))
    try:
        shell.run_inner(cell, "captured")
    finally:
        (sys.stdout, sys.stderr) = streams
        shell.show_on(channel)
        captured.stdout, captured.stderr = (text.getvalue() for text in texts)
        if name:
            shell.namespace[name] = captured
