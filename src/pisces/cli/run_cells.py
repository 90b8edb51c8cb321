"""From cells to what is on the terminal: one call of a tool, shown live, at its end, or as JSON."""

from collections.abc import Sequence

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
from pisces.tools.base import CallContext
from pisces.tools.registry import ALL_TOOLS


def run_cells(wanted: CellsToRun) -> int:
    """Run the cells, show what they say, and return the exit code. Raises `InvalidCall` and `SettingsError`."""
    stage("imports")
    return anyio.run(_RunningCells(wanted).run)


class _RunningCells:
    """One run of the command."""

    def __init__(self, wanted: CellsToRun) -> None:
        self._wanted = wanted

    async def run(self) -> int:
        wanted = self._wanted
        runtime = Runtime(cwd=wanted.cwd, settings={**wanted.settings, **ALL_TOOLS})
        stage("settings")
        abort = anyio.Event()
        with StopSignals(in_running_loop(abort.set)) as signals:
            output = LiveOutput.standard(on_closed=abort.set)
            live = LiveCells(output, total=wanted.count)
            result = await self._call(runtime, abort, live if wanted.show == "live" else None)
            stage("first result")
            await self._show(result, output)
        if output.failure is not None:
            raise output.failure
        if output.closed:
            return OUTPUT_CLOSED
        return signals.exit_code or exit_code(result, tool=wanted.tool)

    async def _call(self, runtime: Runtime, abort: anyio.Event, live: LiveCells | None) -> ToolResult:
        context = CallContext(
            owner="command line",
            on_output=None if live is None else live.take,
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
        if self._wanted.show == "json":
            output.take(as_json(result))
        elif self._wanted.show == "whole":
            output.take(as_text(result))
        said: Sequence[str] = remarks(result) if self._wanted.show == "live" else ()
        if said or output.is_terminal:
            output.begin_line()
        await output.drain()
        for remark in () if output.closed else said:
            click.echo(remark, err=True)
