"""What there is to see of a cell, block by block: its heading, its source, and of each output what shows most."""

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final, Literal

import msgspec

from pisces.errors import BadCell
from pisces.model.mime import JPEG, JSON, PNG, TEXT_HTML, TEXT_MARKDOWN, TEXT_PLAIN
from pisces.notebooks.cell import Cell
from pisces.output import images
from pisces.output.html import to_markdown
from pisces.output.sanitize import clean

WordsKind = Literal["stdout", "stderr", "error", "text"]
_USUAL_LANGUAGE: Final = "python"


class Heading(msgspec.Struct, frozen=True):
    """What a cell is."""

    index: int
    facts: tuple[str, ...]


class Code(msgspec.Struct, frozen=True):
    """The source of a cell that is code, or raw: then there is no language."""

    text: str
    language: str = ""


class Markdown(msgspec.Struct, frozen=True):
    """The source of a cell that is markdown."""

    text: str


class Words(msgspec.Struct, frozen=True):
    """An output that is text. It may have colours in it, and anything else: nothing has been taken out yet."""

    text: str
    kind: WordsKind = "text"


class Formatted(msgspec.Struct, frozen=True):
    """An output that is markdown."""

    text: str
    plain: str = ""
    """The same as its maker would write it, in fewer columns; empty where there is no such text."""

    @property
    def unformatted(self) -> str:
        """What to show where the tables in it cannot be laid out."""
        return self.plain or self.text

    def fits(self, width: int) -> bool:
        """Whether the tables in it can be read in so many columns."""
        return all(len(line) <= width for line in self.text.split("\n") if line.startswith("|"))


class Tree(msgspec.Struct, frozen=True):
    """An output that is JSON."""

    value: Any

    @property
    def text(self) -> str:
        """The value laid out, all of it."""
        try:
            return clean(json.dumps(self.value, ensure_ascii=False, indent=2, default=str))
        except (RecursionError, ValueError, TypeError) as error:
            return f"[JSON that cannot be written: {error}]"


class Image(msgspec.Struct, frozen=True):
    """An output that is a picture, whole as far as its header tells."""

    mime_type: str
    data: str
    """Base64, checked and without white space."""
    width: int
    height: int

    @property
    def name(self) -> str:
        """What stands in its place where it cannot be shown."""
        return f"[{self.mime_type} {self.width}x{self.height}]"


class Remark(msgspec.Struct, frozen=True):
    """Something to know of an output that cannot be shown."""

    text: str


Block = Heading | Code | Markdown | Words | Formatted | Tree | Image | Remark


def language_of(metadata: Any) -> str:
    """The language of a notebook with this metadata."""
    metadata = metadata if isinstance(metadata, dict) else {}
    for key, name in (("language_info", "name"), ("kernelspec", "language")):
        found = metadata.get(key)
        if isinstance(found, dict) and isinstance(found.get(name), str) and found[name]:
            language: str = found[name].lower()
            return _USUAL_LANGUAGE if language == "ipython" else language
    return _USUAL_LANGUAGE


def blocks_of(index: int, cell: Cell, *, language: str, outputs: bool) -> Iterator[Block]:
    """The blocks of a cell, in order; one of a type that is not known is shown as it is, and what is none is named."""
    try:
        kind, source = clean(str(cell.get("cell_type"))), clean(cell.source)
    except BadCell as error:
        yield Heading(index, ("invalid",))
        yield Remark(f"[{clean(str(error))}]")
        return
    yield Heading(index, tuple(_facts(cell, kind)))
    yield Markdown(source) if kind == "markdown" else Code(source, language if kind == "code" else "")
    if outputs and kind == "code":
        for output in cell.outputs:
            yield from blocks_of_output(output)


def blocks_of_output(output: Mapping[str, Any]) -> Iterator[Block]:
    """The blocks of one output."""
    kind, data = output.get("output_type"), output.get("data")
    if kind == "stream":
        yield Words(_joined(output.get("text")) or "", "stderr" if output.get("name") == "stderr" else "stdout")
    elif kind == "error":
        yield Words(_traceback(output), "error")
    elif isinstance(data, dict):
        yield from _bundle(data)
    else:
        yield Remark(f"[{clean(str(kind))}]")


def _facts(cell: Cell, kind: str) -> Iterator[str]:
    yield kind
    if kind == "code":
        yield f"[{'' if cell.execution_count is None else cell.execution_count}]"
    if cell.id is not None:
        yield f"id {clean(cell.id)}"
    if cell.tags:
        yield f"tagged {clean(', '.join(sorted(cell.tags)))}"


def _traceback(output: Mapping[str, Any]) -> str:
    lines = output.get("traceback")
    if isinstance(lines, list) and lines:
        return "\n".join(str(line) for line in lines)
    return f"{output.get('ename', '')}: {output.get('evalue', '')}"


def _bundle(data: Mapping[str, Any]) -> Iterator[Block]:
    """A display as a notebook would show it: one form of it, the richest that can be had here."""
    found: list[Block] = list(_pictures(data))
    if not any(isinstance(block, Image) for block in found):
        text = _text(data)
        found += [text] if text is not None else []
    yield from found or [Remark(f"[{clean(mime)}]") for mime in data]


def _pictures(data: Mapping[str, Any]) -> Iterator[Image | Remark]:
    for mime in (PNG, JPEG):
        if mime not in data:
            continue
        try:
            encoded = "".join((_joined(data[mime]) or "").split())
            info = images.inspect(images.decode(encoded))
            yield Image(info.mime_type, encoded, info.width, info.height)
        except images.BrokenImage as error:
            yield Remark(f"[{mime} cannot be shown: {error}]")


def _text(data: Mapping[str, Any]) -> Block | None:
    if JSON in data:
        return Tree(data[JSON])
    plain, html = _joined(data.get(TEXT_PLAIN)), _joined(data.get(TEXT_HTML))
    if (markdown := _joined(data.get(TEXT_MARKDOWN))) is not None:
        return Formatted(clean(markdown))
    if html is not None and (plain is None or "<table" in html):
        converted = to_markdown(clean(html))
        if converted or plain is None:
            # A line of its own is no table: as a rule it is the name of an object.
            return Formatted(converted, clean(plain) if plain is not None and "\n" in plain else "")
    return None if plain is None else Words(plain)


def _joined(value: Any) -> str | None:
    """A text, which may be a list of lines; None where it is neither."""
    if isinstance(value, str):
        return value
    is_lines = isinstance(value, Sequence) and all(isinstance(line, str) for line in value)
    return "".join(value) if is_lines else None
