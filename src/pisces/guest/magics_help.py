"""`obj?`, `obj??` and `pattern*?`: tells about objects and about the shell itself."""

from __future__ import annotations

import builtins

from . import magics
from .tracebacks import UsageError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from .builtin_shell import BuiltinShell

_WIDEST_VALUE = 200
_USAGE = """\
Cells are Python; the value of the last expression is displayed, unless it ends in `;`. `await` works anywhere.
    name?  name??       what it is, and its source        %magic?           how a magic is used
    !command            run a command of the shell        lines = !command  keep the lines it wrote
    %magic arguments    on a line of its own              %%magic           on the first line of a cell"""


def show_usage() -> None:
    """Say what the shell can do."""
    print(_USAGE)
    lsmagic(None, "")


def lsmagic(_shell: BuiltinShell | None, _line: str) -> None:
    """List all magics: `%lsmagic`."""
    line_names, cell_names = magics.names()
    print("Line magics: " + "  ".join("%" + name for name in line_names))
    print("Cell magics: " + "  ".join("%%" + name for name in cell_names))


def pinfo(shell: BuiltinShell, line: str) -> None:
    """Tell about an object: `name?` or `%pinfo NAME`."""
    _tell(shell, line.strip(), with_source=False)


def pinfo2(shell: BuiltinShell, line: str) -> None:
    """Tell about an object, with its source: `name??` or `%pinfo2 NAME`."""
    _tell(shell, line.strip(), with_source=True)


def psearch(shell: BuiltinShell, line: str) -> None:
    """List the names that match a pattern: `pattern*?` or `%psearch PATTERN`."""
    from fnmatch import fnmatchcase

    owner, _, pattern = line.strip().rpartition(".")
    if owner:
        candidates = [f"{owner}.{name}" for name in dir(_find(shell, owner))]
        pattern = f"{owner}.{pattern}"
    else:
        candidates = [*shell.namespace, *vars(builtins)]
    hidden = not pattern.rpartition(".")[2].startswith("_")
    for name in sorted(set(candidates)):
        if fnmatchcase(name, pattern) and not (hidden and name.rpartition(".")[2].startswith("_")):
            print(name)


def _tell(shell: BuiltinShell, name: str, *, with_source: bool) -> None:
    import inspect

    if name.startswith("%"):
        function: Any = magics.find_cell(name[2:]) if name.startswith("%%") else magics.find_line(name[1:])
        print(inspect.getdoc(function))
        return
    try:
        value = _find(shell, name)
    except UsageError as failure:
        print(failure)
        return
    for title, text in _facts(name, value, with_source=with_source):
        print(f"{title}:\n{text}" if "\n" in text else f"{title + ':':<12} {text}")


def _facts(name: str, value: Any, *, with_source: bool) -> list[tuple[str, str]]:
    import inspect

    facts: list[tuple[str, str]] = []
    if callable(value):
        try:
            facts.append(("Signature", f"{name}{inspect.signature(value)}"))
        except (TypeError, ValueError):
            facts.append(("Callable", "its signature is not known"))
    facts.append(("Type", type(value).__name__))
    if not callable(value):
        facts.append(("String form", _short(value)))
    try:
        facts.append(("File", inspect.getfile(inspect.unwrap(value))))
    except (TypeError, ValueError):
        facts += [("Length", str(len(value)))] if isinstance(value, (str, bytes, list, tuple, dict, set)) else []
    source = _source(value) if with_source else None
    if source is not None:
        facts.append(("Source", source))
    facts.append(("Docstring", inspect.getdoc(value) or "<no docstring>"))
    return facts


def _source(value: Any) -> str | None:
    import inspect

    try:
        return inspect.getsource(value).rstrip()
    except (OSError, TypeError):
        return None


def _find(shell: BuiltinShell, name: str) -> Any:
    """The object that a dotted name with indices refers to; nothing is called on the way."""
    scope = {**vars(builtins), **shell.namespace}
    try:
        return eval(name, scope)
    except Exception:  # A name that does not lead anywhere, for whatever reason.
        raise UsageError(f"Object `{name}` not found.") from None


def _short(value: Any) -> str:
    from .display import bundle_of

    text = str(bundle_of(value, include=("text/plain",))[0].get("text/plain", ""))
    return text if len(text) <= _WIDEST_VALUE else text[: _WIDEST_VALUE - 1] + "…"
