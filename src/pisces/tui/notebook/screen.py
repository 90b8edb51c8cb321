"""A notebook on a screen of its own: cells are chosen, edited, run and saved, with the keys that Jupyter has for it."""

import asyncio
import time
from collections.abc import Awaitable
from typing import ClassVar, Final

from textual.binding import BindingType
from textual.widgets import TextArea

from pisces.errors import PiscesError
from pisces.notebooks.cell import CellType
from pisces.tui.desk.desk import Desk
from pisces.tui.dialogs.confirm import Confirm
from pisces.tui.notebook.book import BookCell
from pisces.tui.notebook.book_screen import BookScreen
from pisces.tui.notebook.changes import Step, clearing, deletion, insertion, movement, retyping
from pisces.tui.notebook.keys import BINDINGS_OF_NOTEBOOK, HELP
from pisces.tui.notebook.running import CellsRun
from pisces.tui.notebook.told import full_text, outcome

_MOST_UNDO: Final = 50
_TWICE: Final = 1.5
"""Seconds within which a second `d` deletes."""


class NotebookScreen(BookScreen):
    """One notebook. Its cells run in the session in sight, so they share its variables with all that runs there."""

    BINDINGS: ClassVar[list[BindingType]] = BINDINGS_OF_NOTEBOOK

    def __init__(self, desk: Desk, path: str) -> None:
        super().__init__(desk, path)
        self._undo: list[Step] = []
        self._last_d = 0.0

    def on_mount(self) -> None:
        self._cells.editor.end_edit = self._end_edit

    # Choosing and editing ----------------------------------------------------------------------------------------

    def action_choose(self, by: int) -> None:
        self._cells.choose(self._cells.chosen + by)

    def action_end(self, last: bool) -> None:
        self._cells.choose(len(self.book.cells) - 1 if last else 0)

    def action_page(self, pages: int) -> None:
        self._cells.scroll_lines(pages * max(1, self._cells.size.height - 2))

    def action_expand(self) -> None:
        self._cells.expanded = not self._cells.expanded
        self._cells.redraw()

    def action_edit(self) -> None:
        """Have an editor in place of the source."""
        cell = self._changeable()
        if cell is None:
            return
        if cell.cell.flaw:
            self._say("This cell is none that a notebook can have: it can only be deleted (d d).")
            return
        self._say("")
        editor = self._cells.editor
        if not editor.begin(cell, self.desk.complete):
            self._say("Some characters of this cell cannot be edited here, and go if you change it.")
        self._cells.redraw()
        self.set_focus(editor)  # At once: the next key is for it.
        self._tell()

    def action_leave(self) -> None:
        """Esc: end the edit; else stop the run; else go."""
        if self._cells.editor.display:
            self._end_edit()
        elif self._note.display and not self.book.read_only:
            self._say("")
        else:
            self._do(self._go())

    def action_go(self) -> None:
        self._do(self._go())

    def on_text_area_changed(self, event: TextArea.Changed) -> None:
        self._keep_draft()
        self._cells.redraw()
        self._tell()

    async def _go(self) -> None:
        """Leave, when all is saved or the person does not want it."""
        unsaved = self.book.unsaved
        if unsaved:
            question = f"{len(unsaved)} cell{'' if len(unsaved) == 1 else 's'} not saved. Leave without saving?"
            if not await self.app.push_screen_wait(Confirm(question, yes="Leave", no="Stay")):
                return
        self.dismiss()

    # Changing the file -------------------------------------------------------------------------------------------

    def action_save(self) -> None:
        self._do(self._save_and_tell())

    async def _save_and_tell(self) -> None:
        self._keep_draft()
        unsaved = len(self.book.unsaved)
        if await self._save(self.book.unsaved):
            self._say(f"Saved {unsaved} cell{'' if unsaved == 1 else 's'}." if unsaved else "All is saved.")

    async def _save(self, cells: list[BookCell]) -> bool:
        """Put drafts into the file; whether that could be done."""
        self._keep_draft()
        if any(cell.conflict for cell in cells):
            self._end_edit()  # The keys that end the conflict are commands.
            self._cells.choose(self.book.cells.index(next(cell for cell in cells if cell.conflict)))
            self._say("Somebody else has changed this cell: 1 keeps your text, 2 takes theirs. Then save again.")
            return False
        drafts = [(cell, cell.draft) for cell in cells if cell.draft is not None]
        if drafts:
            async with self._busy:
                state = await asyncio.to_thread(self.book.apply, self.book.saving([cell for cell, _ in drafts]))
                for cell, text in drafts:  # More may have been typed meanwhile.
                    self.book.saved(cell, text)
                self._take(state)
        return True

    def action_insert(self, below: int) -> None:
        cell = self._cells.cell
        if self._may_change():
            place = 0 if cell is None else self.book.place(cell) + below
            self._change(self._step(insertion(self.book, place)))

    def action_delete(self) -> None:
        cell = self._changeable()
        if cell is not None:
            if cell.gone:
                self._settle(mine=False)
            else:
                self._change(self._step(deletion(self.book, cell)))

    def action_d(self) -> None:
        """The second one deletes."""
        now = time.monotonic()
        if now - self._last_d < _TWICE:
            self._last_d = 0.0
            self.action_delete()
        else:
            self._last_d = now
            self._say("d once more deletes the cell.")

    def action_move(self, by: int) -> None:
        cell = self._changeable()
        step = None if cell is None or cell.gone else movement(self.book, cell, by)
        if step is not None:
            self._change(self._step(step))

    def action_retype(self, cell_type: CellType) -> None:
        cell = self._changeable()
        if cell is not None and not cell.cell.flaw and cell.kind != cell_type:
            self._change(self._step(retyping(self.book, cell, cell_type)))

    def action_clear(self) -> None:
        cell = self._changeable()
        if cell is not None and cell.kind == "code":
            self._change(self._step(clearing(self.book, cell)))

    def action_undo(self) -> None:
        if not self._undo:
            self._say("Nothing to take back: z takes back what was done to cells here; texts have Ctrl+Z in the edit.")
            return
        self._change(self._take_back(self._undo.pop()))

    def action_settle(self, mine: bool) -> None:
        self._settle(mine=mine)

    def _change(self, doing: Awaitable[None]) -> None:
        """Carry out what may choose another cell: the next key is about that one."""
        self._cells.changing = self._do(doing)

    async def _step(self, step: Step) -> None:
        async with self._busy:
            state = await asyncio.to_thread(self.book.apply, step.change)
            if step.deleted is not None:
                self.book.drop(step.deleted)
            self._take(state)
        self._undo = [*self._undo[-_MOST_UNDO:], step]
        self._choose_place(step.place)
        self._say(f"{step.called[:1].upper()}{step.called[1:]}; z takes that back.")

    async def _take_back(self, step: Step) -> None:
        try:
            async with self._busy:
                state = await asyncio.to_thread(self.book.apply, step.back)
                if step.deleted is not None:
                    self.book.put_back(step.deleted, step.place)
                self._take(state)
        except PiscesError:
            self._undo.append(step)  # It may hold a cell that is nowhere else.
            raise
        self._choose_place(step.place)
        self._say(f"Taken back: {step.called}.")

    def _settle(self, *, mine: bool) -> None:
        cell = self._cells.cell
        if cell is not None and (cell.conflict or cell.gone):
            self.book.settle(cell, mine=mine)
            self._cells.show(self.book.cells)
            self._say("Your text is kept; Ctrl+S saves it." if mine else "What is in the file is shown.")

    def _choose_place(self, place: int) -> None:
        """Choose a cell by its place in the file, or the last one that is there."""
        there = [cell for cell in self.book.cells if not cell.gone]
        cell = there[min(place, len(there) - 1)] if there else None
        if self._cells.editor.display and self._cells.editor.cell is not cell:
            self._end_edit()
        self._cells.choose(0 if cell is None else self.book.cells.index(cell))

    # Running -----------------------------------------------------------------------------------------------------

    def action_run(self) -> None:
        cell = self._cells.cell
        if cell is not None:
            self._do(self._run_cells("run", cell))

    def action_run_on(self) -> None:
        cell = self._cells.cell
        if cell is not None:
            self._end_edit()
            if cell.kind == "code":
                self._do(self._run_cells("run", cell))
            self._cells.choose(self._cells.chosen + 1)

    def action_run_all(self) -> None:
        self._do(self._run_cells("run_all", None))

    def action_run_until(self) -> None:
        cell = self._cells.cell
        if cell is not None:
            self._do(self._run_cells("run_until", cell))

    def action_interrupt(self) -> None:
        if self._run is not None:
            self._run.cancel()
            self._say("Stopping …")
        else:
            self._say("Nothing runs here. q leaves the notebook.")

    async def _run_cells(self, action: str, cell: BookCell | None) -> None:
        if not self._may_run(cell) or not await self._save(
            self.book.unsaved if cell is None else self._until(action, cell)
        ):
            return
        if self._run is not None:
            return  # The key was pressed twice, and both have saved.
        if cell is not None and cell not in self.book.cells:
            self._say("Somebody else has deleted this cell: nothing was run.")
            return
        run = self._run = CellsRun(self.desk, self.book, action, cell)
        self._say("")
        self.app.run_worker(self._carefully(self._wait_for(run)), exit_on_error=False)

    async def _wait_for(self, run: CellsRun) -> None:
        """The run is the app's, so that it goes on when the person leaves the notebook."""
        try:
            with self.desk.counted():
                said = outcome(await run.result())
        except PiscesError as error:
            said = error.explain()
        finally:
            self._run = None
        if self.is_attached:
            self._cells.running = {}
            self._cells.redraw(follow=False)
            self._tell()
            self._say(said)
            await self._read_again()

    def _until(self, action: str, cell: BookCell) -> list[BookCell]:
        """The cells whose drafts a run needs in the file."""
        return [cell] if action == "run" else self.book.cells[: self.book.cells.index(cell) + 1]

    def _may_run(self, cell: BookCell | None) -> bool:
        if self._run is not None:
            self._say("Cells of this notebook run already: Ctrl+C stops them.")
        elif not self.desk.can_run:
            self._say("The session in sight is only watched: switch to one of the background host to run cells.")
        elif cell is not None and cell.kind != "code":
            if not self._cells.editor.display:
                self._say(f"This is a {cell.kind} cell: only code cells can be run. y makes it one.")
            self._end_edit()
        else:
            return self._may_change()
        return False

    # Showing -----------------------------------------------------------------------------------------------------

    def action_output(self) -> None:
        """The whole output of a cell in the pager; of a conflict, what is in the file."""
        from pisces.tui.pager.screen import PagerScreen

        cell = self._cells.cell
        if cell is None:
            return
        text = full_text(cell)
        if text:
            self.app.push_screen(PagerScreen.of_text(f"cell {self._cells.chosen} of {self.book.path}", text))
        else:
            self._say("This cell has no output.")

    def action_help(self) -> None:
        from pisces.tui.pager.screen import PagerScreen

        self.app.push_screen(PagerScreen.of_text("Notebook: keys", HELP))
