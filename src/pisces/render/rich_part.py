"""Output that has rows of its own already: markdown, trees, pictures, and what cannot be shown."""

from collections.abc import Iterable, Iterator, Sequence
from typing import ClassVar, Final

from rich.console import Console, ConsoleOptions, RenderResult
from rich.markdown import Heading
from rich.markdown import Markdown as RichMarkdown
from rich.segment import Segment
from rich.theme import Theme

from pisces.render.look import Look
from pisces.render.palette import DIM
from pisces.render.rows import Row, fold
from pisces.render.shown_text import clean_line

MOST_LAID_OUT: Final = 10_000
"""Characters of markdown that are laid out, which takes about 0.1 s; what is longer is shown as it is written."""

_THEME: Final = Theme({"markdown.code": "bold cyan", "markdown.code_block": "cyan"})
"""Rich's own is on black, which is a blot on light screens."""


class RowsPart:
    """An output in rows, each of them a line."""

    def __init__(self, rows: Sequence[Row]) -> None:
        self._rows = rows
        self.count = len(rows)

    def first(self, most: int) -> Iterator[list[Row]]:
        """The first lines."""
        return ([row] for row in self._rows[:most])

    def last(self, most: int) -> Iterator[list[Row]]:
        """The last lines, from the last one up."""
        return ([row] for row in reversed(self._rows[-most:]))


class PicturePart:
    """A picture: nobody wants the half of it."""

    count = 0

    def __init__(self, rows: Sequence[Row]) -> None:
        self._rows = list(rows)

    def first(self, most: int) -> Iterator[list[Row]]:
        """All of it."""
        return iter([self._rows])

    def last(self, most: int) -> Iterator[list[Row]]:
        """All of it."""
        return iter([self._rows])


def remark_rows(text: str, width: int) -> list[Row]:
    """A remark of ours about an output."""
    lines = (clean_line(line, coloured=False) for line in text.split("\n"))
    return [row for line in lines for row in fold([Segment(line, DIM)], width)]


def markdown_rows(text: str, look: Look, width: int) -> list[Row]:
    """Markdown, laid out. What is too long to lay out is shown as it is written."""
    lines = [clean_line(line, coloured=False) for line in text.split("\n")]
    if len(text) > MOST_LAID_OUT:
        return [row for line in lines for row in fold([Segment(line)], width)]
    console = Console(
        width=width, color_system="truecolor", legacy_windows=False, highlight=False, emoji=False, theme=_THEME
    )
    made = markdown("\n".join(lines), theme="ansi_dark" if look.dark else "ansi_light")
    rows = console.render_lines(made, console.options.update(width=width), pad=False)
    shown = [row for line in rows for row in fold(_trimmed(line), width)]
    said = [number for number, row in enumerate(shown) if row]
    return shown[said[0] : said[-1] + 1] if said else []


def _trimmed(line: Iterable[Segment]) -> list[Segment]:
    """Without the spaces that fill a row up, unless they have a colour."""
    pieces = [piece for piece in line if not piece.control]
    while pieces and (pieces[-1].style is None or pieces[-1].style.bgcolor is None):
        last = pieces.pop()
        if text := last.text.rstrip():
            return [*pieces, Segment(text, last.style)]
    return pieces


class _Heading(Heading):
    """A heading at the left: in the middle it is far from the text that it is for."""

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        self.text.justify = "left"
        yield self.text


class _Markdown(RichMarkdown):
    elements: ClassVar = {**RichMarkdown.elements, "heading_open": _Heading}


def markdown(text: str, *, theme: str) -> RichMarkdown:
    """Markdown with the HTML in it as text: it would be left out otherwise, and often it is all there is."""
    from markdown_it import MarkdownIt

    made = _Markdown("", code_theme=theme, hyperlinks=False)
    made.markup = text
    made.parsed = MarkdownIt("commonmark", {"html": False}).enable(["strikethrough", "table"]).parse(text)
    return made
