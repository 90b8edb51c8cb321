"""Pickling one variable of the session, with references to the others in place of copies of them.

Every object that is itself the value of a variable is written as that variable's name, so that variables which refer
to each other still do when they are loaded, and a function has the new namespace as its globals. Only the pickler of
the standard library is used, with our own reducers: what comes back does not depend on what else is installed.
"""

from __future__ import annotations

import dataclasses
import enum
import math
import pickle
import sys
import types

from .by_value_classes import can_be_made, is_importable, registrations
from .by_value_limits import TooMuch
from .by_value_reduce import reducer_for

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Collection
    from typing import Any, Protocol

    from .by_value_memory import Memory

    class _Output(Protocol):
        def write(self, data: bytes, /) -> object: ...


NAMESPACE = 0
"""The reference that stands for the namespace itself; those to variables are their names.

Others are a module and the name of what it has; or a number, for all that were one NaN.
"""

_PROTOCOL = 5  # From here on it is written in frames, so that a limit holds while a big object is on its way.
_COPIED = (bool, int, float, complex, str, bytes, type(None), types.ModuleType, types.BuiltinFunctionType)
_FIELD_MARKS = {"_FIELD_BASE", "_MISSING_TYPE", "_KW_ONLY_TYPE", "_HAS_DEFAULT_FACTORY_CLASS"}


class References:
    """Which objects are the values of variables, and which of them the pickle under way referred to."""

    def __init__(self, namespace: dict[str, Any], names: Collection[str], remade: Collection[str] = ()) -> None:
        """`remade` are names that a fresh kernel has by itself, for the same."""
        self.namespace = namespace
        self._names: dict[int, str] = {}
        self._remade = frozenset(remade)
        for name in (*remade, *names):
            value = namespace[name]
            kind = type(value)
            if not _is_one_of(kind, _COPIED) and not (_is_one_of(kind, (tuple, frozenset)) and not value):
                self._names.setdefault(id(value), name)
        self._known = _of_every_process()
        self._registrations: dict[int, list[type]] | None = None
        self._members: Collection[str] = ()
        self.used: set[str] = set()
        self.scopes: dict[int, tuple[dict[str, Any], Any]] = {}
        """Globals of functions that are neither a variable nor a module's, by id, and what stands in their place."""

    def begin(self, members: Collection[str]) -> None:
        """The variables that the next pickle holds itself."""
        self._members = members
        self.used = set()

    def reference(self, value: Any) -> Any:
        """What to write in place of the value; None for the value itself."""
        if value is self.namespace:
            return NAMESPACE
        name = self._names.get(id(value))
        if name is None or name in self._members:
            known = self._known.get(id(value))
            return id(value) if known is None and type(value) is float and math.isnan(value) else known
        if name not in self._remade:
            self.used.add(name)
        return name

    def virtual_bases(self, cls: type) -> list[type]:
        """The abstract classes of libraries that a class was registered with."""
        if self._registrations is None:
            self._registrations = registrations()
        return self._registrations.get(id(cls), [])


def _of_every_process() -> dict[int, tuple[str, str]]:
    """Objects that each process has one of, by id: the module that has it, and where it is there."""
    known = {id(vars(module)): (name, "__dict__") for name, module in list(sys.modules.items()) if _is_whole(module)}
    streams = [name for name in ("stdin", "stdout", "stderr") if vars(sys).get(name) is vars(sys).get(f"__{name}__")]
    for name, module in (
        ("sys", sys),
        ("os", sys.modules.get("os")),
        ("math", math),
        ("numpy", sys.modules.get("numpy")),
    ):
        for attribute in (*streams, "path", "argv", "modules", "environ", "nan"):
            if hasattr(module, attribute):
                known[id(getattr(module, attribute))] = (name, attribute)
    pandas: Any = sys.modules.get("pandas")
    for name in ("DataFrame", "Series") if pandas is not None else ():  # Each frame has a reference to it.
        known[id(getattr(pandas, name)._metadata)] = ("pandas", f"{name}._metadata")
    marks = ((name, value) for name, value in vars(dataclasses).items() if type(value).__name__ in _FIELD_MARKS)
    known.update({id(value): ("dataclasses", name) for name, value in marks})
    return known


def _is_whole(module: Any) -> bool:
    """Whether importing it by its name gives what is in it."""
    return issubclass(type(module), types.ModuleType) and vars(module).get("__spec__") is not None


class Aside:
    """What is to be known of a pickle beside its contents."""

    def __init__(self, references: References) -> None:
        self.virtual_bases: Callable[[type], list[type]] = references.virtual_bases
        self.reference = references.reference
        self.scopes = references.scopes
        self.losses: dict[str, None] = {}
        self.memory: list[Memory] = []
        self.copied = self.memory.append

    def lost(self, what: str) -> None:
        """Something of the value does not come along."""
        self.losses[what] = None


def pickle_values(values: dict[str, Any], output: _Output, references: References) -> tuple[list[Any], Aside]:
    """Write a pickle of these variables; returns the objects in it that another variable may have in common."""
    references.begin(values)
    pickler = _SessionPickler(output, references)
    pickler.dump(values)
    parts = [value for _, value in pickler.memo.copy().values() if value is not values and _has_identity(value)]
    return parts, pickler.aside


def _has_identity(value: Any) -> bool:
    """Whether it matters that two variables have this very object: not for what is equal and cannot change."""
    kind = type(value)
    if _is_one_of(kind, (*_COPIED, tuple, frozenset, slice)):
        return False
    if issubclass(kind, type) or "__qualname__" in vars(kind):  # A class, or a function of any kind.
        return can_be_made(value) if issubclass(kind, type) else not is_importable(value)
    if isinstance(kind, enum.EnumMeta):
        return False
    if getattr(kind, "__hash__", None) in (None, object.__hash__) or not is_importable(kind):
        return True
    try:
        return hash(value) == id(value) or kind.__name__ == "UntypedStorage"  # Some say what `object` says.
    except TooMuch:
        raise
    except BaseException:  # The user's, or a container whose elements have none.
        return True


def _is_one_of(kind: type, kinds: tuple[type, ...]) -> bool:
    """Whether it is the very type: `in` would ask a metaclass of the user's whether they are equal."""
    return any(kind is one for one in kinds)


class _SessionPickler(pickle.Pickler):
    def __init__(self, output: _Output, references: References) -> None:
        super().__init__(output, protocol=_PROTOCOL)
        self._references = references
        self.aside = Aside(references)
        self._reducers: dict[int, tuple[type, Any]] = {}

    def persistent_id(self, value: Any) -> Any:
        return self._references.reference(value)

    def reducer_override(self, value: Any) -> Any:
        kind = type(value)
        known = self._reducers.get(id(kind))
        if known is None:
            known = self._reducers[id(kind)] = (kind, reducer_for(kind))
        return NotImplemented if known[1] is None else known[1](value, self.aside)
