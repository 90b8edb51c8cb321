"""Pickling one variable of the session, with references to the others in place of copies of them.

Every object that is itself the value of a variable is written as that variable's name, so that variables which refer
to each other still do when they are loaded, and a function has the new namespace as its globals. cloudpickle, where the
user has it, knows more kinds of classes than we do; functions of the session stay ours, because it would give each
of them globals of its own.
"""

from __future__ import annotations

import importlib
import pickle
import types

from . import by_value_reduce as reduce
from .by_value_limits import TooMuch

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection
    from typing import Any, Protocol

    class _Output(Protocol):
        def write(self, data: bytes, /) -> object: ...


NAMESPACE = 0
"""The reference that stands for the namespace itself; those to variables are their names."""

_PROTOCOL = 5  # From here on it is written in frames, so that a limit holds while a big object is on its way.
_COPIED = (bool, int, float, complex, str, bytes, type(None), types.ModuleType, types.BuiltinFunctionType)


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
        self._members: Collection[str] = ()
        self.used: set[str] = set()

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
            return None
        if name not in self._remade:
            self.used.add(name)
        return name


def pickle_values(values: dict[str, Any], output: _Output, references: References) -> list[Any]:
    """Write a pickle of these variables; returns the objects in it that another variable may have in common."""
    references.begin(values)
    pickler = _pickler(output, references)
    pickler.dump(values)
    return [value for _, value in pickler.memo.copy().values() if value is not values and _has_identity(value)]


def _has_identity(value: Any) -> bool:
    """Whether it matters that two variables have this very object: not for what is equal and cannot change."""
    kind = type(value)
    if _is_one_of(kind, (*_COPIED, tuple, frozenset)) or issubclass(kind, (type, types.FunctionType)):
        return issubclass(kind, type) and not reduce.is_importable(value)
    if getattr(kind, "__hash__", None) in (None, object.__hash__):
        return True
    try:
        return hash(value) == id(value)  # Some say with their own words what `object` says.
    except TooMuch:
        raise
    except BaseException:  # The user's, or a container whose elements have none.
        return True


def _is_one_of(kind: type, kinds: tuple[type, ...]) -> bool:
    """Whether it is the very type: `in` would ask a metaclass of the user's whether they are equal."""
    return any(kind is one for one in kinds)


def _pickler(output: _Output, references: References) -> Any:
    try:
        cloudpickle: Any = importlib.import_module("cloudpickle")
    except Exception:  # Not there, or broken: ours does.
        return _SessionPickler(output, references)

    class CloudSessionPickler(cloudpickle.CloudPickler):  # type: ignore[misc]  # Not installed where this is checked.
        def reducer_override(self, value: Any) -> Any:
            reduced = _reduce_ours(value, references)
            return super().reducer_override(value) if reduced is None else reduced

        def persistent_id(self, value: Any) -> Any:
            return references.reference(value)

    return CloudSessionPickler(output, protocol=_PROTOCOL)


class _SessionPickler(pickle.Pickler):
    """On the standard library alone."""

    def __init__(self, output: _Output, references: References) -> None:
        super().__init__(output, protocol=_PROTOCOL)
        self._references = references

    def reducer_override(self, value: Any) -> Any:
        reduced = _reduce_ours(value, self._references)
        if reduced is not None:
            return reduced
        if isinstance(value, types.FunctionType) and not reduce.is_importable(value):
            return reduce.reduce_function(value, reduce.referenced_globals(value))
        if isinstance(value, type) and value is not type(None) and not reduce.is_importable(value):
            return reduce.reduce_class(value)
        return NotImplemented

    def persistent_id(self, value: Any) -> Any:
        return self._references.reference(value)


def _reduce_ours(value: Any, references: References) -> Any:
    if type(value) is types.FunctionType and value.__globals__ is references.namespace:
        return reduce.reduce_function(value, references.namespace)
    if type(value) is types.ModuleType and value.__dict__ is not references.namespace:
        return reduce.reduce_module(value)
    return reduce.reduce_special(value)
