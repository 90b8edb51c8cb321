"""From cells to what is on the terminal: one call of a tool, shown live, at its end, or as JSON."""

import os
from collections.abc import Sequence
from contextlib import nullcontext
from typing import TYPE_CHECKING

import anyio
import click

from pisces.cli.cells_to_run import READ_WITH, CellsToRun, exit_code
from pisces.cli.live import LiveCells
from pisces.cli.main import OUTPUT_CLOSED
from pisces.cli.shown import as_json, as_text, remarks
from pisces.cli.signals import StopSignals, in_running_loop
from pisces.cli.startup import stage
from pisces.cli.terminal import LiveOutput
from pisces.errors import InvalidCall
from pisces.model.results import ToolResult
from pisces.runtime import Runtime
from pisces.sessions.progress import OnOutput
from pisces.tools.base import CallContext
from pisces.tools.registry import ALL_TOOLS

if TYPE_CHECKING:
    from pisces.cli.live_terminal import LiveTerminal


def run_cells(wanted: CellsToRun) -> int:
    """Run the cells, show what they say, and return the exit code. Raises `InvalidCall` and `SettingsError`."""
    stage("imports")
    return anyio.run(_RunningCells(wanted).run)


class _RunningCells:
    """One run of the command."""

    def __init__(self, wanted: CellsToRun) -> None:
        self._wanted = wanted
        self._terminal: LiveTerminal | None = None

    async def run(self) -> int:
        wanted = self._wanted
        runtime = Runtime(cwd=wanted.cwd, settings={**wanted.settings, **ALL_TOOLS})
        stage("settings")
        abort = anyio.Event()
        with StopSignals(in_running_loop(lambda: self._stop(abort)), farewell=self._clear) as signals:
            output = LiveOutput.standard(on_closed=abort.set)
            if wanted.is_watched:
                from pisces.cli.live_terminal import LiveTerminal

                self._terminal = LiveTerminal.on(output, wanted)
            async with self._terminal or nullcontext():
                result = await self._call(runtime, abort, self._listener(output))
            stage("first result")
            await self._show(result, output)
        if output.failure is not None:
            raise output.failure
        if output.closed:
            return (output.is_terminal and signals.exit_code) or OUTPUT_CLOSED
        return signals.exit_code or exit_code(result, tool=wanted.tool)

    def _listener(self, output: LiveOutput) -> OnOutput | None:
        if self._terminal is not None:
            return self._terminal.take
        return LiveCells(output, total=self._wanted.count).take if self._wanted.show == "live" else None

    def _stop(self, abort: anyio.Event) -> None:
        if self._terminal is not None:
            self._terminal.stop_asked()
        abort.set()

    def _clear(self) -> None:
        if self._terminal is not None:
            self._terminal.clear()

    async def _call(self, runtime: Runtime, abort: anyio.Event, listener: OnOutput | None) -> ToolResult:
        context = CallContext(
            owner="command line",
            on_output=listener,
            abort=abort,
            read_with=READ_WITH,
            keep_going=self._wanted.keep_going,
            lasting=False,
        )
        refusal: InvalidCall | None = None
        async with runtime:
            try:
                return await runtime.tools[self._wanted.tool].call(self._wanted.params, context)
            except InvalidCall as error:
                refusal = error  # Raised outside: leaving the runtime would wrap it in a group.
        assert refusal is not None
        raise refusal

    async def _show(self, result: ToolResult, output: LiveOutput) -> None:
        if self._terminal is not None:
            await self._terminal.end(result)
            if os.isatty(2):  # Otherwise what there is to say goes there, as text.
                return
        elif self._wanted.show == "json":
            output.take(as_json(result))
        elif self._wanted.show == "whole":
            output.take(as_text(result))
        said: Sequence[str] = remarks(result) if self._wanted.show == "live" else ()
        if self._terminal is None and (said or output.is_terminal):
            output.begin_line()
        await output.drain()
        for remark in () if output.closed else said:
            click.echo(remark, err=True)
