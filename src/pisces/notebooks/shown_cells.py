"""Cells as `read` shows them: a heading, the source, and the outputs, in brief or in full."""

from typing import Any, Final

from pisces.model.mime import JPEG, PNG
from pisces.notebooks.cell import Cell
from pisces.output import images
from pisces.output.display import interpret
from pisces.output.notice import format_size
from pisces.output.sanitize import clean

_BRIEF_LINES: Final = 5
_BRIEF_CHARACTERS: Final = 400


def shown_cell(index: int, cell: Cell, *, outputs: str) -> str:
    """A cell as text. `outputs` is `none`, `summary` or `full`."""
    if cell.flaw:
        return f"── cell {index} (invalid: {cell.flaw})"
    parts = [_heading(index, cell), clean(cell.source)]
    if outputs != "none" and cell.cell_type == "code":
        parts += [shown_output(output, full=outputs == "full") for output in cell.outputs]
    return "\n".join(parts)


def _heading(index: int, cell: Cell) -> str:
    facts: list[str] = [cell.cell_type]
    if cell.id is not None:
        facts.append(f"id {cell.id}")
    if cell.cell_type == "code":
        facts.append("not run" if cell.execution_count is None else f"run as [{cell.execution_count}]")
        count = len(cell.outputs)
        facts += [f"{count} output{'' if count == 1 else 's'}"] if count else []
    facts += [f"tagged {', '.join(sorted(cell.tags))}"] if cell.tags else []
    return f"── cell {index} ({', '.join(facts)})"


def shown_output(output: dict[str, Any], *, full: bool) -> str:
    """One output, under a line that says what it is."""
    kind = output.get("output_type")
    if kind == "stream":
        return _under(str(output.get("name", "stdout")), clean(_joined(output.get("text", ""))), full=full)
    if kind == "error":
        traceback = output.get("traceback")
        lines = [str(line) for line in traceback] if isinstance(traceback, list) else []
        text = "\n".join(lines) if full and lines else f"{output.get('ename', '')}: {output.get('evalue', '')}"
        return _under("error", clean(text), full=full)
    data = output.get("data")
    if not isinstance(data, dict):
        return f"  [{kind}]"
    return _shown_bundle(kind, data, full=full)


def _shown_bundle(kind: Any, data: dict[str, Any], *, full: bool) -> str:
    shown = interpret(data)
    name = "result" if kind == "execute_result" else "display"
    pictures = [f"[{image.mime_type} {image.width}x{image.height}]" for image in shown.images]
    others = [mime for mime in data if not mime.startswith("text/") and mime not in (PNG, JPEG)]
    text = "\n".join(part for part in (shown.text, *pictures, *(f"[{mime}]" for mime in others)) if part)
    return _under(name, text, full=full)


def pictures_of(output: dict[str, Any]) -> list[tuple[str, str]]:
    """The pictures of an output as base64, each with its type; broken ones are left out: the text says so."""
    data = output.get("data")
    if not isinstance(data, dict):
        return []
    found = []
    for mime in (PNG, JPEG):
        encoded = _joined(data.get(mime, ""))
        try:
            if encoded:
                images.inspect(images.decode(encoded))
                found.append((mime, encoded))
        except images.BrokenImage:
            continue
    return found


def _under(name: str, text: str, *, full: bool) -> str:
    lines = text.removesuffix("\n").split("\n")
    if not full:
        lines = _in_brief(lines, text)
    if len(lines) == 1:
        return f"  {name}: {lines[0]}"
    return "\n".join([f"  {name}:", *(f"    {line}" for line in lines)])


def _in_brief(lines: list[str], text: str) -> list[str]:
    """The beginning, and how much more there is."""
    kept = [line[:_BRIEF_CHARACTERS] for line in lines[:_BRIEF_LINES]]
    while len(kept) > 1 and sum(map(len, kept)) > _BRIEF_CHARACTERS:
        kept.pop()
    if kept == lines:
        return kept
    missing = len(lines) - len(kept)
    size = format_size(len(text.encode("utf-8", "replace")))
    return [*kept, f"[… {missing} more line{'' if missing == 1 else 's'}, {size} in all]"]


def _joined(value: Any) -> str:
    if isinstance(value, str):
        return value
    return "".join(line for line in value if isinstance(line, str)) if isinstance(value, list) else ""
