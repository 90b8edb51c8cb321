"""Outputs as Jupyter saves them: text that may have several lines is a list of them."""

from collections.abc import Iterable
from typing import Any, Final

from pisces.journal.notebook_outputs import NotebookOutput

_SPLIT_TOO: Final = frozenset({"application/javascript", "image/svg+xml"})
"""What is split into lines besides the types that begin with `text/`."""


def as_saved(outputs: Iterable[NotebookOutput]) -> list[NotebookOutput]:
    """A copy of the outputs for a file; what is given may go on changing."""
    return [_saved(output) for output in outputs]


def _saved(output: NotebookOutput) -> NotebookOutput:
    saved = dict(output)
    if output["output_type"] == "stream":
        text = output["text"]
        saved["text"] = (text if isinstance(text, str) else "".join(text)).splitlines(keepends=True)
    elif "data" in output:
        saved["data"] = {mime: _lines(mime, value) for mime, value in output["data"].items()}
    return saved


def _lines(mime: str, value: Any) -> Any:
    if isinstance(value, str) and (mime.startswith("text/") or mime in _SPLIT_TOO):
        return value.splitlines(keepends=True)
    return value
