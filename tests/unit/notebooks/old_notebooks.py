"""Small notebooks of the old formats, and how Jupyter converts them."""

import copy
import itertools
import json
from collections.abc import Callable
from typing import Any

import nbformat

from pisces.notebooks.old_formats import upgrade

Node = dict[str, Any]
PNG = "iVBORw0KGgo=\n"


def numbered() -> Callable[[], str]:
    numbers = itertools.count(1)
    return lambda: f"new-{next(numbers)}"


def upgraded(notebook: Node) -> Node:
    """The notebook in 4.5: valid, and the old one as it was."""
    before = copy.deepcopy(notebook)
    made = upgrade(notebook, ids=numbered())
    assert notebook == before
    assert (made["nbformat"], made["nbformat_minor"]) == (4, 5)
    nbformat.validate(copy.deepcopy(made), relax_add_props=False)
    return made


def whole(cells: list[Node]) -> list[Node]:
    """Cells as Jupyter has them in memory: texts in one piece. Ids are random, so they are left out."""
    notebook = {"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 5}
    read: Any = nbformat.reader.reads(json.dumps(notebook))  # type: ignore[no-untyped-call]  # it has no types
    return [{key: value for key, value in cell.items() if key != "id"} for cell in read["cells"]]


def by_jupyter(notebook: Node) -> list[Node]:
    """The cells as Jupyter converts them."""
    read = nbformat.reader.reads(json.dumps(notebook))  # type: ignore[no-untyped-call]  # it has no types
    converted: Any = nbformat.convert(read, 4)  # type: ignore[no-untyped-call]  # it has no types
    return whole(json.loads(json.dumps(converted["cells"])))


def v3(*cells: Node, **members: Any) -> Node:
    worksheets = [{"cells": list(cells), "metadata": {}}]
    return {"metadata": {"name": ""}, "nbformat": 3, "nbformat_minor": 0, "worksheets": worksheets, **members}


def code(text: Any, /, *outputs: Node, **members: Any) -> Node:
    cell = {"cell_type": "code", "collapsed": False, "input": text, "language": "python", "metadata": {}}
    return {**cell, "outputs": list(outputs), "prompt_number": 4, **members}


EVERY_KIND = v3(
    {"cell_type": "heading", "level": 2, "metadata": {}, "source": ["A title\n", "over two lines"]},
    {"cell_type": "markdown", "metadata": {"tags": ["seen"]}, "source": ["one\n", "two\n"]},
    {"cell_type": "html", "metadata": {}, "source": "<b>bold</b>"},
    {"cell_type": "raw", "metadata": {"format": "text/latex"}, "source": ["\\alpha"]},
    code([]),
    code(
        ["print(1)\n", "1 / 0"],
        {"output_type": "stream", "stream": "stderr", "text": ["careful\n", "now"]},
        {"output_type": "pyout", "prompt_number": 4, "metadata": {}, "text": ["<Figure>"], "png": PNG},
        {"output_type": "display_data", "metadata": {"png": {"width": 3}}, "png": PNG, "jpeg": "/9j/", "text": "<I>"},
        {"output_type": "display_data", "html": ["<p>\n", "x</p>"], "latex": "$x$", "javascript": ["a;\n", "b"]},
        {"output_type": "display_data", "svg": ["<svg>\n", "</svg>"], "json": ['{"a":\n', " [1, null]}"]},
        {"output_type": "display_data", "text/plain": ["a\n", "b"], "application/vnd.x+json": ["kept"]},
        {"output_type": "pyerr", "ename": "E", "evalue": "zero", "traceback": ["first", "second"]},
        collapsed=True,
    ),
)
V2: Node = {
    "metadata": {"name": ""},
    "nbformat": 2,
    "worksheets": [
        {
            "cells": [
                {"cell_type": "markdown", "source": ["# A title", "", "and text"]},
                {"cell_type": "html", "source": "<i>x</i>"},
                {
                    "cell_type": "code",
                    "collapsed": False,
                    "input": ["def f():", "    return 1", "", "f()"],
                    "language": "python",
                    "outputs": [
                        {"output_type": "pyout", "prompt_number": 2, "text": ["first", "second"]},
                        {"output_type": "display_data", "png": PNG, "text": "<Figure>"},
                        {"output_type": "stream", "stream": "stdout", "text": ["a", "b"]},
                    ],
                    "prompt_number": 2,
                },
            ]
        }
    ],
}
V1: Node = {
    "cells": [
        {"cell_type": "text", "text": "Some\nprose"},
        {"cell_type": "code", "code": "a = 1\na", "prompt_number": 3},
        {"cell_type": "code", "code": "never run"},
    ]
}
V4_0: Node = {
    "cells": [
        {"cell_type": "markdown", "metadata": {}, "source": "# one\ntwo"},
        {"cell_type": "code", "execution_count": None, "metadata": {"trusted": True}, "outputs": [], "source": []},
    ],
    "metadata": {"kernelspec": {"name": "python3", "display_name": "Python 3"}, "signature": "sha256:0"},
    "nbformat": 4,
    "nbformat_minor": 0,
}
