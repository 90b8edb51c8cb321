"""Magics about the user's variables."""

from __future__ import annotations

from types import ModuleType

from .magic_options import split_options
from .tracebacks import UsageError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from .builtin_shell import BuiltinShell

_WIDEST_VALUE = 60


def who(shell: BuiltinShell, line: str) -> None:
    """List the names of your variables: `%who [TYPE]…`."""
    found = _variables(shell, line)
    if found:
        print("\t ".join(name for name, _ in found) + "\t ")
    else:
        print(_nothing(line))


def whos(shell: BuiltinShell, line: str) -> None:
    """List your variables with their types and values: `%whos [TYPE]…`."""
    found = _variables(shell, line)
    if not found:
        print(_nothing(line))
        return
    rows = [("Variable", "Type", "Data/Info")]
    rows += [(name, type(value).__name__, _summary(value)) for name, value in found]
    first = max(len(row[0]) for row in rows)
    second = max(len(row[1]) for row in rows)
    lines = [f"{name:<{first}}   {kind:<{second}}   {info}".rstrip() for name, kind, info in rows]
    print("\n".join([lines[0], "-" * len(lines[0]), *lines[1:]]))


def reset(shell: BuiltinShell, line: str) -> None:
    """Forget all your variables, and the cells so far: `%reset [-f]`. The kernel's own names stay."""
    _, rest = split_options("%reset", line, flags=("f", "s"))
    if rest:
        raise UsageError(f"%reset forgets everything and takes no names, not {rest!r}; `del name` forgets one.")
    shell.reset()


def _variables(shell: BuiltinShell, line: str) -> list[tuple[str, Any]]:
    """The user's own names in order, only those of the types that the line names."""
    types = set(line.split())
    return sorted(
        (name, value)
        for name, value in list(shell.namespace.items())
        if type(name) is str and name[:1] != "_" and not shell.given.is_ours(name)
        if not types or type(value).__name__ in types
    )


def _nothing(line: str) -> str:
    return "No variables match your requested type." if line.strip() else "Interactive namespace is empty."


def _summary(value: Any) -> str:
    """A value on one short line; big containers by their size alone, so that a list of a million is not spelled."""
    shape = getattr(value, "shape", None)
    if isinstance(shape, tuple) and not isinstance(value, type):
        return f"{'x'.join(map(str, shape))}: {getattr(value, 'dtype', 'Shape')}"
    if isinstance(value, (list, tuple, dict, set, frozenset)):
        return f"n={len(value)}"
    if isinstance(value, ModuleType):
        return f"<module {value.__name__!r}>"
    try:
        text = str(value[: _WIDEST_VALUE + 1]) if isinstance(value, (str, bytes)) else str(value)
    except Exception as failure:  # A value of the user's may raise from anywhere; the table goes on.
        return f"<its text could not be made: {type(failure).__name__}>"
    text = " ".join(text.split())
    return text if len(text) <= _WIDEST_VALUE else text[: _WIDEST_VALUE - 1] + "…"
