"""Runs cells with the semantics of IPython where there is no IPython.

The last expression is displayed, `await` works at the top level, and magics, `!commands` and `obj?` are rewritten to
calls of this shell, which the code finds in builtins as `__pisces__`. `get_ipython` is not defined on purpose:
libraries take a NameError there as "no IPython", which is the truth, and would trip over a shell that has only a few
of its methods.
"""

from __future__ import annotations

import builtins
import linecache
import sys
from _ast import Expr, Expression, PyCF_ALLOW_TOP_LEVEL_AWAIT, PyCF_ONLY_AST

from . import display, figures, memory_limit
from .given_names import GivenNames
from .history import History
from .outcomes import outcome_of
from .shell_contract import CellOutcome, Channel
from .tracebacks import CELL_PREFIX
from .transform import SHELL_NAME, clean_cell, rewrite_special_syntax

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import CodeType
    from typing import Any

_IS_COROUTINE = 0x80  # inspect.CO_COROUTINE, without the import of inspect


class BuiltinShell:
    """The shell of an interpreter without IPython; fulfils `shell_contract.Shell`."""

    name = "builtin"

    def __init__(self, namespace: dict[str, Any], channel: Channel) -> None:
        self.namespace = namespace
        self.execution_count = 0
        self.history = History(namespace)
        self.given = GivenNames(namespace)
        self._uncounted = 0
        self._future_flags = 0
        setattr(builtins, SHELL_NAME, self)
        display.install()
        figures.install()
        self.show_on(channel)

    def show_on(self, channel: Channel) -> None:
        """Send everything that is to be shown to this channel from now on."""
        self.channel = channel
        display.show_on(channel)
        figures.show_on(channel)

    def count_from(self, execution_count: int) -> None:
        """Go on counting cells after this number."""
        self.execution_count = execution_count

    @property
    def user_ns(self) -> dict[str, Any]:
        """The namespace, by the name that IPython gives it."""
        return self.namespace

    def run_cell(self, code: str, *, silent: bool = False, store_history: bool = True) -> CellOutcome:
        """Run one cell to its end; see `shell_contract.Shell`."""
        if not code or code.isspace():
            return CellOutcome()
        counted = store_history and not silent
        if counted:
            self.execution_count += 1
            self._uncounted = 0
            self.history.add_input(code, self.execution_count)
        else:
            self._uncounted += 1
        try:
            value = self._run(code, self._filename(), split=not silent)
            if not silent:
                if value is not None:
                    self._show_result(value, counted=counted)
                figures.show_open()
        except BaseException as error:  # whatever ends a cell is the cell's, SystemExit too
            memory_limit.ease()
            if not silent:
                figures.show_open_after_error()
            return outcome_of(error)
        return CellOutcome()

    def complete(self, code: str, cursor: int) -> tuple[list[str], int, int]:
        """What could stand at the cursor; see `shell_contract.Shell`."""
        from .completer import Completer

        return Completer(self.namespace, self.given).complete(code, cursor)

    def evaluate(self, code: str, label: str) -> Any:
        """Run code of the user's inside a cell, for a magic; return the value of its last expression.

        `label` tells its lines from those of the cell in tracebacks.
        """
        return self._run(code, f"{self._filename()[:-1]} {label}>", split=True)

    def run_inner(self, code: str, label: str) -> None:
        """The same, and display the value and the open figures as at the end of a cell."""
        value = self.evaluate(code, label)
        if value is not None:
            data, metadata = display.bundle_of(value)
            self.channel.display(data, metadata, None, False)
        figures.show_open()

    def _run(self, code: str, filename: str, *, split: bool) -> Any:
        cleaned = clean_cell(code)
        lines = [line + "\n" for line in cleaned.split("\n")]
        linecache.cache[filename] = (len(cleaned), None, lines, filename)  # no time: it is never looked for on disk
        body, last = self._compile(rewrite_special_syntax(cleaned), filename, split=split)
        return self._execute(body, last)

    def _show_result(self, value: Any, *, counted: bool) -> None:
        data, metadata = display.bundle_of(value)
        if counted:
            self.history.add_result(value, self.execution_count)
        self.channel.result(data, metadata, self.execution_count)

    def _filename(self) -> str:
        if self._uncounted:
            return f"{CELL_PREFIX}{self.execution_count}.{self._uncounted}>"
        return f"{CELL_PREFIX}{self.execution_count}>"

    def _compile(self, source: str, filename: str, *, split: bool) -> tuple[CodeType | None, CodeType | None]:
        """The statements of a cell and, with `split`, the last expression whose value is to be displayed."""
        flags = PyCF_ALLOW_TOP_LEVEL_AWAIT | self._future_flags
        tree: Any = compile(source, filename, "exec", flags | PyCF_ONLY_AST, True)
        shown = None
        if split and tree.body and type(tree.body[-1]) is Expr and not _ends_in_semicolon(source, tree.body[-1]):
            shown = tree.body.pop().value
        body = last = None
        if tree.body:
            body = compile(tree, filename, "exec", flags, True)
            if "__future__" in source:
                flags |= self._keep_future_flags(body)
        if shown is not None:
            last = compile(Expression(shown), filename, "eval", flags, True)
        return body, last

    def _keep_future_flags(self, code: CodeType) -> int:
        """`from __future__ import …` counts for all later cells, as in the interactive interpreter."""
        import __future__

        known = (getattr(__future__, name).compiler_flag for name in __future__.all_feature_names)
        self._future_flags |= code.co_flags & sum(set(known))
        return self._future_flags

    def _execute(self, body: CodeType | None, last: CodeType | None) -> Any:
        if any(code is not None and code.co_flags & _IS_COROUTINE for code in (body, last)):
            return self.channel.run_async(_awaited(body, last, self.namespace))
        if body is not None:
            exec(body, self.namespace)  # this is what a shell is for
        return None if last is None else eval(last, self.namespace)

    def run_line_magic(self, name: str, line: str) -> Any:
        """What `%name line` does."""
        from . import magics

        return magics.run_line(self, name, line)

    def run_cell_magic(self, name: str, line: str, cell: str) -> Any:
        """What `%%name line` does with the rest of the cell."""
        from . import magics

        return magics.run_cell(self, name, line, cell)

    def system(self, command: str) -> None:
        """What `!command` does: run it by the user's shell, its output where the cell's goes, and set `_exit_code`."""
        from . import commands

        commands.system(self, commands.expand(command, self.namespace, sys._getframe(1)))

    def getoutput(self, command: str) -> list[str]:
        """What `x = !command` does: run it and return the lines that it wrote."""
        from . import commands

        return commands.getoutput(self, commands.expand(command, self.namespace, sys._getframe(1)))

    def show_usage(self) -> None:
        """What a lone `?` does."""
        from . import magics_help

        magics_help.show_usage()

    def reset(self) -> None:
        """Forget all names but those of the prelude, and the cells so far; the count goes on."""
        kept = self.given.of_the_shell
        for name in [name for name in self.namespace if name not in kept and not _is_dunder(name)]:
            del self.namespace[name]
        self.given.restore()
        self.history.clear()


async def _awaited(body: CodeType | None, last: CodeType | None, namespace: dict[str, Any]) -> Any:
    """Both parts of a cell in one task, so that what it sets in its context is there for the last expression."""
    value = None
    for code in (body, last):
        if code is not None:
            value = eval(code, namespace)
            if code.co_flags & _IS_COROUTINE:
                value = await value
    return value


def _ends_in_semicolon(source: str, statement: Any) -> bool:
    """Whether `;` follows the last statement; only brackets, white space and comments can be there besides."""
    if ";" not in source:
        return False
    lines = source.replace("\r\n", "\n").replace("\r", "\n").encode("utf-8").split(b"\n")[statement.end_lineno - 1 :]
    lines[0] = lines[0][statement.end_col_offset :]
    return any(b";" in line.partition(b"#")[0] for line in lines)


def _is_dunder(name: object) -> bool:
    return isinstance(name, str) and name.startswith("__") and name.endswith("__")
