"""Showing values: as the shell does, and what is plain data as JSON besides."""

from __future__ import annotations

import builtins

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_PLAIN_DATA = frozenset({dict, list, tuple})


def display(*values: Any, **options: Any) -> Any:
    """The shell's own `display`, with JSON for plain dicts, lists and tuples where IPython would show their text."""
    shown_by_shell: Any = builtins.display  # type: ignore[attr-defined]  # Every shell puts one there.
    shell = _ipython()
    if shell is None or options or not any(type(value) in _PLAIN_DATA for value in values):
        return shown_by_shell(*values, **options)
    for value in values:
        if type(value) in _PLAIN_DATA:
            from ..json_safe import json_safe

            bundle, metadata = shell.display_formatter.format(value)
            shown_by_shell({**bundle, "application/json": json_safe(value)}, metadata=metadata, raw=True)
        else:
            shown_by_shell(value)
    return None


def _ipython() -> Any:
    """IPython's shell, where that is what runs the cells."""
    get_ipython: Any = getattr(builtins, "get_ipython", None)
    return None if get_ipython is None else get_ipython()
