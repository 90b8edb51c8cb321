"""Ways around work of IPython's that cannot matter for the cell at hand; everything else goes the long way.

Each one is taken only when its outcome is the same: a cell without special syntax need not be tokenized to find that
out, one without `await` need not be compiled to see whether it needs a loop, and a number has no HTML.
"""

from __future__ import annotations

import re
from contextlib import nullcontext
from typing import Any, cast

from IPython.core.autocall import IPyAutocall
from IPython.core.displayhook import DisplayHook
from IPython.core.interactiveshell import InteractiveShell
from IPython.lib.pretty import _repr_pprint

from .transform import transform_cell

_no_context = nullcontext()
_PLAIN_TYPES = (int, str, bytes)  # Not float: `%precision` sets how it looks.
_FIRST_WORD = re.compile(r"\s*([^\W\d]\w*)")


class QuickInput(InteractiveShell):
    """Looks at a cell's text before it lets the transformers at it."""

    def transform_cell(self, raw_cell: str) -> Any:
        if self._is_plain(raw_cell):
            return raw_cell if raw_cell.endswith("\n") else raw_cell + "\n"
        return cast(Any, super()).transform_cell(raw_cell)

    def _tee(self, channel: str) -> Any:
        """IPython keeps a copy of all that is printed, for ever; the host has it already, and on disk."""
        return _no_context

    def should_run_async(self, raw_cell: str, **options: Any) -> bool:
        cell = options.get("transformed_cell") or raw_cell
        if "await" not in cell and "async" not in cell:
            return False
        return bool(super().should_run_async(raw_cell, **options))

    def _is_plain(self, cell: str) -> bool:
        if self._has_own_transformers() or transform_cell(cell) != cell:
            return False
        if "\n" in cell.rstrip("\n"):
            return True
        return not self._may_be_automagic(cell)

    def _has_own_transformers(self) -> bool:
        """Whether somebody added transformers to the stock ones."""
        manager = self.input_transformer_manager
        counts = (len(manager.cleanup_transforms), len(manager.line_transforms), len(manager.token_transformers))
        if not hasattr(self, "_stock_transformers"):
            self._stock_transformers = counts
        return bool(self.input_transformers_post) or counts != self._stock_transformers

    def _may_be_automagic(self, line: str) -> bool:
        """A single line like `ls` or `cd ..` may be a magic without its sign, and `exit` calls itself."""
        found = _FIRST_WORD.match(line)
        if found is None:
            return False
        word = found.group(1)
        return word in self.magics_manager.magics["line"] or isinstance(self.user_ns.get(word), IPyAutocall)


class QuickResult(DisplayHook):
    """Asks no formatter about values that have nothing to show but their repr."""

    shell: Any
    _printers: tuple[tuple[Any, dict[type, Any], dict[int, Any]], ...] = ()
    """Of each formatter: what it has for plain values unless somebody registered something else, and its tables."""

    def quiet(self) -> bool:
        cells = self.shell.history_manager.input_hist_parsed
        if cells and ";" not in cells[-1]:
            return False
        return bool(cast(Any, super()).quiet())

    def compute_format_data(self, result: Any) -> Any:
        if type(result) in _PLAIN_TYPES and self._nobody_formats(type(result)):
            return {"text/plain": repr(result)}, {}
        return cast(Any, super()).compute_format_data(result)

    def _nobody_formats(self, kind: type) -> bool:
        """Whether all that IPython's formatters would do with such a value is to call its repr."""
        formatters = self.shell.display_formatter.formatters
        if len(formatters) != len(self._printers):
            self._printers = tuple(
                (_repr_pprint if mime == "text/plain" else None, formatter.type_printers, formatter.singleton_printers)
                for mime, formatter in formatters.items()
            )
        return all(
            types.get(kind) is stock and (stock is not None or not singletons)
            for stock, types, singletons in self._printers
        )
