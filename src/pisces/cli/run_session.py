"""Commands with --session: cells that run in the background host, shown here as if they ran here.

Everything blocks: this process has one thing to do, and starts sooner without an event loop and a runtime.
"""

import os
from contextlib import nullcontext
from typing import TYPE_CHECKING

import click
import msgspec

from pisces.cli.blocking_output import BlockingOutput
from pisces.cli.cells_to_run import READ_WITH, CellsToRun, exit_code
from pisces.cli.main import OUTPUT_CLOSED
from pisces.cli.shown import as_text, remarks
from pisces.cli.signals import StopSignals
from pisces.cli.startup import stage
from pisces.host.client import HostClient, HostEnding, HostGone, HostSilent, disconnected, python_result, unanswered
from pisces.host.protocol import Call, Place
from pisces.host.start import have_host
from pisces.model.results import Details, ToolResult

if TYPE_CHECKING:
    from pisces.cli.blocking_terminal import BlockingTerminal


def run_in_session(wanted: CellsToRun) -> int:
    """Run the cells in their session, show what they say, and return the exit code.

    Raises `InvalidCall`, `SettingsError`, and `PiscesError` when there is no host to run them.
    """
    stage("imports")
    call = Call(
        tool=wanted.tool,
        params=dict(wanted.params),
        place=Place.here(wanted.cwd or os.getcwd(), wanted.settings),
        stream=wanted.show == "live",
        read_with=READ_WITH,
        keep_going=wanted.keep_going,
    )
    while True:
        client = have_host(os.environ)
        stage("background host")
        try:
            return _RunningCall(client, call, wanted).run()
        except HostEnding:
            continue  # It was about to end when we came; the next one is ours.
        finally:
            client.close()


class _RunningCall:
    """One call, and what is shown of it."""

    def __init__(self, client: HostClient, call: Call, wanted: CellsToRun) -> None:
        self._client = client
        self._call = call
        self._wanted = wanted
        self._output = BlockingOutput(cells=wanted.count, on_closed=client.cancel)
        self._terminal = _terminal(self._output, wanted) if wanted.is_watched else None

    def run(self) -> int:
        output, shown = self._output, self._terminal or self._output
        with StopSignals(self._stop, farewell=self._clear) as signals:
            try:
                with self._terminal or nullcontext():
                    raw = self._client.call(self._call, shown.take)
                result = python_result(raw)
            except (HostGone, HostSilent) as error:
                session = str(self._wanted.params["session"])
                result = unanswered(session, error) if isinstance(error, HostSilent) else disconnected(session)
                raw = msgspec.Raw(msgspec.json.encode(result.to_dict()))
            stage("first result")
            self._show(result, bytes(raw))
        if output.failure is not None:
            raise output.failure
        if output.closed:
            return (output.is_terminal and signals.exit_code) or OUTPUT_CLOSED
        return signals.exit_code or exit_code(result)

    def _stop(self) -> None:
        if self._terminal is not None:
            self._terminal.stop_asked()
        self._client.cancel()

    def _clear(self) -> None:
        if self._terminal is not None:
            self._terminal.clear()

    def _show(self, result: ToolResult, raw: bytes) -> None:
        if self._wanted.show == "live":
            _name_ways_to_job(result)
        output, said = self._output, remarks(result) if self._wanted.show == "live" else ()
        if self._terminal is not None:
            self._terminal.end(result)
            if os.isatty(2):  # Otherwise what there is to say goes there, as text.
                return
        elif self._wanted.show == "json":
            output.write(raw.decode("utf-8") + "\n")
        elif self._wanted.show == "whole":
            output.write(as_text(result))
        if self._terminal is None and (said or output.is_terminal):
            output.begin_line()
        for remark in () if output.closed else said:
            click.echo(remark, err=True)


def _name_ways_to_job(result: ToolResult) -> None:
    details = result.details
    if isinstance(details, Details) and details.job is not None:
        job = details.job.id
        details.notices.append(f"Here: pisces session wait {job}, pisces session output {job}.")


def _terminal(output: BlockingOutput, wanted: CellsToRun) -> "BlockingTerminal | None":
    from pisces.cli.blocking_terminal import BlockingTerminal

    return BlockingTerminal.on(output, wanted)
