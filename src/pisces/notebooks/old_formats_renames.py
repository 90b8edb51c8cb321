"""Cells of nbformat 1, 2 and 3 with the names that nbformat 4 has for the same things.

Nothing is thrown away here: what nbformat 4 has no name for keeps its old one, and is dealt with afterwards.
"""

import json
from typing import Any, Final

Node = dict[str, Any]

MIME_TYPES: Final = {
    "text": "text/plain",
    "html": "text/html",
    "svg": "image/svg+xml",
    "png": "image/png",
    "jpeg": "image/jpeg",
    "latex": "text/latex",
    "json": "application/json",
    "javascript": "application/javascript",
    "pdf": "application/pdf",
}
"""What the short names of nbformat 3 mean. Jupyter's own conversion forgets the last."""

_MULTILINE: Final = ("text", "html", "svg", "latex", "javascript", "json")
_BESIDE_DATA: Final = frozenset({"output_type", "metadata", "execution_count", "prompt_number"})
_DEEPEST_HEADING: Final = 6
"""Markdown has no deeper one: a seventh `#` makes it plain text."""


def rename_cell(cell: Node, major: int) -> Node:
    """The cell as nbformat 4 would call it, changed in place. One of nbformat 4 stays as it is."""
    if major >= 4:
        return cell
    cell.pop("trusted", None)
    kind = cell.get("cell_type")
    if major == 1:
        _rename(cell, "code" if kind == "code" else "text", "source")
    if kind == "code":
        _rename_code(cell)
    _join(cell, ("source",))
    match kind:
        case "heading":
            _make_heading(cell)
        case "html" | "text":
            cell["cell_type"] = "markdown"
    return cell


def _rename(node: Node, old: str, new: str) -> None:
    """Call a member by its new name. What had that name already is kept under the old one."""
    if old not in node:
        return
    value = node.pop(old)
    if new in node:
        node[old] = node[new]
    node[new] = value


def _rename_code(cell: Node) -> None:
    _rename(cell, "input", "source")
    _rename(cell, "prompt_number", "execution_count")
    if cell.get("language") == "python":
        del cell["language"]
    metadata = cell.setdefault("metadata", {})
    if "collapsed" in cell and isinstance(metadata, dict):
        metadata["collapsed"] = cell.pop("collapsed")
    outputs = cell.get("outputs")
    if isinstance(outputs, list):
        for output in outputs:
            if isinstance(output, dict):
                _rename_output(output)


def _make_heading(cell: Node) -> None:
    cell["cell_type"] = "markdown"
    level = cell.get("level", 1)
    if isinstance(level, bool) or not isinstance(level, int):
        level = 1
    elif 1 <= level <= _DEEPEST_HEADING:
        cell.pop("level", None)
    source = cell.get("source", "")
    if isinstance(source, str):
        cell["source"] = "#" * min(max(level, 1), _DEEPEST_HEADING) + " " + " ".join(source.splitlines())


def _rename_output(output: Node) -> None:
    _join(output, _MULTILINE)
    match output.get("output_type"):
        case "pyout":
            output["output_type"] = "execute_result"
            _rename(output, "prompt_number", "execution_count")
            _gather_data(output)
        case "display_data":
            _gather_data(output)
        case "pyerr":
            output["output_type"] = "error"
            if "ename" not in output:
                _rename(output, "etype", "ename")
        case "stream":
            _rename(output, "stream", "name")


def _gather_data(output: Node) -> None:
    data = {key: output.pop(key) for key in list(output) if "/" in key}
    for alias, mime in MIME_TYPES.items():
        if alias in output:
            _rename_across(output, alias, data, mime)
    _parse_json(output, data)
    output["data"] = data
    metadata = output.get("metadata")
    if isinstance(metadata, dict):
        for alias, mime in MIME_TYPES.items():
            _rename(metadata, alias, mime)


def _rename_across(output: Node, alias: str, data: Node, mime: str) -> None:
    value = output.pop(alias)
    if mime in data:
        output[alias] = data[mime]
    data[mime] = value


def _parse_json(output: Node, data: Node) -> None:
    """JSON was text and is a value now. Text that is no JSON stays where it was."""
    text = data.get("application/json")
    if isinstance(text, list) and all(isinstance(line, str) for line in text):
        text = "".join(text)
    if not isinstance(text, str):
        return
    try:
        data["application/json"] = json.loads(text, parse_constant=_refuse)
    except (ValueError, RecursionError):
        output["application/json"] = data.pop("application/json")


def _refuse(constant: str) -> Any:
    raise ValueError(f"{constant} is no JSON")


def _join(node: Node, keys: tuple[str, ...]) -> None:
    for key in keys:
        lines = node.get(key)
        if isinstance(lines, list) and all(isinstance(line, str) for line in lines):
            node[key] = _joined(lines)


def _joined(lines: list[str]) -> str:
    """The text of some lines. Writers of nbformat 2 cut the ends off the lines; of 3, some did and some did not."""
    has_ends = bool(lines) and lines[0].endswith(("\n", "\r"))
    return "".join(lines) if has_ends else "\n".join(lines)
