"""A channel that keeps what a shell says, and a shell that is run cell by cell."""

import asyncio
from collections.abc import Coroutine
from typing import Any

from pisces.guest.builtin_shell import BuiltinShell
from pisces.guest.shell_contract import CellOutcome


class RecordingChannel:
    """Fulfils `shell_contract.Channel`; `events` has everything in order."""

    def __init__(self) -> None:
        self.events: list[tuple[Any, ...]] = []

    def display(self, data: dict[str, Any], metadata: dict[str, Any], display_id: str | None, update: bool) -> None:
        self.events.append(("display", data, metadata, display_id, update))

    def result(self, data: dict[str, Any], metadata: dict[str, Any], execution_count: int) -> None:
        self.events.append(("result", data, metadata, execution_count))

    def clear_output(self, wait: bool) -> None:
        self.events.append(("clear_output", wait))

    def run_async(self, coroutine: Coroutine[Any, Any, Any]) -> Any:
        return asyncio.run(coroutine)

    @property
    def bundles(self) -> list[dict[str, Any]]:
        """The data of every display, without the results."""
        return [event[1] for event in self.events if event[0] == "display"]


class RecordedShell:
    """The built-in shell on a recording channel."""

    def __init__(self) -> None:
        self.channel = RecordingChannel()
        self.namespace: dict[str, Any] = {"__name__": "__main__"}
        self.shell = BuiltinShell(self.namespace, self.channel)

    def run(self, code: str, *, silent: bool = False, store_history: bool = True) -> CellOutcome:
        """Run one cell; only its own events are kept."""
        self.channel.events.clear()
        return self.shell.run_cell(code, silent=silent, store_history=store_history)

    def ok(self, code: str) -> str | None:
        """Run one cell that must succeed; the text of its result."""
        outcome = self.run(code)
        assert outcome.status == "ok", "\n".join(outcome.traceback)
        results = [event[1]["text/plain"] for event in self.channel.events if event[0] == "result"]
        assert len(results) <= 1
        return results[0] if results else None

    def error(self, code: str) -> CellOutcome:
        """Run one cell that must fail."""
        outcome = self.run(code)
        assert outcome.status == "error"
        return outcome
