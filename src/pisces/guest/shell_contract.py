"""What a shell is told and what it tells: the one seam between running cells and the loop that serves the host.

`loop` implements `Channel` and owns a `Shell`; `builtin_shell` and `ipython_shell` implement `Shell`. Neither side
knows more of the other than this file.
"""

from __future__ import annotations

TYPE_CHECKING = False  # the standard constant, without the import of `typing` at run time
if TYPE_CHECKING:
    from collections.abc import Coroutine
    from typing import Any, Protocol

    from .given_names import GivenNames
else:
    Protocol = object

OK = "ok"
ERROR = "error"
INTERRUPTED = "interrupted"


class Channel(Protocol):
    """Where a shell sends what is to be shown, and where it runs what is awaited.

    All data are strict JSON already: text without lone surrogates, string keys, no NaN.
    """

    def display(self, data: dict[str, Any], metadata: dict[str, Any], display_id: str | None, update: bool) -> None:
        """Show a MIME bundle; with `update`, in place of the one with the same `display_id`."""

    def result(self, data: dict[str, Any], metadata: dict[str, Any], execution_count: int) -> None:
        """Show the value of the cell's last expression."""

    def clear_output(self, wait: bool) -> None:
        """Forget the cell's output so far; with `wait`, when the next output comes."""

    def run_async(self, coroutine: Coroutine[Any, Any, Any]) -> Any:
        """Run it on the kernel's event loop; return what it returns, raise what it raises.

        An interrupt meanwhile cancels it and raises KeyboardInterrupt.
        """


class CellOutcome:
    """How a cell ended. `traceback` is what a reader should see: lines of text without escape sequences."""

    __slots__ = ("ename", "evalue", "exit_code", "status", "traceback")

    def __init__(
        self,
        status: str = OK,
        *,
        ename: str = "",
        evalue: str = "",
        traceback: list[str] | None = None,
        exit_code: int | None = None,
    ) -> None:
        self.status = status
        self.ename = ename
        self.evalue = evalue
        self.traceback: list[str] = [] if traceback is None else traceback
        self.exit_code = exit_code
        """The code that a SystemExit chose; None for everything else."""

    @classmethod
    def interrupted(cls, traceback: list[str] | None = None) -> CellOutcome:
        """The outcome of a cell that KeyboardInterrupt ended."""
        return cls(INTERRUPTED, ename="KeyboardInterrupt", traceback=traceback or ["KeyboardInterrupt"])

    def __repr__(self) -> str:
        return f"CellOutcome({self.status!r}, ename={self.ename!r}, evalue={self.evalue!r})"


class Shell(Protocol):
    """Runs cells in one namespace, one at a time."""

    name: str
    """Which shell it is, for the reader of a result: `builtin` or `ipython`."""
    namespace: dict[str, Any]
    """The variables of `__main__`."""
    execution_count: int
    """The number of the last counted cell; 0 before any."""
    given: GivenNames
    """The names that are not the user's: `%reset` keeps them."""

    def run_cell(self, code: str, *, silent: bool, store_history: bool) -> CellOutcome:
        """Run one cell to its end and never raise, whatever the cell does.

        `silent` displays nothing; `silent` and `not store_history` leave the count as it was.
        """

    def complete(self, code: str, cursor: int) -> tuple[list[str], int, int]:
        """What could stand from the first to the second place of the code, where the cursor is between the two.

        Nothing is bound, counted or remembered by it. It may raise whatever objects of the user's raise.
        """

    def count_from(self, execution_count: int) -> None:
        """Go on counting cells after this number."""
