"""The editor by itself in a test: on a screen of its own, with keys and pastes for it, and no kernel."""

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

import anyio
from textual.app import App, ComposeResult
from textual.events import Paste
from textual.pilot import Pilot
from textual.widgets import Static

from pisces.tui.desk.typed import Typed
from pisces.tui.editor.code_area import Complete
from pisces.tui.editor.completion_menu import CompletionMenu
from pisces.tui.editor.editor import Editor
from pisces.tui.editor.past_inputs import PastInputs
from tests.fakes.drive import PATIENCE


class EditorApp(App[None]):
    """A history that is empty, and the editor below it."""

    CSS = "Static { height: 1fr; }"

    def __init__(self, complete: Complete | None, past: PastInputs | None) -> None:
        super().__init__()
        self._given = complete, past
        self.submitted: list[Editor.Submitted] = []
        self.escaped = 0

    def compose(self) -> ComposeResult:
        complete, past = self._given
        yield Static("nothing yet")
        yield Editor(complete=complete, past=past)

    def on_mount(self) -> None:
        self.query_one(Editor).focus()

    def on_editor_submitted(self, message: Editor.Submitted) -> None:
        self.submitted.append(message)

    def key_escape(self) -> None:
        self.escaped += 1


class Bench:
    """The editor, and hands for it."""

    def __init__(self, app: EditorApp, pilot: Pilot[None]) -> None:
        self.app = app
        self.pilot = pilot
        self.editor = app.query_one(Editor)

    @property
    def ran(self) -> list[Typed]:
        """What the editor wanted run."""
        return [message.typed for message in self.app.submitted]

    @property
    def offered(self) -> list[str]:
        """What the menu offers; nothing where there is none."""
        return [match for menu in self.app.screen.query(CompletionMenu) for match in menu.matches]

    @property
    def screen(self) -> str:
        """All that can be seen."""
        lines = self.app.screen._compositor.render_strips()
        return "\n".join("".join(segment.text for segment in line).rstrip() for line in lines)

    async def press(self, *keys: str) -> None:
        await self.pilot.press(*keys)

    async def paste(self, text: str) -> None:
        self.app.post_message(Paste(text))
        await self.pilot.pause()

    async def until(self, wanted: Callable[[], object]) -> None:
        """Wait until something is so."""
        with anyio.move_on_after(PATIENCE) as waiting:
            while not wanted():
                await self.pilot.pause(0.02)
        assert not waiting.cancelled_caught, f"never came\n{self.screen}"


@asynccontextmanager
async def bench(
    *, complete: Complete | None = None, past: PastInputs | None = None, size: tuple[int, int] = (60, 18)
) -> AsyncIterator[Bench]:
    """An editor to type into."""
    app = EditorApp(complete, past)
    async with app.run_test(size=size, notifications=True) as pilot:
        yield Bench(app, pilot)
