"""The notebooks that are measured with, in the layout that Jupyter writes. Made anew for each run, always the same."""

import base64
import json
import random
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Literal

Kind = Literal["pictures", "lines"]
LARGE = 50_000_000
"""Bytes of a large notebook, give or take the last line."""
EDITED = 7
"""The index of the cell that is edited: one with a large output, not far from the start."""
TRIVIAL = 100

_CELLS: dict[Kind, int] = {"pictures": 40, "lines": 500}
_PICTURE_EVERY = 4
_Cell = dict[str, Any]


def write_large(path: Path, kind: Kind) -> None:
    """A notebook of 50 MB: ten pictures of 5 MB, or some million short lines."""
    _write(path, list(_large_cells(kind)))


def large_sources(kind: Kind) -> list[str]:
    """The sources of its cells, which are all code."""
    return [f"import math\nvalues_{index} = [math.sin({index} / 10)]\nshow(values_{index})" for index in _range(kind)]


def edited_source(number: int) -> str:
    """What the edit of that number writes: always another source."""
    return f"import math\nedit = {number}\nshow(edit)"


def write_trivial(path: Path, count: int = TRIVIAL) -> None:
    """A notebook of cells that do next to nothing: an assignment, a print, an expression, in turns."""
    sources = ("x = {index}", "print('x is', x)", "x * 2")
    _write(path, [_code(index, sources[index % 3].format(index=index)) for index in range(count)])


def _range(kind: Kind) -> range:
    return range(_CELLS[kind])


def _large_cells(kind: Kind) -> Iterator[_Cell]:
    make: dict[Kind, Callable[[int], list[_Cell]]] = {"pictures": _picture, "lines": _lines}
    for index, source in enumerate(large_sources(kind)):
        yield _code(index, source, make[kind](index))


def _picture(index: int) -> list[_Cell]:
    """Every fourth cell shows one. What is in it is noise, as what is compressed looks like."""
    if index % _PICTURE_EVERY != EDITED % _PICTURE_EVERY:
        return []
    encoded = LARGE * _PICTURE_EVERY // _CELLS["pictures"]
    data = base64.b64encode(random.Random(index).randbytes(encoded // 4 * 3)).decode("ascii")
    shown = {"image/png": data, "text/plain": ["<Figure size 640x480 with 1 Axes>"]}
    return [{"data": shown, "metadata": {}, "output_type": "display_data"}]


def _lines(index: int) -> list[_Cell]:
    line = "epoch {:5d}  loss 0.{:06d}\n"
    in_file = len(line.format(0, 0)) + len(" " * 6 + '"\\n",')  # With its place in the layout, the escape and quotes.
    count = LARGE // _CELLS["lines"] // in_file
    text = [line.format(number, (number * 7919 + index) % 1_000_000) for number in range(count)]
    return [{"name": "stdout", "output_type": "stream", "text": text}]


def _code(index: int, source: str, outputs: list[_Cell] | None = None) -> _Cell:
    return {
        "cell_type": "code",
        "execution_count": index + 1 if outputs is not None else None,
        "id": f"cell-{index}",
        "metadata": {},
        "outputs": outputs or [],
        "source": source.splitlines(keepends=True),
    }


def _write(path: Path, cells: list[_Cell]) -> None:
    kernel = {"display_name": "Python 3", "language": "python", "name": "python3"}
    notebook = {"cells": cells, "metadata": {"kernelspec": kernel}, "nbformat": 4, "nbformat_minor": 5}
    with path.open("w", encoding="utf-8") as file:
        json.dump(notebook, file, ensure_ascii=False, indent=1, sort_keys=True)
        file.write("\n")
