"""A list in which letters that are typed leave only the lines that have them."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from rich.cells import cell_len
from textual import events
from textual.binding import Binding, BindingType
from textual.content import Content
from textual.message import Message
from textual.widgets import OptionList
from textual.widgets.option_list import Option

from pisces.render.shown_text import clean_line

Line = tuple[str, str, str]
"""What tells it from the others, what it is called, and what stands behind that, paler."""


class FilterList(OptionList):
    """Lines that can be chosen. The same lines again leave everything as it is, so that nothing flickers."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("backspace", "shorten", show=False),
        Binding("delete", "drop", show=False),
        Binding("escape", "leave", show=False),
    ]

    @dataclass
    class Dropped(Message):
        """The person wants the end of this one."""

        list: "FilterList"
        key: str

        @property
        def control(self) -> "FilterList":
            return self.list

    class Left(Message):
        """The person wants to be elsewhere."""

    def __init__(self, title: str, *, id: str, empty: str) -> None:  # noqa: A002 - textual's own name for it
        super().__init__(id=id, compact=True)
        self._title, self._empty = title, empty
        self._all: Sequence[Line] | None = None
        self._letters = ""
        self._remark = ""

    def on_mount(self) -> None:
        self.fill(())

    def fill(self, lines: Sequence[Line], *, remark: str = "", empty: str | None = None) -> None:
        """Show these from now on; `empty` is what stands there where there are none."""
        empty = self._empty if empty is None else empty
        if (lines, remark, empty) != (self._all, self._remark, self._empty):
            self._all, self._remark, self._empty = lines, remark, empty
            self._show()

    def on_key(self, event: events.Key) -> None:
        if event.is_printable and event.character is not None:
            self._letters += event.character
            self._show()
            event.stop()

    def action_shorten(self) -> None:
        self._letters = self._letters[:-1]
        self._show()

    def action_drop(self) -> None:
        option = self.highlighted_option
        if option is not None and option.id is not None:
            self.post_message(self.Dropped(self, option.id))

    def action_leave(self) -> None:
        if self._letters:
            self._letters = ""
            self._show()
        else:
            self.post_message(self.Left())

    def _show(self) -> None:
        lines = self._all or ()
        wanted = self._letters.casefold()
        shown = [line for line in lines if wanted in f"{line[1]} {line[2]}".casefold()]
        number = f"{len(shown)} of {len(lines)}" if wanted else str(len(lines))
        self.border_title = Content(f"{self._title} ({number})")
        self.border_subtitle = Content(f"with {self._letters!r}" if wanted else self._remark)
        chosen = self.highlighted_option
        self.set_options([Option(_told(line), id=line[0]) for line in shown] or [Option(self._empty, disabled=True)])
        keys = [line[0] for line in shown]
        if chosen is not None and chosen.id in keys:
            self.highlighted = keys.index(chosen.id)
        elif keys:
            self.highlighted = 0


def _told(line: Line) -> Content:
    name, more = (clean_line(text.replace("\n", " "), coloured=False) for text in line[1:])
    gap = " " * max(2, 14 - cell_len(name))
    return Content.assemble(name, gap, (more, "$text-muted"))
