"""Split a script into cells at its `# %%` lines, the format that editors and jupytext share."""

import re
from typing import Final

from pisces.model.cells import Cell

# Strings and comments, so that a marker inside a triple-quoted text is not taken for one. A quote that is not closed
# (an apostrophe in a shell command) matches nothing and is passed over. So is a character after a backslash: else each
# of many `\"` would be tried as the beginning of a string, up to the end of the line.
_LEXEME: Final = re.compile(
    r"""
      (?P<long>'{3}(?:\\.|[^\\])*?'{3}|"{3}(?:\\.|[^\\])*?"{3})
    | (?P<short>'(?:\\.|[^'\\\n])*'|"(?:\\.|[^"\\\n])*")
    | (?P<comment>\#[^\n]*)
    | \\.
    """,
    re.VERBOSE | re.DOTALL,
)
_MARKER: Final = re.compile(r"#[ \t]*%%+(?:[ \t]+(?P<text>.*))?\s*")
_NOT_CODE: Final = re.compile(r"\[(?:markdown|md|raw)\]")
_METADATA: Final = re.compile(r"(?:^|\s)(?:\{|[A-Za-z][\w.-]*=\S).*$")
_CODE: Final = re.compile(r"^[ \t]*[^\s#]", re.MULTILINE)


def split_cells(source: str) -> list[Cell]:
    """The code cells of a script, in order, each with the title that follows its marker.

    What stands before the first marker is a cell without a title. Cells of text (`# %% [markdown]`, `[md]`, `[raw]`)
    and cells without a line of code are left out, so a script that has no code has no cells.
    """
    cells = []
    for header, code in _sections(source):
        if not _NOT_CODE.search(header) and _CODE.search(code):
            cells.append(Cell(code=code.strip("\n") + "\n", title=_METADATA.sub("", header).strip()))
    return cells


def _sections(source: str) -> list[tuple[str, str]]:
    """What follows each marker in its line, and the text up to the next marker."""
    sections = []
    header, begin = "", 0
    for lexeme in _LEXEME.finditer(source):
        start, end = lexeme.span()
        marker = _MARKER.fullmatch(source, start, end) if lexeme["comment"] else None
        if marker is not None and (start == 0 or source[start - 1] == "\n"):
            sections.append((header, source[begin:start]))
            header, begin = marker["text"] or "", end
    sections.append((header, source[begin:]))
    return sections
