"""What is seen of a notebook, and how it follows its file: the part of its screen that changes nothing."""

import asyncio
from collections.abc import Awaitable
from typing import TYPE_CHECKING, Final

from textual.app import ComposeResult
from textual.screen import Screen
from textual.widgets import Static
from textual.worker import Worker

from pisces.errors import PiscesError
from pisces.render.blocks import language_of
from pisces.render.shown_text import one_line
from pisces.render.terminal_text import without_control
from pisces.tui.desk.desk import Desk
from pisces.tui.dialogs.confirm import Confirm
from pisces.tui.notebook.book import Book, BookCell, State
from pisces.tui.notebook.cells_view import CellsView
from pisces.tui.notebook.running import CellsRun

if TYPE_CHECKING:
    from pisces.tui.app import PiscesApp

_LOOK_AGAIN: Final = 0.2
"""Seconds between two looks at the file, and between two pictures of a run."""


class BookScreen(Screen[None]):
    """Shows a notebook as its file has it, with the drafts that are not in the file yet."""

    CSS = """
    BookScreen { layout: vertical; }
    #book-title, #book-status { height: 1; background: $panel; color: $foreground; text-wrap: nowrap; }
    #book-note { height: auto; max-height: 40%; background: $surface; color: $warning; display: none; }
    """
    app: "PiscesApp"

    def __init__(self, desk: Desk, path: str) -> None:
        super().__init__()
        self.desk = desk
        self.book = Book(path)
        self._run: CellsRun | None = None
        self._busy = asyncio.Lock()
        """Held by whoever reads or writes the file."""
        self._loaded = False

    def compose(self) -> ComposeResult:
        yield Static(id="book-title", markup=False)
        yield CellsView()
        yield Static(id="book-note", markup=False)
        yield Static(id="book-status", markup=False)

    def on_mount(self) -> None:
        self._cells.focus()
        self._do(self._load())
        self.set_interval(_LOOK_AGAIN, self._tick)

    async def _load(self) -> None:
        if self.book.is_missing:
            question = f"There is no file {self.book.path}. Make an empty notebook there?"
            if not await self.app.push_screen_wait(Confirm(question, yes="Make it", no="Back")):
                self.dismiss()
                return
            self._take(await asyncio.to_thread(self.book.create))
        else:
            self._say("Reading …")
            self._take(await asyncio.to_thread(self.book.read))
        self._say(self.book.read_only)

    def _take(self, state: State, *, quietly: bool = True) -> None:
        """Have a state of the file in sight."""
        self._keep_draft()
        told = self.book.take(state)
        self._loaded = True
        self._cells.language = language_of(state.metadata)
        editor = self._cells.editor
        cell = editor.cell if editor.display else None
        if cell is not None and cell not in self.book.cells:
            self._end_edit()
        elif cell is not None and cell.draft is None and editor.text != cell.source:
            editor.begin(cell, self.desk.complete)
        self._cells.show(self.book.cells)
        if told and not quietly:
            self._say(told)
        self._tell()

    def on_cells_view_scrolled(self) -> None:
        self._tell()

    def _tick(self) -> None:
        """The file may have changed, and what runs goes on."""
        if self._run is not None:
            self._cells.running = self._run.marks
            self._cells.tick()
            self._tell()
        if self._loaded and not self._busy.locked() and self.book.has_changed():
            self._do(self._read_again())

    async def _read_again(self) -> None:
        async with self._busy:
            if not self.book.has_changed():
                return
            try:
                self._take(await asyncio.to_thread(self.book.read), quietly=False)
            except PiscesError:
                self.book.leave_this_version()
                raise

    def _keep_draft(self) -> None:
        """What is in the editor is the draft of its cell."""
        editor = self._cells.editor
        if editor.cell is not None and editor.has_changed():
            editor.cell.write(editor.text)

    def _end_edit(self) -> None:
        self._keep_draft()
        self._cells.editor.display = False
        self.set_focus(self._cells)
        self._cells.redraw()
        self._tell()

    @property
    def _cells(self) -> CellsView:
        return self.query_one(CellsView)

    @property
    def _note(self) -> Static:
        return self.query_one("#book-note", Static)

    def _may_change(self) -> bool:
        if self.book.read_only:
            self._say(self.book.read_only)
        return self._loaded and not self.book.read_only

    def _changeable(self) -> BookCell | None:
        return self._cells.cell if self._may_change() else None

    def _say(self, text: str) -> None:
        self._note.update(without_control(text))
        self._note.display = bool(text)

    def _tell(self) -> None:
        unsaved, cells = len(self.book.unsaved), self._cells
        runs = "running, Ctrl+C stops · " if self._run is not None else ""
        mode = "edit: Esc ends it · F5 runs" if cells.editor.display else "Enter edits · r runs · F1 help · q back"
        changed = f" · {unsaved} not saved (Ctrl+S)" if unsaved else ""
        title = f"{one_line(self.book.path)} · session {one_line(self.desk.session)}"
        self.query_one("#book-title", Static).update(f"{'* ' if unsaved else ''}{title}")
        chosen = cells.cell
        place = "no cells: b makes one" if chosen is None else f"cell {cells.chosen} of 0-{len(self.book.cells) - 1}"
        self.query_one("#book-status", Static).update(f"{place}{changed} · {runs}{mode}")

    def _do(self, doing: Awaitable[None]) -> Worker[None]:
        """Carry something out beside the screen; what goes wrong is told."""
        return self.run_worker(self._carefully(doing), exit_on_error=False)

    async def _carefully(self, doing: Awaitable[None]) -> None:
        try:
            await doing
        except PiscesError as error:
            if self.is_attached:
                self._say(error.explain())
        except Exception as error:  # noqa: BLE001 - the person can go on; the log has it
            self.app.tell_mishap(error)
