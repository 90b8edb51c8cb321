"""Going back through what was typed before, and forth again, with the draft at the end of the way."""

from collections.abc import Callable, Sequence


class Recall:
    """Where one is on the way. What was changed underway is still there when one comes by again."""

    def __init__(self, inputs: Callable[[], Sequence[str]]) -> None:
        self._inputs = inputs
        self._texts: list[str] = []
        self._at = 0

    def earlier(self, text: str) -> str | None:
        """What was typed before `text`, which is in the editor now; None at the end of the way."""
        if not self._texts:
            self._texts = [text, *(each for each in self._inputs() if each != text)]
        return self._go(1, text)

    def later(self, text: str) -> str | None:
        """The way back, down to the draft."""
        return self._go(-1, text)

    def end(self) -> None:
        """What is in the editor is a new draft."""
        self._texts, self._at = [], 0

    def _go(self, step: int, text: str) -> str | None:
        there = self._at + step
        if not 0 <= there < len(self._texts):
            return None
        self._texts[self._at] = text
        self._at = there
        return self._texts[there]
