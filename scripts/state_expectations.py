"""Write into the catalogue of `tests/state/` what a run found, so that only what must not be is left to look at.

The source of each library is changed where it says what is expected; names, code and reasons stay as they are.
"""

import ast
import subprocess
import sys
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from tests.source_tree import ROOT
from tests.state.catalogue.entry import NO_VALUE, Way

CATALOGUE = ROOT / "tests" / "state" / "catalogue"
NEEDS_WHAT_IS_GONE = "what it needs ended with the process"
"""The reason where nobody has given a better one, and the process went on as a copy."""


class Expectation(NamedTuple):
    """What becomes of an entry, and why it does not come back, if it does not."""

    way: Way
    because: str = ""


class _Edit(NamedTuple):
    """A piece of a source, by its offsets, and what is to stand there."""

    begin: int
    end: int
    text: str


def write_expectations(found: Mapping[str, Mapping[str, Expectation]]) -> list[Path]:
    """Bring these libraries' entries in line, by the names of both; the files that were changed."""
    changed = []
    for path in sorted(CATALOGUE.rglob("*.py")):
        before = path.read_text(encoding="utf-8")
        after = updated(before, found)
        if after != before:
            path.write_text(after, encoding="utf-8")
            changed.append(path)
    if changed:
        ruff = Path(sys.executable).with_name("ruff")
        subprocess.run([ruff, "format", "--quiet", *changed], cwd=ROOT, check=True)
    return changed


def updated(source: str, found: Mapping[str, Mapping[str, Expectation]]) -> str:
    """The source of a module of the catalogue with these expectations."""
    edits: list[_Edit] = []
    for call in _calls(ast.parse(source), "Library"):
        expectations = found.get(_text_of(call.args[0]))
        if expectations:
            edits += _library_edits(source, call, expectations)
    for edit in sorted(edits, reverse=True):
        source = source[: edit.begin] + edit.text + source[edit.end :]
    return source


def _calls(tree: ast.AST, name: str) -> list[ast.Call]:
    return [
        node
        for node in ast.walk(tree)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == name
    ]


def _text_of(node: ast.expr) -> str:
    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else ""


def _library_edits(source: str, call: ast.Call, expectations: Mapping[str, Expectation]) -> list[_Edit]:
    usual = Counter(expectation.way for expectation in expectations.values()).most_common(1)[0][0]
    back = next((keyword for keyword in call.keywords if keyword.arg == "back"), None)
    edits = [
        _Edit(*_span(source, entry), _entry(source, entry, expectations[_text_of(entry.args[0])], usual))
        for entry in _calls(call, "Entry")
    ]
    if back is not None:
        edits.append(_Edit(*_span(source, back.value), repr(usual)))
    elif usual != "exact":
        end_of_name = _span(source, call.args[0])[1]
        edits.append(_Edit(end_of_name, end_of_name, f", back={usual!r}"))
    return edits


def _entry(source: str, call: ast.Call, expectation: Expectation, usual: Way) -> str:
    """The entry anew: what it is stays, what is expected is said where the library does not say it."""
    fields = dict(zip(("name", "make", "use", "back", "because", "untold"), call.args, strict=False))
    fields |= {keyword.arg: keyword.value for keyword in call.keywords if keyword.arg}
    told: list[str] = [_segment(source, fields[name]) for name in ("name", "make", "use")]
    if expectation.way != usual:
        told.append(f"back={expectation.way!r}")
    if expectation.way == "not":
        because = _segment(source, fields["because"]) if "because" in fields else _reason(source, expectation.because)
        told.append(f"because={because}")
    if "untold" in fields:
        told.append(f"untold={_segment(source, fields['untold'])}")
    return f"Entry({', '.join(told)})"


def _reason(source: str, because: str) -> str:
    return "NO_VALUE" if because == NO_VALUE and "import NO_VALUE" in source else repr(because)


def _segment(source: str, node: ast.expr) -> str:
    begin, end = _span(source, node)
    return source[begin:end]


def _span(source: str, node: ast.expr) -> tuple[int, int]:
    """Where a node begins and ends in the text; the parser counts columns in bytes."""
    assert node.end_lineno is not None
    assert node.end_col_offset is not None
    lines = source.splitlines(keepends=True)
    return _offset(lines, node.lineno, node.col_offset), _offset(lines, node.end_lineno, node.end_col_offset)


def _offset(lines: Sequence[str], line: int, column: int) -> int:
    return sum(map(len, lines[: line - 1])) + len(lines[line - 1].encode()[:column].decode())
