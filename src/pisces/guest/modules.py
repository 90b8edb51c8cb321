"""Extension modules: files of the user's whose names are in the namespace of every kernel, beside the prelude's.

The host sends each as text, and asks for one after the other, as cells that nobody sees. Functions that a module tags
with `helper` are in the documentation that the host has of this kernel.
"""

from __future__ import annotations

import os
import sys
from contextlib import contextmanager, nullcontext, redirect_stderr, redirect_stdout
from types import FunctionType, ModuleType

from .json_safe import safe_text
from .prelude import status

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from contextlib import AbstractContextManager
    from typing import Any

    from .given_names import GivenNames

TOOLKIT = "pisces_prelude"
"""What a module imports `helper` and `tell` from."""
FAILURE_MIME = "application/x-pisces-module-failure"
HELPERS_MIME = "application/x-pisces-helpers"
"""What the host is told with, in displays that it shows to nobody."""
_LONGEST = 500
_LONGEST_DOC = 4000

_kernel: list[tuple[dict[str, Any], GivenNames, Callable[[], None]]] = []
_silent: list[Callable[[], AbstractContextManager[None]]] = []
_loaded: list[tuple[str, str]] = []
_bound: set[str] = set()


def expect(
    namespace: dict[str, Any],
    given: GivenNames,
    settled: Callable[[], None],
    silent: Callable[[], AbstractContextManager[None]] = nullcontext,
) -> None:
    """Modules are loaded into this namespace; `settled` is called when all of them have been.

    While `silent` lasts, what is displayed is shown to nobody.
    """
    _kernel[:] = [(namespace, given, settled)]
    _silent[:] = [silent]
    _loaded.clear()
    _bound.clear()
    toolkit = ModuleType(TOOLKIT, "What an extension module of Pisces is made with.")
    vars(toolkit).update(helper=status.helper, tell=status.tell)
    sys.modules[TOOLKIT] = toolkit


def load(path: str, source: str) -> None:
    """Run a module in the namespace. Raises what it raises; the namespace is then as it was before."""
    import linecache

    namespace, _, _ = _kernel[0]
    linecache.cache[path] = (len(source), None, source.splitlines(keepends=True), path)
    before = dict(namespace)
    namespace["__file__"] = path
    try:
        exec(compile(source, path, "exec", 0, True), namespace)
    except BaseException:
        _take_back(namespace, before, set(before).union(namespace))
        raise
    changed = {name for name, value in namespace.items() if before.get(name, _bound) is not value and type(name) is str}
    about_itself = {name for name in changed if name[:2] == name[-2:] == "__"}  # Its file, its docstring, annotations.
    _take_back(namespace, before, about_itself)
    _bound.update(changed - about_itself)
    _loaded.append((path, source))


def _take_back(namespace: dict[str, Any], before: dict[str, Any], names: set[str]) -> None:
    """Have these names stand for what they stood for before, or for nothing."""
    for name in names:
        if name in before:
            namespace[name] = before[name]
        else:
            namespace.pop(name, None)


def attempt(path: str, source: str) -> None:
    """The same for the host, which is told of a failure; whatever a module raises, an interrupt too, is one."""
    try:
        load(path, source)
    except BaseException as error:
        status.show({FAILURE_MIME: {"ename": type(error).__name__, "evalue": _text(error), "line": _line(path, error)}})


def settle() -> None:
    """All modules have run: what they bound was there before the user's first cell."""
    namespace, given, settled = _kernel[0]
    given.take_over({name: value for name, value in namespace.items() if name in _bound})
    settled()


def conclude() -> None:
    """The same for the host, which is told of every helper that there is now."""
    settle()
    status.show({HELPERS_MIME: documentation()})


def loaded() -> list[tuple[str, str]]:
    """The modules that this kernel has, for one that takes its place: the path and the source of each."""
    return list(_loaded)


def names() -> set[str]:
    """What the modules have bound."""
    return set(_bound)


def load_again(modules: Iterable[tuple[str, str]]) -> list[str]:
    """Load the modules of a kernel that cannot go on; what could not be, each as `what (why)`.

    They say nothing this time: nobody would know which cell it belongs to.
    """
    missing = []
    with _silent[0](), _said_to_nobody():
        for path, source in modules:
            try:
                load(path, source)
            except BaseException as error:
                missing.append(f"extension module {path} ({type(error).__name__}: {_text(error)})")
    settle()
    return missing


@contextmanager
def _said_to_nobody() -> Iterator[None]:
    """What is written meanwhile goes nowhere, also what commands write, and code that is no Python."""
    import io

    from .descriptors import private_duplicate

    kept = [private_duplicate(number) for number in (1, 2)]
    nowhere = os.open(os.devnull, os.O_WRONLY | os.O_CLOEXEC)
    try:
        for number in (1, 2):
            os.dup2(nowhere, number)
        with redirect_stdout(io.StringIO()), redirect_stderr(io.StringIO()):
            yield
    finally:
        for number, descriptor in enumerate(kept, 1):
            os.dup2(descriptor, number)
        for descriptor in (nowhere, *kept):
            os.close(descriptor)


def documentation() -> list[dict[str, str]]:
    """Every helper, those of modules too: its `name`, `category`, `signature` and `doc`."""
    namespace, given, _ = _kernel[0]
    return [
        _described(name, namespace[name])
        for name in given.values
        if name in namespace and name[:1] != "_" and _is_helper(namespace[name])
    ]


def _is_helper(value: Any) -> bool:
    """Whether it is a function with a category, or the one object of ours; other objects may have one of their own."""
    ours = type(value).__module__.startswith(f"{__package__}.")
    return (isinstance(value, FunctionType) or ours) and isinstance(getattr(value, "category", None), str)


def _described(name: str, value: Any) -> dict[str, str]:
    import inspect

    try:
        signature = str(inspect.signature(value)) if callable(value) else ""
    except Exception:  # What cannot be shown may be a default value of the user's.
        signature = ""
    doc = inspect.getdoc(value) or ""
    return {
        "name": name,
        "category": safe_text(value.category[:_LONGEST]),
        "signature": safe_text(signature[:_LONGEST_DOC]),
        "doc": safe_text(doc[:_LONGEST_DOC]),
    }


def _text(error: BaseException) -> str:
    try:
        said = error.msg if isinstance(error, SyntaxError) else str(error)  # The line is told besides.
        return safe_text(status.cut(said, _LONGEST))
    except Exception as failure:  # The exception is the user's, and so is how it is put into words.
        return f"<its text could not be made: {type(failure).__name__}>"


def _line(path: str, error: BaseException) -> int | None:
    """The line of the module that it was at; None if it never got there."""
    line = error.lineno if isinstance(error, SyntaxError) and error.filename == path else None
    traceback = error.__traceback__
    while traceback is not None:
        if traceback.tb_frame.f_code.co_filename == path:
            line = traceback.tb_lineno
        traceback = traceback.tb_next
    return line
