"""From cells to what is on the terminal: one call of the `python` tool, shown live, at its end, or as JSON."""

from collections.abc import Mapping, Sequence
from typing import Any, Final, Literal

import anyio
import click
import msgspec

from pisces.cli.live import LiveCells
from pisces.cli.main import FAILED, OUTPUT_CLOSED
from pisces.cli.shown import as_json, as_text, remarks
from pisces.cli.signals import StopSignals
from pisces.cli.startup import stage
from pisces.cli.terminal import LiveOutput
from pisces.errors import InvalidCall
from pisces.model.results import Details, ToolResult
from pisces.runtime import Runtime
from pisces.tools.base import CallContext

READ_WITH: Final = "Run `pisces artifact {id}`"
Show = Literal["live", "whole", "json"]
"""Output while it comes, the result at its end as an agent gets it, or all of it as JSON."""

_EXIT_CODES: Final = {"ok": 0, "timeout": 124, "interrupted": 130, "aborted": 130}


class CellsToRun(msgspec.Struct, frozen=True, kw_only=True):
    """What `pisces run` was asked for."""

    cwd: str | None
    settings: Mapping[str, Any]
    params: Mapping[str, Any]
    """The parameters of the `python` tool."""
    keep_going: bool = False
    show: Show = "live"


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
        runtime = Runtime(cwd=wanted.cwd, settings=wanted.settings)
        stage("settings")
        abort = anyio.Event()
        with StopSignals(abort.set) as signals:
            output = LiveOutput.standard(on_closed=abort.set)
            live = LiveCells(output, total=len(wanted.params["cells"]))
            result = await self._call(runtime, abort, live if wanted.show == "live" else None)
            stage("first result")
            await self._show(result, output)
        if output.failure is not None:
            raise output.failure
        if output.closed:
            return OUTPUT_CLOSED
        return signals.exit_code or _exit_code(result)

    async def _call(self, runtime: Runtime, abort: anyio.Event, live: LiveCells | None) -> ToolResult:
        context = CallContext(
            owner="command line",
            on_output=None if live is None else live.take,
            abort=abort,
            read_with=READ_WITH,
            keep_going=self._wanted.keep_going,
        )
        refusal: InvalidCall | None = None
        async with runtime:
            try:
                return await runtime.tools["python"].call(self._wanted.params, context)
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


def _exit_code(result: ToolResult) -> int:
    if not isinstance(result.details, Details):
        return FAILED if result.is_error else 0
    return _EXIT_CODES.get(result.details.outcome, FAILED)
