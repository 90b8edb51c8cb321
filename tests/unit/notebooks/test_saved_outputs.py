"""Outputs are saved as Jupyter's own writer saves them."""

import json
from typing import Any

import nbformat
import pytest

from pisces.notebooks.saved_outputs import as_saved

DATA: dict[str, Any] = {
    "text/plain": "a\nb",
    "text/html": "<p>\r\n</p>\n",
    "text/latex": "",
    "image/svg+xml": "<svg>\n</svg>",
    "application/javascript": "a;\nb;",
    "image/png": "iVBO\nRw0K\n",
    "application/pdf": "JVBE\nRi0x",
    "application/json": {"a": "x\ny", "b": ["x\n"]},
    "application/vnd.x+json": ["x\ny"],
}


def as_jupyter_saves(output: dict[str, Any]) -> Any:
    cell: dict[str, Any] = {"cell_type": "code", "execution_count": None, "metadata": {}, "source": ""}
    value = {"cells": [{**cell, "outputs": [output]}], "metadata": {}, "nbformat": 4, "nbformat_minor": 4}
    text: str = nbformat.writes(nbformat.from_dict(value))  # type: ignore[no-untyped-call]  # it has no types
    return json.loads(text)["cells"][0]["outputs"][0]


OUTPUTS: dict[str, dict[str, Any]] = {
    "stream": {"output_type": "stream", "name": "stdout", "text": "a\nb\rc\x0bd\u2028e\n\nf"},
    "display": {"output_type": "display_data", "data": DATA, "metadata": {"image/png": {"width": 3}}},
    "result": {"output_type": "execute_result", "data": DATA, "metadata": {}, "execution_count": 1},
    "error": {"output_type": "error", "ename": "E", "evalue": "a\nb", "traceback": ["x\ny", "z"]},
}


@pytest.mark.parametrize("kind", OUTPUTS)
def test_an_output_is_what_jupyter_would_have_written(kind: str) -> None:
    (saved,) = as_saved([OUTPUTS[kind]])
    assert saved == as_jupyter_saves(OUTPUTS[kind])


def test_text_in_pieces_is_cut_at_its_lines() -> None:
    (saved,) = as_saved([{"output_type": "stream", "name": "stdout", "text": ["a", "b\nc", "\n"]}])
    assert saved["text"] == ["ab\n", "c\n"]


def test_a_copy_is_made() -> None:
    output: dict[str, Any] = {"output_type": "display_data", "data": {"text/plain": "old"}, "metadata": {}}
    (saved,) = as_saved([output])
    output["data"] = {"text/plain": "new"}
    assert saved["data"] == {"text/plain": ["old"]}
