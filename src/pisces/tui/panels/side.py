"""The panels beside the history; on a narrow screen, one at a time above everything else."""

from typing import Final, Literal

from textual.app import ComposeResult
from textual.containers import Vertical

from pisces.tui.panels.filter_list import FilterList
from pisces.tui.panels.sessions import JobsPanel, SessionsPanel
from pisces.tui.panels.variables import VariablesPanel

Group = Literal["variables", "sessions"]

WIDE: Final = 110
"""Columns from which there is room beside the history: 80 for it, and 30 for the panels."""
_GROUPS: Final[dict[Group, tuple[str, ...]]] = {"variables": ("variables",), "sessions": ("sessions", "jobs")}


class Side(Vertical):
    """Which of the panels are to be seen, and where."""

    def __init__(self) -> None:
        super().__init__(id="side")
        self._beside: set[Group] = set(_GROUPS)
        """Those that are shown where there is room."""
        self._above: Group | None = None
        """The one that is shown above everything else."""
        self._narrow = True

    def compose(self) -> ComposeResult:
        yield VariablesPanel()
        yield SessionsPanel()
        yield JobsPanel()

    def fit(self, width: int) -> None:
        """The screen is that wide now."""
        self._narrow = width < WIDE
        self._above = None if not self._narrow else self._above
        self._apply()

    def toggle(self, group: Group) -> None:
        """Show it and go there; from there, hide it and go back."""
        there = self.is_shown(group) and self._has_focus(group)
        if self._narrow:
            self._above = None if there else group
        elif there:
            self._beside.discard(group)
        else:
            self._beside.add(group)
        self._apply()
        if not there:
            self.query_one(f"#{_GROUPS[group][0]}", FilterList).focus()
        else:
            self.post_message(FilterList.Left())

    def leave(self) -> bool:
        """Close what is above everything else; whether there was anything."""
        was, self._above = self._above, None
        self._apply()
        return was is not None

    def is_shown(self, group: Group) -> bool:
        """Whether it can be seen now."""
        return self._above == group if self._narrow else group in self._beside

    def _has_focus(self, group: Group) -> bool:
        focused = self.screen.focused
        return focused is not None and focused.id in _GROUPS[group]

    def _apply(self) -> None:
        for group, names in _GROUPS.items():
            for name in names:
                self.query_one(f"#{name}").display = self.is_shown(group)
        self.display = any(self.is_shown(group) for group in _GROUPS)
        self.set_class(self._narrow, "-above")
