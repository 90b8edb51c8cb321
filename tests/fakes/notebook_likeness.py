"""The outputs of a cell without what differs from one run to the next, and between one runner and another."""

import re
from collections.abc import Iterable
from typing import Any

Output = dict[str, Any]

_ANSI = re.compile(r"\x1b\[[0-9;]*m")
_ADDRESS = re.compile(r"\b0x[0-9a-f]{6,}\b")
_TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d+Z")
_CELL_FILE = re.compile(r"<ipython-input-[^>]*>|(?:\S*/)?\d+\.py\b")
"""A cell as a file: ipykernel calls it a number with `.py`, IPython itself gives it a name in brackets."""
_CONTEXT = re.compile(r"^ +\d+\b")
"""A line around the one that failed. How many there are depends on the name of the cell's file."""
_TO_EXIT = re.compile(r"\S+: UserWarning: To exit: use .*\n  warn\(.*\n")
"""What IPython says of `sys.exit()`. We leave it out: it tells people at a prompt what to type."""
_WIDGET = "application/vnd.jupyter.widget-view+json"


def likeness(outputs: Iterable[Output], folder: str) -> list[Output]:
    """The outputs of a cell that ran in this folder, comparable with those of another run."""
    made: list[Output] = []
    for output in outputs:
        plain = _plain(output, folder)
        last = made[-1] if made else {}
        if plain["output_type"] == "stream" and not plain["text"]:
            continue
        if plain["output_type"] == last.get("output_type") == "stream" and plain["name"] == last["name"]:
            last["text"] += plain["text"]  # Where a stream is cut depends on when it was flushed.
        else:
            made.append(plain)
    return made


def _plain(output: Output, folder: str) -> Output:
    match output["output_type"]:
        case "stream":
            text = _TO_EXIT.sub("", "".join(output["text"]))
            return {**output, "text": _text(text, folder)}
        case "error":
            lines = _text("\n".join(output["traceback"]), folder).splitlines()
            traceback = [line.rstrip() for line in lines if not _CONTEXT.match(line)]
            return {**output, "evalue": _text(output["evalue"], folder), "traceback": traceback}
        case _:
            return {**output, "data": {mime: _datum(mime, output["data"][mime], folder) for mime in output["data"]}}


def _datum(mime: str, value: Any, folder: str) -> Any:
    if mime == _WIDGET:
        return {**value, "model_id": "a model"}
    if isinstance(value, list) and all(isinstance(line, str) for line in value):
        value = "".join(value)
    if mime.startswith("image/") and isinstance(value, str):
        return value.replace("\n", "")  # Base64 may be in lines.
    return _text(value, folder) if isinstance(value, str) else value


def _text(text: str, folder: str) -> str:
    text = _ANSI.sub("", text).replace(folder, "the folder")
    text = _TIME.sub("a time", _ADDRESS.sub("an address", text))
    return _CELL_FILE.sub("a cell", text)
