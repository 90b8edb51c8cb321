"""The pager: one long text on a screen of its own, with the keys of `less`."""

import asyncio
import re
import time
from collections.abc import Callable
from contextlib import suppress
from typing import ClassVar, Final

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.screen import Screen
from textual.widgets import Input, Static

from pisces.errors import PiscesError
from pisces.output.artifacts import ArtifactStore
from pisces.render.shown_text import one_line
from pisces.tui.line_input import LineInput
from pisces.tui.pager.artifact import Opened, open_artifact, open_text
from pisces.tui.pager.rows import PagedFile
from pisces.tui.pager.search import Search
from pisces.tui.pager.status import Facts, status_line
from pisces.tui.pager.view import PagerView

_STEP: Final = 2 << 20
"""Bytes that are looked at in one go: some milliseconds."""
_LOOK_AGAIN: Final = 0.2
"""Seconds between two looks at a file that may grow."""
_EACH: Final = 0.1
"""Seconds between two pictures of something that goes on."""
_ACROSS: Final = 16
_MOST_DIGITS: Final = 18
"""Of the number of a line: no file has more lines, and Python refuses to read numbers that are long enough."""
HELP: Final = (
    "Up Down j k: a line   Space PageDown, b PageUp: a screenful   g Home, G End: first, last   Left Right: sideways\n"
    "w: wrap long lines   / search, n next, N previous   l or : go to a line   F: follow as it grows   q Esc: back"
)


