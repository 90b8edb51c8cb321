"""Texts that are too long to be edited by hand: a mark stands for each, and the text comes back when it is wanted.

A field of code wraps, colours and draws what changes at each key. With a line of a million characters that takes
seconds, and nobody edits one.
"""

import re
from typing import Final

LONGEST: Final = 100_000
"""Characters up to which a text is put in as it is."""
LONGEST_LINE: Final = 2_000
"""Characters of a line, each row of which is drawn from all of it: with 10,000 a key takes 200 ms, with these 40."""


class Folding:
    """Which mark stands for which text."""

    def __init__(self) -> None:
        self._texts: dict[str, str] = {}

    def folded(self, text: str) -> str:
        """The text; where it is too long, a mark that stands for it from now on, or marks for its long lines."""
        if len(text) <= LONGEST_LINE:
            return text
        if len(text) > LONGEST:
            return self._marked(text)
        return "\n".join(self._marked(line) if len(line) > LONGEST_LINE else line for line in text.split("\n"))

    def unfolded(self, text: str) -> str:
        """The text with what its marks stand for."""
        if not self._texts:
            return text
        marks = "|".join(map(re.escape, self._texts))
        return re.sub(marks, lambda found: self._texts[found[0]], text)

    def forget(self) -> None:
        """Nothing stands for anything any more."""
        self._texts.clear()

    def _marked(self, text: str) -> str:
        """White space that it begins with stays in sight: it tells to which block the rest belongs."""
        rest = text.lstrip(" \t")
        lines = rest.count("\n") + 1
        mark = f"<text {len(self._texts) + 1}: {len(rest):,} characters, {lines:,} line{'' if lines == 1 else 's'}>"
        self._texts[mark] = rest
        return text.removesuffix(rest) + mark
