"""The command palette: the commands of the main screen, by their names."""

from collections.abc import Coroutine
from functools import partial
from typing import Any

from textual.command import DiscoveryHit, Hit, Hits, Provider

from pisces.tui.keys import COMMANDS, Command, readable


class PiscesCommands(Provider):
    """Every command of the table, each with its keys and a sentence."""

    async def discover(self) -> Hits:
        for command in COMMANDS:
            yield DiscoveryHit(_title(command), self._doing(command), help=command.help)

    async def search(self, query: str) -> Hits:
        matcher = self.matcher(query)
        for command in COMMANDS:
            score = max(matcher.match(command.title), matcher.match(command.help) / 2)
            if score > 0:
                yield Hit(score, _title(command), self._doing(command), help=command.help)

    def _doing(self, command: Command) -> "partial[Coroutine[Any, Any, None]]":
        return partial(self.screen.run_action, f"do('{command.name}')")


def _title(command: Command) -> str:
    keys = ", ".join(map(readable, command.keys))
    return f"{command.title} ({keys})" if keys else command.title
