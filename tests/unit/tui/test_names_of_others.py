"""Names that others gave, in lists, questions and at the head of the screen: no line is turned around by one."""

from pathlib import Path

import pytest
from textual.app import App

from pisces.render.view import Notice
from pisces.tui.desk.desk import Desk
from pisces.tui.dialogs.confirm import Confirm
from pisces.tui.dialogs.pick import Choice, Pick
from pisces.tui.options import UiOptions
from pisces.tui.panels.filter_list import FilterList
from pisces.tui.panels.status import StateBar, StatusBar

TURNED = "safe\u202egnp.exe\x1b[2J\u0301\u0301\u0301\u0301\u0301\u0301"
SHOWN = "safe\\u202egnp.exe"


def _text(app: App[None]) -> str:
    lines = app.screen._compositor.render_strips()
    return "\n".join("".join(segment.text for segment in line) for line in lines)


def _is_harmless(text: str) -> bool:
    return SHOWN in text and "\u202e" not in text and "\x1b" not in text and "\u0301" * 5 not in text


async def test_in_lists_and_questions() -> None:
    app: App[None] = App()
    async with app.run_test() as pilot:
        for question in (Confirm(f"Close {TURNED}?"), Pick("Which?", [Choice("1", TURNED, f"at {TURNED}")])):
            app.push_screen(question)
            await pilot.pause()
            assert _is_harmless(_text(app))
            app.pop_screen()
        panel = FilterList("Names", id="names", empty="none")
        await app.mount(panel)
        panel.fill([("1", f"  {TURNED}", TURNED)])
        await pilot.pause()
        assert _is_harmless(_text(app))
        assert f"  {SHOWN}" in _text(app)


async def test_at_the_head_of_the_screen(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PISCES_HOME", str(tmp_path))
    desk = Desk(UiOptions(cwd=f"/{TURNED}"))
    desk.session = TURNED
    app: App[None] = App()
    async with app.run_test(size=(200, 20)) as pilot:
        status, state = StatusBar(desk), StateBar()
        await app.mount(status, state)
        status.tick()
        await pilot.pause()
        assert _is_harmless(_text(app))
        status.display = False
        state.tell(Notice("lost", TURNED))
        await pilot.pause()
        assert _is_harmless(_text(app))
