"""The terminal UI in a test: the real app without a terminal, driven by keys, with a host and a kernel of its own."""

import os
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path

import anyio
from textual.pilot import Pilot

from pisces.tui.app import PiscesApp
from pisces.tui.options import UiOptions
from tests.fakes.drive import PATIENCE


class Screen:
    """What is on it, and keys for it."""

    def __init__(self, app: PiscesApp, pilot: Pilot[int]) -> None:
        self.app = app
        self.pilot = pilot

    @property
    def text(self) -> str:
        """All that can be seen, line by line."""
        lines = self.app.screen._compositor.render_strips()
        return "\n".join("".join(segment.text for segment in line).rstrip() for line in lines)

    async def type(self, text: str) -> None:
        """Put text into whatever has the focus, as a terminal does when it is pasted."""
        from textual.events import Paste

        self.app.post_message(Paste(text))
        await self.pilot.pause()

    async def run(self, code: str) -> None:
        """Type code, and run it; F5 does, also in a block that could go on."""
        await self.type(code)
        await self.pilot.press("f5")

    async def until(self, wanted: str | Callable[[], object]) -> None:
        """Wait until a text is on the screen, or something is so."""
        with anyio.move_on_after(PATIENCE) as waiting:
            while not (wanted in self.text if isinstance(wanted, str) else wanted()):
                await self.pilot.pause(0.02)
        assert not waiting.cancelled_caught, f"never came: {wanted}\n{self.text}"


@asynccontextmanager
async def screen(
    folder: Path, *, size: tuple[int, int] = (100, 30), session: str | None = None, notebook: str | None = None
) -> AsyncIterator[Screen]:
    """The app as it comes up in a folder. Whoever uses it ends the host: see the fixture `ui_home`."""
    app = PiscesApp(UiOptions(cwd=os.fspath(folder), session=session, notebook=notebook))
    async with app.run_test(size=size, notifications=True) as pilot:
        yield Screen(app, pilot)
