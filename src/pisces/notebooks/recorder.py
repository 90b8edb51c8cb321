"""The outputs of cells that run, as a notebook has them: events go in, outputs come out. No file is touched here."""

from collections.abc import Callable, Collection, Iterable, Mapping
from typing import Final

import msgspec

from pisces.journal.bounded_output import BoundedText, RichRoom
from pisces.journal.notebook_outputs import CellOutputs, Displays, NotebookOutput
from pisces.model.cells import CellRecord
from pisces.model.events import AnyEvent, ClearOutput, Display, Done, Result, Stream
from pisces.notebooks.saved_outputs import as_saved

_PLACE: Final = "the notebook"
_MAX_RICH: Final = 64 << 20
"""Bytes of displays that a cell of a notebook keeps: all of them are encoded anew at each write."""
ArtifactId = Callable[[], str | None]
"""The id of the artifact that has all of the text, as soon as there is one."""


class RunState(msgspec.Struct, frozen=True):
    """What a run has made of a cell so far."""

    outputs: list[NotebookOutput]
    execution_count: int | None


class Recorder:
    """Sees the cells of a call run, and knows which have news that nobody has fetched."""

    def __init__(self, artifact_id: ArtifactId = lambda: None) -> None:
        self._artifact_id = artifact_id
        self._cells: dict[int, _RecordedCell] = {}
        self._displays: Displays = {}
        self._shown_in: dict[str, set[int]] = {}
        """By display id, the cells that have such a display."""
        self._running: _RecordedCell | None = None
        self._news: set[int] = set()

    @property
    def has_news(self) -> bool:
        """Whether something has changed since the last time that it was taken."""
        return bool(self._news)

    @property
    def begun(self) -> Collection[int]:
        """The cells that have begun, by their index in the call."""
        return self._cells.keys()

    def began(self, record: CellRecord) -> None:
        """This cell begins; one that is run again begins again."""
        self._running = self._cells[record.index] = _RecordedCell(record.index, self._displays, self._artifact_id)
        self._news.add(record.index)

    def took(self, event: AnyEvent) -> None:
        """The cell that runs said this."""
        running = self._running
        if running is None:
            return
        running.take(event)
        self._news.add(running.index)
        if isinstance(event, Display | Result) and event.display_id:  # Displays of earlier cells may change by it.
            cells = self._shown_in.setdefault(event.display_id, set())
            self._news.update(cells)
            cells.add(running.index)

    def ended(self, done: Done) -> None:
        """It is over."""
        if self._running is not None:
            self._running.end(done)
            self._news.add(self._running.index)
            self._running = None

    def take_news(self) -> Mapping[int, RunState]:
        """What has changed since the last time, by the index of the cell in the call."""
        news, self._news = self._news, set()
        return {index: self._cells[index].state() for index in sorted(news)}

    def states(self) -> Mapping[int, RunState]:
        """Of every cell that has begun, by its index in the call."""
        return {index: cell.state() for index, cell in self._cells.items()}

    def give_back(self, indexes: Iterable[int]) -> None:
        """What was taken of these cells could not be used: it is news again."""
        self._news.update(indexes)


class _RecordedCell:
    def __init__(self, index: int, displays: Displays, artifact_id: ArtifactId) -> None:
        self.index = index
        self._artifact_id = artifact_id
        self._count: int | None = None
        self._outputs = CellOutputs(displays)
        self._text = BoundedText()
        self._rich = RichRoom(room=_MAX_RICH, updates_replace=True)

    def take(self, event: AnyEvent) -> None:
        if isinstance(event, Stream):
            head = self._text.add(event)
            if head is not None:
                self._outputs.take(head)
            return
        self._tell_cut(self._text.interrupt())
        admitted = self._rich.admit(event)
        if admitted is not None:
            self._outputs.take(admitted[0])
        if isinstance(event, ClearOutput):  # What is cleared takes no room: a progress display may go on for hours.
            self._text, self._rich = BoundedText(), RichRoom(room=_MAX_RICH, updates_replace=True)

    def end(self, done: Done) -> None:
        cut, end = self._text.finish()
        self._tell_cut(cut)
        for event in end:
            self._outputs.take(event)
        self._outputs.tell_left_out(self._rich.left_out, _PLACE)
        if done.status == "crashed":
            self._outputs.tell_death(done.process_exit)
        self._count = done.execution_count

    def state(self) -> RunState:
        return RunState(as_saved(self._outputs.outputs), self._count)

    def _tell_cut(self, characters: int) -> None:
        if characters:
            self._outputs.tell_cut(characters, _PLACE, self._artifact_id())
