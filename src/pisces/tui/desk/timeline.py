"""What happened in a session, item by item, as its journals tell.

Entries go in, items change: no file is touched here.
"""

from collections.abc import Iterable
from pathlib import Path
from typing import Final

import msgspec

from pisces.journal.entries import AnyEntry, CellBegan, CellEnded, Reset, SessionBegan, StateChanged, WentBack
from pisces.journal.history import CellHistory, PastCell
from pisces.journal.tail import Placed
from pisces.render.view import CellView, Notice
from pisces.tui.desk.happenings import beginning, may_go_on, notice_about
from pisces.tui.desk.items import GONE, LOST, NOT_RUN, TAKEN_BACK, CellItem, Item, LocalItem, NoticeItem
from pisces.tui.desk.live import LiveText

__all__ = ["CellItem", "Expected", "Item", "LocalItem", "NoticeItem", "Timeline"]

_JUST_SAID: Final = 20
"""Items among which something that is said twice is looked for."""


class Expected(msgspec.Struct, eq=False):
    """A cell that was sent from here: the next one of that code is it."""

    code: str
    live: LiveText
    after: CellItem | None
    """The cell before it, as far as was known."""
    item: CellItem | None = None
    """Itself, once the journal has told of it."""


class Timeline:
    """The items of one session, in the order of their beginnings."""

    def __init__(self) -> None:
        self.items: list[Item] = []
        self._history = CellHistory()
        self._cells: dict[int, CellItem] = {}
        """Those whose end was not told yet, by their number in the journal."""
        self._open: CellItem | None = None
        self._last: CellItem | None = None
        self._expected: list[Expected] = []
        self._has_begun = False

    @property
    def running(self) -> CellItem | None:
        """The cell that has not ended."""
        return self._open

    @property
    def waiting(self) -> int:
        """How many cells were sent from here and have not begun."""
        return len(self._expected)

    def follow(self, path: Path, placed: Iterable[Placed], upto: int) -> None:
        """The next entries of a journal, which has been read up to that byte."""
        for each in placed:
            self._take(path, each)
        if self._open is not None and self._open.path == path:
            self._open.end = max(self._open.end, upto)

    def ended_without_a_word(self) -> None:
        """Nobody writes to the journal any more: the cell that runs in it is over."""
        if self._open is not None:
            self._open.over, self._open = True, None

    def say(self, notice: Notice) -> None:
        """Something that no journal tells."""
        self.items.append(NoticeItem(notice))

    def say_once(self, notice: Notice) -> None:
        """Something that the journal may have told already."""
        if not self._was_just_said(notice.text):
            self.say(notice)

    def add(self, item: LocalItem) -> None:
        """Something that is run from here, and that no journal tells of."""
        self.items.append(item)

    def expect(self, code: str, live: LiveText) -> Expected:
        """A cell of that code is sent from here."""
        self._expected.append(Expected(code.strip(), live, self._last))
        return self._expected[-1]

    def expect_no_more(self, expected: Expected) -> None:
        """The call is over: what comes now is somebody else's."""
        if expected in self._expected:
            self._expected.remove(expected)

    def tell_instead(self, expected: Expected, view: CellView) -> None:
        """How a cell that was sent from here has ended, where the journal does not tell: it could not be written."""
        item = expected.item
        if item is None and self._last is expected.after:
            self.add(LocalItem(view))
        elif item is not None and item.ended is None:
            item.told, item.over, item.live = view, True, None
            if item is self._open:
                self._open = None

    def _take(self, path: Path, placed: Placed) -> None:
        entry = placed.entry
        if isinstance(entry, CellBegan):
            self._begin_cell(path, placed, entry)
        elif isinstance(entry, CellEnded):
            self._end_cell(placed, entry)
        else:
            self._history.follow(entry)
            if isinstance(entry, SessionBegan):
                self.ended_without_a_word()
                self._cells = {}
            self._tell(entry)
            if isinstance(entry, SessionBegan):
                if not may_go_on(entry):
                    self._mark(GONE)
            elif isinstance(entry, StateChanged | WentBack | Reset):
                self._mark(TAKEN_BACK)

    def _begin_cell(self, path: Path, placed: Placed, entry: CellBegan) -> None:
        self.ended_without_a_word()
        self._history.follow(entry)
        item = CellItem(path, placed.start, placed.end, self._history.cells[-1], part=self._part(entry))
        expected = next((each for each in self._expected if each.code == entry.code.strip()), None)
        if expected is not None:
            item.own, item.live, expected.item = True, expected.live, item
            self._expected.remove(expected)
        self._open = self._last = self._cells[entry.cell] = item
        if entry.code.strip():  # Without code it is a reset, or nothing.
            self.items.append(item)

    def _end_cell(self, placed: Placed, entry: CellEnded) -> None:
        self._history.follow(entry)
        item = self._cells.pop(entry.cell, None)
        if item is None:
            return
        item.end, item.live = placed.end, None
        if item is self._open:
            self._open = None
        if not entry.began:
            item.mark = NOT_RUN
        if entry.outcome != "ok" and not item.began.code.strip():
            self.items.append(item)

    def _part(self, entry: CellBegan) -> int:
        """Which cell of its call it is. That a call has several cells is known when the second one comes."""
        if entry.index == 0 or self._last is None:
            return 0
        if self._last.began.call == entry.call and self._last.part == 0:
            self._last.part = self._last.began.index + 1
        return entry.index + 1

    def _tell(self, entry: AnyEntry) -> None:
        if isinstance(entry, SessionBegan):
            notice = beginning(entry, first=not self._has_begun)
            self._has_begun = True
        else:
            notice = notice_about(entry)
        if notice is not None and not (isinstance(entry, StateChanged) and self._confirms(notice.text, entry.time)):
            self.items.append(NoticeItem(notice, entry.time))

    def _mark(self, word: str) -> None:
        """Say of every cell what has become of it; those that were part of the state until now have become `word`."""
        present = {id(cell): cell for cell in self._history.cells}
        for item in self.items:
            if isinstance(item, CellItem) and item.mark != NOT_RUN:
                cell: PastCell | None = present.get(id(item.past))
                if cell is not None:
                    item.mark = LOST if cell.lost else ""
                elif item.mark not in (TAKEN_BACK, GONE):
                    item.mark = word

    def _was_just_said(self, text: str) -> bool:
        return any(item.notice.text == text for item in self._just_said())

    def _confirms(self, text: str, time: float) -> bool:
        """Whether a result has said it before the journal. It counts once: the next crash says the same."""
        said = next((item for item in self._just_said() if not item.time and item.notice.text == text), None)
        if said is not None:
            said.time = time
        return said is not None

    def _just_said(self) -> list[NoticeItem]:
        return [item for item in self.items[-_JUST_SAID:] if isinstance(item, NoticeItem)]
