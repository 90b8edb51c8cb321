"""The helpers that every kernel has: files, search, text, the shell, and the tools of the host.

`names` has the signature and the words of each; what they do is in the modules beside it, and is imported when it is
first called. They return values and print nothing. What was done is told by a status event, for whoever watches.
"""

from __future__ import annotations

from . import names, running, status

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from ..given_names import GivenNames


def give(given: GivenNames, publish: Callable[[dict[str, Any]], None], run: Callable[[], str]) -> None:
    """Bind every helper that no name of the user's is in the way of; `publish` shows a MIME bundle in the cell.

    `run` says what the host calls the cell that runs.
    """
    status.publish_with(publish)
    running.known_by(run)
    given.give(names.helpers())


def end_cell() -> None:
    """A cell has come to its end: let go of what helpers kept for it."""
    running.ended()
