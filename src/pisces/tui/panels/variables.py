"""The variables of the session in sight: names, types and sizes, never values."""

from collections.abc import Sequence

from pisces.model.events import Variable
from pisces.tui.panels.filter_list import FilterList


class VariablesPanel(FilterList):
    """A line for each name."""

    def __init__(self) -> None:
        super().__init__("Variables", id="variables", empty="none yet")

    def show(self, variables: Sequence[Variable], *, running: bool, known: bool = True) -> None:
        """Show these; while a cell runs, they are those of before it. Of a session that is watched none are known."""
        lines = [(each.name, each.name, f"{each.type} {each.size}".rstrip()) for each in variables]
        self.fill(
            lines,
            remark="as of the last cell" if running else "",
            empty="none yet" if known else "not known of this session",
        )
