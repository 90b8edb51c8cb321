"""Source in colours, line by line. Lexers are made once: that takes longer than to use one."""

from collections.abc import Sequence
from functools import lru_cache
from typing import Any, Final

from rich.segment import Segment
from rich.style import Style
from rich.syntax import Syntax

from pisces.render.shown_text import clean_line

_NAMES: Final = {"py": "python", "ipython": "python", "sh": "bash"}
MOST_COLOURED: Final = 15_000
"""Characters of a source that get colours, which takes about 0.1 s; what is longer is shown without."""
_LONGEST_LINE: Final = 100_000


def code_lines(text: str, language: str, *, dark: bool = True, coloured: bool = True) -> list[list[Segment]]:
    """The lines of a source, in pieces with their styles; whatever the language, the text is all there."""
    lines = [clean_line(line, coloured=False, most=_LONGEST_LINE) for line in text.removesuffix("\n").split("\n")]
    lexer = _lexer(language) if coloured else None
    cleaned = "\n".join(lines)
    if lexer is None or len(cleaned) > MOST_COLOURED:
        return [[Segment(line)] for line in lines]
    made: list[list[Segment]] = [[]]
    for kind, value in lexer.get_tokens(cleaned):
        style = _style(kind, dark)
        first, *others = value.split("\n")
        if first:
            made[-1].append(Segment(first, style))
        made.extend([Segment(other, style)] if other else [] for other in others)
    return _as_many(made, lines)


def _as_many(made: list[list[Segment]], lines: Sequence[str]) -> list[list[Segment]]:
    """A lexer adds a newline at the end, and some leave lines out: then the source counts, without colours."""
    if len(made) > len(lines) and not made[-1]:
        made.pop()
    whole = len(made) == len(lines) and all(
        sum(len(piece.text) for piece in row) == len(line) for row, line in zip(made, lines, strict=True)
    )
    return made if whole else [[Segment(line)] for line in lines]


@lru_cache(maxsize=32)
def _lexer(language: str) -> Any:
    """The lexer of a language; None where nobody knows it."""
    name = language.lower()
    return Syntax("", _NAMES.get(name, name)).lexer


@lru_cache(maxsize=512)
def _style(kind: Any, dark: bool) -> Style | None:
    if str(kind) == "Token.Error":  # What a lexer does not know is no mistake: `!` and `%` of IPython are among it.
        return None
    return Syntax.get_theme("ansi_dark" if dark else "ansi_light").get_style_for_token(kind) or None
