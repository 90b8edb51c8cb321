"""A notebook on the terminal: cell by cell, as far as somebody reads it."""

import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Final

import click
import msgspec

from pisces.cli.blocking_output import BlockingOutput
from pisces.cli.json_text import json_line
from pisces.cli.main import OUTPUT_CLOSED
from pisces.cli.notebook_cells import some_cells
from pisces.model.notebooks import NotebookDetails
from pisces.notebooks.readable import Readable, cell_info, read_notebook
from pisces.render.blocks import Block, blocks_of, language_of
from pisces.render.plain import PlainPainter
from pisces.render.screen import Pictures, Screen

_MOST_LINES: Final = 20
_Paint = Callable[[list[Block]], None]


class Look(msgspec.Struct, frozen=True, kw_only=True):
    """How a notebook is to be shown."""

    outputs: bool = True
    full: bool = False
    plain: bool = False
    as_json: bool = False
    pictures: Pictures | None = None


def show_notebook(path: str, wanted: str | None, look: Look) -> int:
    """Show cells, and return the exit code. Raises `NotebookError` and `FileError`."""
    seen, _ = read_notebook(Path(path), path)
    places = some_cells(seen.cells, wanted, path)
    output = BlockingOutput()
    if look.as_json:
        output.write(_as_json(seen, places, look))
    else:
        _show(seen, places, look, output)
    if output.failure is not None:
        raise output.failure
    if output.closed:
        return OUTPUT_CLOSED
    for remark in () if look.as_json else _remarks(seen):
        click.echo(remark, err=True)
    return 0


def _show(seen: Readable, places: range, look: Look, output: BlockingOutput) -> None:
    screen = Screen() if look.plain else Screen.of(sys.stdout.fileno(), os.environ, pictures=look.pictures)
    most_lines = None if look.full else _MOST_LINES
    paint = _styled(output, screen, most_lines) if screen.styled else _plain(output, most_lines)
    language = language_of(seen.metadata)
    for place in places:
        paint(list(blocks_of(place, seen.cells[place], language=language, outputs=look.outputs)))
        output.write("\n" if place != places[-1] else "")
        if output.closed:
            return


def _styled(output: BlockingOutput, screen: Screen, most_lines: int | None) -> _Paint:
    from pisces.cli.live_screen import Signs
    from pisces.render.rows import with_ascii_signs
    from pisces.render.styled import StyledPainter

    if not Signs.of(sys.stdout.encoding or "utf-8", coloured=screen.coloured).is_ascii:
        return StyledPainter(output.write, screen, most_lines=most_lines).paint

    def write(text: str) -> None:
        output.write(with_ascii_signs(text))

    screen = msgspec.structs.replace(screen, pictures="none" if screen.pictures == "blocks" else screen.pictures)
    return StyledPainter(write, screen, most_lines=most_lines).paint


def _plain(output: BlockingOutput, most_lines: int | None) -> _Paint:
    painter = PlainPainter(most_lines=most_lines)

    def paint(blocks: list[Block]) -> None:
        for text in painter.paint(blocks):
            output.write(text)

    return paint


def _remarks(seen: Readable) -> list[str]:
    remarks = [] if seen.cells else [f"{seen.path} has no cells."]
    return [*remarks, seen.read_only] if seen.read_only else remarks


def _as_json(seen: Readable, places: range, look: Look) -> str:
    details = NotebookDetails(
        action="read",
        notebook_path=seen.path,
        total_cells=len(seen.cells),
        cells=[cell_info(place, seen.cells[place], outputs=look.outputs) for place in places],
    )
    return json_line(details)
