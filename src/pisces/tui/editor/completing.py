"""What could stand where the cursor is: asked of the kernel, offered in a menu, taken with a key.

A kernel may be slow, busy or gone. Typing never waits for it, and an answer for a text that has changed is dropped.
"""

from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Final

import anyio

from pisces.errors import PiscesError
from pisces.model.completion import Completion
from pisces.tui.editor.completion_menu import CompletionMenu
from pisces.tui.editor.pasted import fit

if TYPE_CHECKING:
    from pisces.tui.editor.code_area import CodeArea

_PATIENCE: Final = 3.0
_SAID_FOR: Final = 2.0
_MOVES: Final = {"up": -1, "shift+tab": -1, "down": 1, "tab": 1, "pageup": -6, "pagedown": 6}


class Completing:
    """Completion for one field of code."""

    def __init__(self, area: "CodeArea", complete: Callable[[str, int], Awaitable[Completion]] | None) -> None:
        self.complete = complete
        """Who is asked; nobody is where it is None."""
        self._area = area
        self._menu: CompletionMenu | None = None
        self._matches: tuple[str, ...] = ()
        self._start = 0
        self._before = ""

    @property
    def is_open(self) -> bool:
        return self._menu is not None

    def ask(self) -> None:
        """Ask the kernel, and offer what it says when that comes."""
        self.close()
        self._area.run_worker(self._ask(), group="completion", exclusive=True)

    def takes(self, key: str) -> bool:
        """Do what a key does while there is a menu; whether it did anything."""
        if self._menu is None:
            return False
        if key in _MOVES:
            self._menu.move(_MOVES[key])
        elif key == "enter":
            self._take(self._menu.chosen)
        elif key == "escape":
            self.close()
        else:
            return False
        return True

    def follow(self) -> None:
        """The text has changed, or the cursor moved: offer what still fits."""
        if self._menu is None:
            return
        text, cursor = self._area.shown, self._area.cursor_offset_in_text
        fitting = _fitting(self._matches, text[self._start : cursor]) if cursor >= self._start else []
        if not fitting or text[: self._start] != self._before:
            self.close()
        else:
            self._menu.offer(fitting)

    def close(self) -> None:
        """Offer nothing any more."""
        if self._menu is not None:
            self._menu.remove()
            self._menu = None

    async def _ask(self) -> None:
        area = self._area
        part, shift = area.completed_part()
        asked = area.shown, area.cursor_offset_in_text
        completion = await self._answer(part, asked[1] - shift)
        if asked == (area.shown, area.cursor_offset_in_text) and area.has_focus:
            self._offer(completion, shift, asked)

    async def _answer(self, part: str, cursor: int) -> Completion:
        if self.complete is not None and cursor >= 0:
            try:
                with anyio.move_on_after(_PATIENCE):
                    return await self.complete(part, cursor)
            except (PiscesError, OSError) as error:
                self._area.log(f"no completions: {error}")
        return Completion()

    def _offer(self, completion: Completion, shift: int, asked: tuple[str, int]) -> None:
        text, cursor = asked
        start, end = completion.start + shift, completion.end + shift
        matches = tuple(dict.fromkeys(fit(match) for match in completion.matches))
        if not matches or not shift <= start <= cursor <= end <= len(text):
            self._say("no completions")
            return
        common = _common(matches)
        if len(matches) == 1 or len(common) > cursor - start:
            self._replace(start, end, common)
        if len(matches) > 1:
            self._open(matches, start)

    def _open(self, matches: tuple[str, ...], start: int) -> None:
        area = self._area
        self._matches, self._start, self._before = matches, start, area.shown[:start]
        word = area.shown[start : area.cursor_offset_in_text]
        self._menu = CompletionMenu(area, word, self._take)
        self._menu.offer(_fitting(matches, word) or list(matches))
        area.screen.mount(self._menu)

    def _take(self, match: str) -> None:
        self.close()
        self._replace(self._start, self._area.cursor_offset_in_text, match)

    def _replace(self, start: int, end: int, text: str) -> None:
        area = self._area
        area.replace(text, area.place(start), area.place(end), maintain_selection_offset=False)

    def _say(self, what: str) -> None:
        area = self._area
        area.border_subtitle = what
        area.set_timer(_SAID_FOR, lambda: self._unsay(what))

    def _unsay(self, what: str) -> None:
        if self._area.border_subtitle == what:
            self._area.border_subtitle = ""


def _fitting(matches: tuple[str, ...], word: str) -> list[str]:
    """Those that go on from a word; where its capitals are others, too, if there are none else."""
    exact = [match for match in matches if match.startswith(word)]
    return exact or [match for match in matches if match.casefold().startswith(word.casefold())]


def _common(matches: tuple[str, ...]) -> str:
    """What all of them begin with."""
    first, last = min(matches), max(matches)
    same = next((at for at, pair in enumerate(zip(first, last, strict=False)) if pair[0] != pair[1]), len(first))
    return first[:same]
