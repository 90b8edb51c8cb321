"""What `pisces run` was asked for, and how its end becomes an exit code, wherever the cells run."""

from collections.abc import Mapping
from typing import Any, Final, Literal

import msgspec

from pisces.cli.main import FAILED
from pisces.model.results import Details, ToolResult

READ_WITH: Final = "Run `pisces artifact {id}`"
Show = Literal["live", "whole", "json"]
"""Output while it comes, the result at its end as an agent gets it, or all of it as JSON."""

TIMED_OUT: Final = 124
EXIT_CODES: Final = {"ok": 0, "timeout": TIMED_OUT, "interrupted": 130, "aborted": 130}
"""By outcome; every other one is a failure."""


class CellsToRun(msgspec.Struct, frozen=True, kw_only=True):
    """What `pisces run` was asked for."""

    cwd: str | None
    settings: dict[str, Any]
    params: Mapping[str, Any]
    """The parameters of the `python` tool."""
    keep_going: bool = False
    show: Show = "live"


def exit_code(result: ToolResult) -> int:
    """What the command exits with."""
    if not isinstance(result.details, Details):
        return FAILED if result.is_error else 0
    return EXIT_CODES.get(result.details.outcome, FAILED)
