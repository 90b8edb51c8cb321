"""Notebooks as other programs may have written them: any order of members, any layout, any split of the lines."""

import json
import random
from typing import Any

from hypothesis import strategies as st

BOM = b"\xef\xbb\xbf"
SNIPPETS = [
    "a", "x = 1", "é", "漢", "🙂", "\n", "\n\n", "\r", "\r\n", "\x0b", "\x0c", "\x1c", "\x85", "\u2028", "\t", "\x00",
    "\x7f", '"', "\\", "\\u0041", "/", "\ud83d", "\udc80", "\ufeff", "\ufffd", " ", "[", "]", "{", "}", ",", ":", "#",
    "%", "# %", "%%", "# %% [code]", "\n# %% [code] cell:0\n", "\n# %%% [markdown] cell:1", "# %% [raw] x",
    "\n#%% [code]", "\n# %%%% [code]\r\n",
]  # fmt: skip
SOURCES = st.lists(st.sampled_from(SNIPPETS), max_size=8).map("".join)
TYPES = st.sampled_from(["code", "markdown", "raw"])
SPACES = ["", "", "", " ", "\n", "\t", "\r\n", "  ", "\n    "]
ATOMS: st.SearchStrategy[Any] = st.sampled_from(
    [None, True, 0, -1.5e300, 10**30, "", "é", "]", '"cells": [', "\ud83d", float("nan"), [], {}]
)
VALUES = st.recursive(
    ATOMS, lambda inner: st.lists(inner, max_size=2) | st.dictionaries(SOURCES, inner, max_size=2), max_leaves=4
)


class Twice(str):
    """A name of a member that comes twice; the later one counts. It is another key than the name itself."""

    __slots__ = ()
    __hash__ = str.__hash__

    def __eq__(self, other: object) -> bool:
        return self is other


@st.composite
def split_sources(draw: st.DrawFn) -> Any:
    """A source as it is in a file: one string, lines as Jupyter has them, or pieces that were cut anywhere."""
    text = draw(SOURCES)
    kind = draw(st.sampled_from(["text", "lines", "pieces"]))
    if kind == "text":
        return text
    if kind == "lines":
        return text.splitlines(keepends=True)
    edges = sorted(draw(st.lists(st.integers(0, len(text)), max_size=3)))
    return [text[start:end] for start, end in zip([0, *edges], [*edges, len(text)], strict=True)]


@st.composite
def cells(draw: st.DrawFn) -> dict[str, Any]:
    """One cell, its members in any order."""
    cell_type = draw(TYPES)
    cell: dict[str, Any] = {"cell_type": cell_type, "metadata": {}, "source": draw(split_sources())}
    if cell_type == "code":
        cell |= {
            "execution_count": draw(st.none() | st.integers(0, 9)),
            "outputs": draw(st.lists(outputs(), max_size=2)),
        }
    elif draw(st.booleans()):
        cell["attachments"] = {"a.png": {"image/png": "AA=="}}
    cell |= draw(st.dictionaries(st.sampled_from(["id", "x", "zz", "é", "A"]), VALUES, max_size=2))
    if draw(st.integers(0, 9)) == 0:
        return {Twice(draw(st.sampled_from(sorted(cell)))): "ghost", **cell}
    return dict(draw(st.permutations(list(cell.items()))))


@st.composite
def outputs(draw: st.DrawFn) -> dict[str, Any]:
    """An output; what is in it is nobody's business here, as long as it stays."""
    return {"name": "stdout", "output_type": "stream", "text": draw(SOURCES), "x": draw(VALUES)}


@st.composite
def notebooks(draw: st.DrawFn) -> dict[str, Any]:
    """A notebook of nbformat 4.4 or 4.5, with unknown members, its members in any order."""
    made: dict[str, Any] = {
        "cells": draw(st.lists(cells(), max_size=4)),
        "metadata": draw(st.dictionaries(SOURCES, VALUES, max_size=2)),
        "nbformat": 4,
        "nbformat_minor": draw(st.sampled_from([4, 5])),
    }
    made |= draw(st.dictionaries(st.sampled_from(["a", "zz", "Cells"]), VALUES, max_size=1))
    return dict(draw(st.permutations(list(made.items()))))


@st.composite
def files(draw: st.DrawFn) -> bytes:
    """The bytes of a notebook's file, in one of many layouts."""
    notebook = draw(notebooks())
    ascii_only = draw(st.booleans())
    if draw(st.booleans()):
        text = _wild(notebook, random.Random(draw(st.integers(0, 10**6))), ascii_only=ascii_only)
    else:
        indent = draw(st.sampled_from([None, 0, 1, 2, 4, "\t"]))
        comma = draw(st.sampled_from([",", ", "])) if indent is None else ","
        colon = draw(st.sampled_from([":", ": ", " : "]))
        text = json.dumps(notebook, ensure_ascii=ascii_only, indent=indent, separators=(comma, colon))
        text = text.replace("\n", "\r\n") if draw(st.booleans()) else text
    text = draw(st.sampled_from(["", "\n", " "])) + text + draw(st.sampled_from(["", "\n", "\r\n", "\n\n"]))
    return draw(st.sampled_from([b"", b"", BOM])) + text.encode("utf-8", "backslashreplace")


@st.composite
def tidy_files(draw: st.DrawFn) -> bytes:
    """A file that one program wrote in one way: lines as Jupyter splits them, and either all escaped or nothing."""
    notebook = draw(notebooks())
    notebook["metadata"] = {"é": "é"}
    for cell in notebook["cells"]:
        source = cell["source"]
        cell["source"] = whole(source) if isinstance(source, str) else whole("".join(source)).splitlines(keepends=True)
    indent = draw(st.sampled_from([None, 0, 1, 2, 4, "\t"]))
    comma, colon = draw(st.sampled_from([(",", ":"), (", ", ": ")])) if indent is None else (",", ": ")
    text = json.dumps(notebook, ensure_ascii=draw(st.booleans()), indent=indent, separators=(comma, colon))
    text = text.replace("\n", draw(st.sampled_from(["\n", "\r\n"]))) + draw(st.sampled_from(["", "\n"]))
    return text.encode("utf-8", "backslashreplace")


def decoded(data: bytes) -> dict[str, Any]:
    """What Python's own decoder makes of a file; NaN as something that is equal to itself."""
    found: dict[str, Any] = json.loads(data.decode("utf-8-sig"), parse_constant=lambda name: f"<{name}>")
    return found


def whole(text: str) -> str:
    """With the two halves of a pair as the one character that they are for every reader of the file."""
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "surrogatepass")


def _wild(value: Any, chance: random.Random, *, ascii_only: bool) -> str:
    """A value with white space wherever there may be some."""

    def gap() -> str:
        return chance.choice(SPACES)

    def of(inner: Any) -> str:
        return gap() + _wild(inner, chance, ascii_only=ascii_only) + gap()

    if isinstance(value, dict):
        members = (f"{of(str(key))}:{of(inner)}" for key, inner in value.items())
        return "{" + (",".join(members) or gap()) + "}"
    if isinstance(value, list):
        return "[" + (",".join(map(of, value)) or gap()) + "]"
    text = json.dumps(value, ensure_ascii=ascii_only)
    return text.replace("/", "\\/") if chance.random() < 0.3 else text
