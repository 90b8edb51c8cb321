"""Magics about files: run one, show one, write one."""

from __future__ import annotations

import os
import sys
from types import ModuleType

from .magic_options import split_options, words
from .tracebacks import UsageError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import CodeType
    from typing import Any

    from .builtin_shell import BuiltinShell


def load(_shell: BuiltinShell, line: str) -> None:
    """Show the text of a file: `%load FILE`. There is no editor to load it into, so it is printed."""
    path = os.path.expanduser(_one_word("%load", line))
    with open(path, encoding="utf-8", errors="replace") as file:
        sys.stdout.write(file.read())


def writefile(_shell: BuiltinShell, line: str, cell: str) -> None:
    """Write the cell to a file: `%%writefile [-a] FILE`; with `-a`, at its end."""
    options, rest = split_options("%%writefile", line, flags=("a", "append"))
    path = os.path.expanduser(_one_word("%%writefile", rest))
    existed = os.path.exists(path)
    with open(path, "a" if options else "w", encoding="utf-8") as file:
        file.write(cell)
    done = "Appending to" if options else "Overwriting" if existed else "Writing"
    print(f"{done} {path}")


def run(shell: BuiltinShell, line: str) -> None:
    """Run a Python file: `%run [-i] [-n] FILE [ARGUMENTS]`.

    It gets a namespace of its own, and its names are yours afterwards; with `-i` it runs in yours. `-n` runs it with
    a `__name__` that is not `__main__`.
    """
    options, rest = split_options("%run", line, flags=("i", "n"))
    arguments = words("%run", rest)
    if not arguments:
        raise UsageError("%run needs the file to run: %run [-i] [-n] FILE [ARGUMENTS]")
    path = _script_path(arguments[0])
    code = _compiled(path)
    arguments[0] = path
    if "i" in options:
        _execute(code, shell.namespace, arguments, sys.modules.get("__main__"))
        return
    module = ModuleType("__main__" if "n" not in options else os.path.splitext(os.path.basename(path))[0])
    module.__dict__["__file__"] = path
    try:
        _execute(code, module.__dict__, arguments, module)
    finally:
        own = {name: value for name, value in module.__dict__.items() if not name.startswith("__")}
        shell.namespace.update(own)


def _script_path(name: str) -> str:
    path = os.path.expanduser(name)
    for candidate in (path, path + ".py"):
        if os.path.isfile(candidate):
            return candidate
    raise UsageError(f"%run found no file {name!r} in {os.getcwd()}.")


def _compiled(path: str) -> CodeType:
    """The code of a file; its bytes go to the compiler, which knows about encodings."""
    with open(path, "rb") as file:
        source = file.read()
    if path.endswith(".ipy"):
        from .transform import transform_cell

        return compile(transform_cell(source.decode("utf-8")), path, "exec", dont_inherit=True)
    return compile(source, path, "exec", dont_inherit=True)


def _execute(code: CodeType, namespace: dict[str, Any], arguments: list[str], module: ModuleType | None) -> None:
    """Run code as a script: with its arguments, its folder first on the path, and as `__main__`."""
    folder = os.path.dirname(os.path.abspath(arguments[0]))
    argv, main = sys.argv, sys.modules.get("__main__")
    sys.argv = arguments
    sys.path.insert(0, folder)
    if module is not None and module.__name__ == "__main__":
        sys.modules["__main__"] = module
    try:
        exec(code, namespace)
    except SystemExit as ended:
        if ended.code not in {None, 0}:
            raise
    finally:
        sys.argv = argv
        if folder in sys.path:
            sys.path.remove(folder)
        if main is not None:
            sys.modules["__main__"] = main


def _one_word(magic: str, line: str) -> str:
    found = words(magic, line)
    if len(found) != 1:
        raise UsageError(f"{magic} takes one file, and {line!r} names {len(found)}. Quote a name with spaces.")
    return found[0]
