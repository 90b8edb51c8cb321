"""Cells made to fit the schema of nbformat 4.5: what it does not allow is kept under `before_upgrade`, not lost."""

from collections.abc import Mapping
from typing import Any, Final

from pisces.notebooks.old_formats_schema import CELLS, JSON_TYPE, MAY, METADATA, MUST, OUTPUTS, fits_type, is_texts

Node = dict[str, Any]

KEPT: Final = "before_upgrade"
"""The name in the metadata under which is kept what has no place of its own."""

_NOTHING: Final[tuple[Any, ...]] = (None, "", [], {})
_SPLIT_TYPES: Final = frozenset({"application/javascript", "image/svg+xml"})


def fit_cell(cell: Node) -> Node:
    """The cell as the schema allows it, its texts in one piece. A type that is not known becomes raw."""
    kind = cell.pop("cell_type", None)
    left: Node = {}
    if not isinstance(kind, str) or kind not in CELLS:
        left["cell_type"], kind = kind, "raw"
    _join(cell, "source")
    fitted = _sort_out(cell, kind, left)
    fitted["cell_type"] = kind
    if kind == "code":
        fitted["outputs"], outputs = _fit_outputs(fitted["outputs"])
        left["outputs"] = left.get("outputs") or outputs
    for bundle in fitted.get("attachments", {}).values():
        _join_data(bundle)
    fitted["metadata"].pop("trusted", None)
    fitted["metadata"], misfits = fit_metadata(fitted["metadata"], kind)
    remember(fitted["metadata"], left, misfits)
    return fitted


def fit_metadata(metadata: Node, kind: str) -> tuple[Node, Node]:
    """The metadata of a notebook or of a kind of cell: what the schema allows, and what it does not."""
    kernelspec = metadata.get("kernelspec")
    if kind == "notebook" and isinstance(kernelspec, dict) and isinstance(kernelspec.get("name"), str):
        kernelspec.setdefault("display_name", kernelspec["name"])
    checks = METADATA[kind]
    misfits = {key: metadata[key] for key in checks if key in metadata and not checks[key](metadata[key])}
    return {key: value for key, value in metadata.items() if key not in misfits}, misfits


def remember(metadata: Node, left: Mapping[str, Any], misfits: Node) -> None:
    """Keep in the metadata what has no place: `left`, and `misfits` as what the metadata had. What is empty is not."""
    kept = {key: value for key, value in left.items() if value not in _NOTHING}
    if misfits:
        kept["metadata"] = misfits
    if kept and KEPT in metadata:
        kept[KEPT] = metadata[KEPT]
    if kept:
        metadata[KEPT] = kept


def split_lines(cell: Node) -> None:
    """Lists of lines in place of texts, where Jupyter writes them so."""
    cell["source"] = cell["source"].splitlines(keepends=True)
    for bundle in cell.get("attachments", {}).values():
        _split_data(bundle)
    for output in cell.get("outputs", ()):
        if output["output_type"] == "stream":
            output["text"] = output["text"].splitlines(keepends=True)
        _split_data(output.get("data", {}))


def _split_data(bundle: Node) -> None:
    for mime, value in bundle.items():
        if isinstance(value, str) and (mime.startswith("text/") or mime in _SPLIT_TYPES):
            bundle[mime] = value.splitlines(keepends=True)


def _fit_outputs(outputs: list[Any]) -> tuple[list[Node], Node]:
    """The outputs that have a place, and by number what has none."""
    fitted: list[Node] = []
    left: Node = {}
    for number, output in enumerate(outputs):
        kind = output.get("output_type") if isinstance(output, dict) else None
        if not isinstance(kind, str) or kind not in OUTPUTS:
            left[str(number)] = output
            continue
        of_this: Node = {}
        fitted.append(_fit_output(output, kind, of_this))
        if of_this:
            left[str(number)] = of_this
    return fitted, left


def _fit_output(output: Node, kind: str, left: Node) -> Node:
    del output["output_type"]
    _join(output, "text")
    fitted = _sort_out(output, kind, left)
    fitted["output_type"] = kind
    if "data" in fitted:
        data = fitted["data"]
        misfits = {mime: value for mime, value in data.items() if not fits_type(mime, value)}
        fitted["data"] = {mime: value for mime, value in data.items() if mime not in misfits}
        _join_data(fitted["data"])
        if misfits:
            left["data"] = misfits
    return dict(sorted(fitted.items()))


def _sort_out(node: Node, kind: str, left: Node) -> Node:
    """The members that this kind must or may have; all others go to `left`, but for those that hold nothing."""
    must, may = MUST[kind], MAY.get(kind, {})
    checks = {**{key: check for key, (check, _) in must.items()}, **may}
    fitted = {key: value for key, value in node.items() if key in checks and checks[key](value)}
    for key, value in node.items():
        if key not in fitted and value not in _NOTHING:
            left[key] = value
    for key, (_, missing) in must.items():
        fitted.setdefault(key, missing.copy() if isinstance(missing, dict | list) else missing)
    return fitted


def _join(node: Node, key: str) -> None:
    if is_texts(node.get(key)):
        node[key] = "".join(node[key])


def _join_data(bundle: Node) -> None:
    for mime, value in bundle.items():
        if is_texts(value) and JSON_TYPE.fullmatch(mime) is None:
            bundle[mime] = "".join(value)
