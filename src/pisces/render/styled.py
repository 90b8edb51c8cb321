"""Cells for a terminal: code in colours, markdown and tables laid out, pictures where it can show them."""

import io
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Final

from rich.cells import cell_len
from rich.console import Console
from rich.markdown import Markdown as RichMarkdown
from rich.padding import Padding
from rich.syntax import Syntax
from rich.text import Text

from pisces.output.images import BrokenImage
from pisces.render.blocks import Block, Code, Formatted, Heading, Image, Markdown, Remark, Tree, Words
from pisces.render.half_blocks import ROWS_COLLAPSED, ROWS_EXPANDED, half_blocks
from pisces.render.pictures import drawn
from pisces.render.plain import INDENT, heading
from pisces.render.rich_part import markdown
from pisces.render.rows import Rows
from pisces.render.screen import Screen
from pisces.render.shown_text import shown as shown_line
from pisces.render.terminal_text import cut, with_colours
from pisces.render.traceback_heading import narrowed

if TYPE_CHECKING:
    from rich.console import RenderableType

_THEME: Final = "ansi_dark"
"""Colours of the terminal's own palette: its user has chosen ones that can be read."""
_STYLES: Final = {"stdout": "", "stderr": "red", "error": "", "text": ""}


class StyledPainter:
    """Paints blocks with escape sequences. It loads a library that takes a while: import it only to use it."""

    def __init__(self, write: Callable[[str], object], screen: Screen, *, most_lines: int | None) -> None:
        """Of outputs with more lines, so many are shown; None for all."""
        self._write = write
        self._screen = screen
        self._most = most_lines
        self._console = Console(
            file=io.StringIO(),
            width=screen.width,
            force_terminal=True,
            no_color=not screen.coloured,
            highlight=False,
            markup=False,
            emoji=False,
            legacy_windows=False,
        )

    def paint(self, blocks: Iterable[Block]) -> None:
        """Write the blocks, one after the other."""
        for block in blocks:
            match block:
                case Heading():
                    self._print(self._rule(block))
                case Code():
                    if block.text:
                        self._print(self._code(_harmless(block.text), block.language), soft_wrap=True)
                case Markdown():
                    if block.text:
                        self._print(_markdown(block.text))
                case Image():
                    self._image(block)
                case _:
                    self._output(block)

    def _print(self, shown: "RenderableType", *, soft_wrap: bool = False) -> None:
        with self._console.capture() as made:
            self._console.print(shown, soft_wrap=soft_wrap)
        self._write(made.get())

    def _output(self, block: Words | Formatted | Tree | Remark) -> None:
        match block:
            case Words():
                lines = cut(with_colours(block.text), self._most, at_end=block.kind == "error")
                rows = list(map(shown_line, lines.shown))
                if block.kind == "error":
                    rows = [narrowed(line, self._screen.width - len(INDENT)) for line in rows]
                shown = Text.from_ansi("\n".join(rows), style=_STYLES[block.kind], overflow="fold")
                self._indented(shown, lines.note, note_first=lines.at_end)
            case Formatted():
                if not block.fits(self._screen.width - len(INDENT)):
                    self._output(Words(block.unformatted))
                    return
                lines = cut(block.text, self._most)
                self._indented(_markdown("\n".join(lines.shown)), lines.note)
            case Tree():
                lines = cut(block.text, self._most)
                self._indented(self._code("\n".join(map(shown_line, lines.shown)), "json"), lines.note)
            case Remark():
                self._indented(Text(_harmless(block.text), style="dim"))

    def _indented(self, shown: "RenderableType", note: str = "", *, note_first: bool = False) -> None:
        parts: list[RenderableType] = [shown, Text(note, style="dim")] if note else [shown]
        for part in reversed(parts) if note_first else parts:
            self._print(Padding(part, (0, 0, 0, len(INDENT)), expand=False))

    def _image(self, image: Image) -> None:
        if self._screen.pictures == "blocks":
            self._blocks(image)
            return
        sequences = drawn(image, self._screen, indent=len(INDENT))
        if sequences is None:
            self._indented(Text(image.name, style="dim"))
        else:
            self._write(f"{INDENT}{sequences}\n")

    def _blocks(self, image: Image) -> None:
        rows = ROWS_COLLAPSED if self._most is not None else ROWS_EXPANDED
        try:
            made = half_blocks(image, max(1, self._screen.width - len(INDENT)), rows)
        except BrokenImage as error:
            self._indented(Text(f"{image.name[:-1]} cannot be shown: {error}]", style="dim"))
            return
        self._indented(Rows(made))

    def _rule(self, block: Heading) -> Text:
        text = Text("── ", style="dim").append(shown_line(heading(block)), style="not dim bold").append(" ")
        return text.append("─" * (self._screen.width - cell_len(text.plain)), style="dim")

    def _code(self, text: str, language: str) -> Text:
        made = Syntax(text, language or "text", theme=_THEME, background_color="default").highlight(text)
        made.rstrip()
        return made


def _markdown(text: str) -> RichMarkdown:
    return markdown(_harmless(text), theme=_THEME)


def _harmless(text: str) -> str:
    """Text in which nothing turns a line around or piles up over it."""
    return "\n".join(map(shown_line, text.split("\n")))