class PagerScreen(Screen[None]):
    """Shows an artifact, or any text; files of any size with little memory."""

    CSS = """
    PagerScreen { layout: vertical; }
    #pager-title, #pager-status { height: 1; background: $panel; color: $foreground; text-wrap: nowrap; }
    #pager-note { height: auto; max-height: 50%; display: none; background: $surface; }
    #pager-ask { height: 1; border: none; padding: 0; display: none; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("down,j,enter", "move(1)", "Down", show=False),
        Binding("up,k", "move(-1)", "Up", show=False),
        Binding("pagedown,space,f,ctrl+f", "page(1)", "Page", show=False),
        Binding("pageup,b,ctrl+b", "page(-1)", "Back", show=False),
        Binding("d,ctrl+d", "page(0.5)", show=False),
        Binding("u,ctrl+u", "page(-0.5)", show=False),
        Binding("home,g,less_than_sign", "first", "First", show=False),
        Binding("end,G,greater_than_sign", "last", "Last", show=False),
        Binding("right", "shift(1)", show=False),
        Binding("left", "shift(-1)", show=False),
        Binding("w", "wrap", "Wrap"),
        Binding("slash", "ask('search')", "Search", priority=True),
        Binding("n", "found(1)", "Next"),
        Binding("N", "found(-1)", "Previous"),
        Binding("colon,l", "ask('line')", "Line", priority=True),
        Binding("F", "follow", "Follow"),
        Binding("f1,h,question_mark", "help", "Help"),
        Binding("q,escape", "leave", "Back"),
        Binding("ctrl+c", "leave", show=False, priority=True),
    ]

    def __init__(self, store: ArtifactStore | None, what: str, *, text: str | None = None) -> None:
        """An artifact by its id; or, without a store, a text and its title."""
        super().__init__()
        self._store, self._shown_as, self._text = store, what if store is None else f"artifact://{what}", text
        self._artifact = what
        self._opened: Opened | None = None
        self._file: PagedFile | None = None
        self._search: Search | None = None
        self._searching: asyncio.Task[None] | None = None
        self._reading: asyncio.Task[None] | None = None
        self._ended = asyncio.Event()
        self._asked, self._last_time = "", 0.0
        self._follows = False
        self._at: int | None = None
        """The row of the match or line that was gone to last, until the person goes elsewhere."""
        self._goal: Callable[[], bool] | None = None
        """Where to go as soon as so much is known; whether it could be done."""

    @classmethod
    def of_text(cls, title: str, text: str) -> "PagerScreen":
        """The pager with a text that is no artifact."""
        return cls(None, title, text=text)

    def compose(self) -> ComposeResult:
        yield Static(one_line(self._shown_as), id="pager-title", markup=False)
        yield PagerView()
        yield Static(id="pager-note", markup=False)
        yield LineInput(id="pager-ask", compact=True)
        yield Static(id="pager-status", markup=False)

    def on_mount(self) -> None:
        try:
            self._opened = self._open()
        except PiscesError as error:
            self._say(f"{error.explain()}\n\nq goes back.")
            return
        self._file = PagedFile(self._opened.parts)
        self._file.scan(1)
        self._view.look_at(self._file)
        self._view.focus()
        self._reading = asyncio.create_task(self._keep_reading())

    async def on_unmount(self) -> None:
        await self._give_up_search()
        self._file = None
        self._ended.set()
        if self._reading is not None:  # Its thread may be reading: nothing is closed under it.
            await self._reading
        if self._opened is not None:
            self._opened.close()

    def on_pager_view_moved(self) -> None:
        self._tell()

    def action_move(self, lines: int) -> None:
        self._stay()
        self._view.move(lines)

    def action_page(self, pages: float) -> None:
        self._stay()
        self._view.move(int(pages * max(1, self._view.size.height - 1)) or (1 if pages > 0 else -1))

    def action_first(self) -> None:
        self._stay()
        self._view.go_to(0)

    def action_last(self) -> None:
        self._stay()
        self._aim(self._to_end)

    def action_shift(self, way: int) -> None:
        self._view.shift(way * _ACROSS)

    def action_wrap(self) -> None:
        self._view.toggle_wrap()

    def action_follow(self) -> None:
        self._stay()
        self._follows = True
        self._view.go_to_end()

    def action_help(self) -> None:
        self._say("" if self.query_one("#pager-note").display else HELP)

    def action_leave(self) -> None:
        if self.query_one("#pager-ask").display:
            self._ask("")
        elif self._searching is not None and not self._searching.done():
            self._searching.cancel()
        else:
            self.dismiss()

    def action_ask(self, what: str) -> None:
        """Have the person type a pattern, or the number of a line; what is typed right behind the key is part of it."""
        if self._file is not None:
            self._ask(what)

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        return not (action == "ask" and self._asked)  # Who is being asked types these characters.

    def action_found(self, way: int) -> None:
        """Go to the next line that matches, or to the one before."""
        if self._search is None:
            self._say("Nothing has been searched for yet: / begins a search.")
            return
        row = self._searched_from()
        self._aim((lambda: self._to_match_before(row)) if way < 0 else (lambda: self._to_match_after(row)))

    async def on_input_submitted(self, event: Input.Submitted) -> None:
        event.stop()
        asked, value = self._asked, event.value
        self._ask("")
        if asked == "search" and value:
            await self._begin_search(value)
        elif asked == "line" and value.strip():
            self._go_to_line(value.strip())

    async def _keep_reading(self) -> None:
        """Look at the file in steps, and again and again as long as it may grow."""
        told = False
        while (file := self._file) is not None:
            try:
                more = await asyncio.to_thread(file.scan, _STEP)
            except OSError as error:
                self._say(f"It cannot be read any further: {error.strerror or error}.")
                return
            if self._file is None:
                return
            if more and (file.whole or self._is_time()):
                self._take_in_growth()
            self._search_on(file)
            if not more:
                if not told and self._opened is not None and self._opened.goes_on:
                    told = True
                    self._say("The output goes on in another file: open it again to see its end.")
                with suppress(TimeoutError):
                    await asyncio.wait_for(self._ended.wait(), _LOOK_AGAIN)

    def _take_in_growth(self) -> None:
        if self._follows:
            self._view.go_to_end()
        else:
            self._view.redraw()
        self._try_goal()

    def _search_on(self, file: PagedFile) -> None:
        """Search what was written since the search came to its end. One that broke off, or has enough, stays so."""
        search = self._search
        if search is None or search.running or search.enough or search.failed or not file.whole:
            return
        if search.searched < file.scanned:
            self._searching = asyncio.create_task(search.go_on(*file.page_at(search.searched)))

    def _searched_from(self) -> int:
        """The row that was gone to last, while it is in sight: near the end it is not the first on the screen."""
        first, last = self._view.in_sight
        return self._at if self._at is not None and first <= self._at <= last else first

    async def _begin_search(self, pattern: str) -> None:
        await self._give_up_search()
        if self._opened is None:
            return
        try:
            self._search = Search(pattern, self._opened.parts, self._tell_found)
        except re.error as error:
            self._say(f"Not a regular expression: {pattern!r} ({error}). Escape special characters with a backslash.")
            return
        self._view.matches = self._search.matches
        row = self._view.top[0]
        self._searching = asyncio.create_task(self._search.go_on())
        self._search.running = True
        self._say("")
        self._stay()
        self._aim(lambda: self._to_match_after(row - 1))

    async def _give_up_search(self) -> None:
        searching, self._search, self._searching = self._searching, None, None  # Growth begins it anew no more.
        if searching is not None:
            searching.cancel()
            await asyncio.gather(searching, return_exceptions=True)

    def _go_to_line(self, value: str) -> None:
        line = int(value) if value.isdecimal() and len(value) <= _MOST_DIGITS else 0
        if not line:
            self._say(f"Not the number of a line: {one_line(value, 40)!r}. Lines count from 1.")
            return
        self._say("")
        self._stay()
        self._aim(lambda: self._to_line(line))

    def _to_line(self, line: int) -> bool:
        if self._file is None or (self._file.lines < line and not self._file.whole):
            return False
        if self._file.lines < line:
            self._say(f"There are {self._file.lines:,} lines; line {line:,} is past the end.")
        self._at = self._file.row_of(line)
        self._view.go_to(self._at)
        return True

    def _to_end(self) -> bool:
        self._view.go_to_end()
        return self._file is None or self._file.whole

    def _to_match_after(self, row: int) -> bool:
        """Go there as soon as it is found; tell when there is none."""
        search = self._search
        if search is None:
            return True
        found = search.matches.after(row) if row >= 0 else next(iter(search.matches.rows), None)
        return self._to_match(found, search, "after")

    def _to_match_before(self, row: int) -> bool:
        search = self._search
        return search is None or self._to_match(search.matches.before(row), search, "before")

    def _to_match(self, found: int | None, search: Search, where: str) -> bool:
        if found is None:
            if not search.running:
                self._say(f"No line {where} this one matches {search.pattern!r}.")
            return not search.running
        if self._file is None or found >= self._file.rows:
            return self._file is None  # It was found before the file had been looked at so far.
        self._at = found
        self._view.go_to(found)
        self._show_column(search.matches.spans(found))
        self._say("")
        return True

    def _show_column(self, spans: list[tuple[int, int]]) -> None:
        """Move sideways where a match is beyond the edge."""
        width = self._view.size.width
        if spans and not self._view.wraps and not self._view.left <= spans[0][0] < self._view.left + width:
            self._view.shift(max(0, spans[0][0] - width // 2) - self._view.left)

    def _aim(self, goal: Callable[[], bool]) -> None:
        """Go somewhere, now or as soon as so much is known."""
        self._follows, self._goal = False, goal
        self._try_goal()

    def _try_goal(self) -> None:
        if self._goal is not None and self._goal():
            self._goal = None

    def _stay(self) -> None:
        """The person has decided to be elsewhere."""
        self._follows, self._goal, self._at = False, None, None

    def _open(self) -> Opened:
        if self._store is not None:
            return open_artifact(self._store, self._artifact)
        return open_text(self._shown_as, self._text or "")

    @property
    def _view(self) -> PagerView:
        return self.query_one(PagerView)

    def _ask(self, what: str) -> None:
        self._asked = what
        box = self.query_one("#pager-ask", Input)
        box.display = bool(what)
        box.value = ""
        box.placeholder = {"search": "Search for (regular expression)", "line": "Line"}.get(what, "")
        self.set_focus(box if what else self._view)  # At once: the next key is for it.

    def _say(self, text: str) -> None:
        note = self.query_one("#pager-note", Static)
        note.update(text)
        note.display = bool(text)

    def _is_time(self) -> bool:
        """Whether the screen was last drawn long enough ago: what changes all the time is not drawn each time."""
        now = time.monotonic()
        if now - self._last_time < _EACH:
            return False
        self._last_time = now
        return True

    def _tell_found(self) -> None:
        search = self._search
        if self.is_attached and self._file is not None and search is not None:
            self._try_goal()
            if not search.running or self._is_time():
                self._view.redraw()

    def _tell(self) -> None:
        file, search = self._file, self._search
        if file is None or not self.is_attached:
            return
        first, last = self._view.in_sight
        known = file.rows > 0
        facts = Facts(
            first=file.line_of(first) if known else 0,
            last=file.line_of(last) if known else 0,
            lines=file.lines,
            scanned=file.scanned,
            size=file.size,
            at_end=self._view.at_end,
            follows=self._follows,
            wraps=self._view.wraps,
            column=self._view.left,
            pattern=one_line(search.pattern, 40) if search is not None else "",
            found=len(search.matches.rows) if search is not None else 0,
            searched=search.searched if search is not None else 0,
            searching=search is not None and search.running,
            enough=search is not None and search.enough,
            failed=search is not None and search.failed,
        )
        self.query_one("#pager-status", Static).update(status_line(facts))
