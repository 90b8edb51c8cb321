"""What a cell did to the namespace, without keeping anything of the user's alive.

Between two looks only fingerprints are held: a weak reference or the id of the object, its type, its size, and for
small plain values the value itself. A name counts as changed when it was bound anew, or when the type, the size or,
in a container, the elements at its ends differ.
"""

from __future__ import annotations

from itertools import takewhile
from types import GetSetDescriptorType, MemberDescriptorType, ModuleType

from .json_safe import type_name
from .stdlib import time, weakref
from .time_limit import limited

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from .flusher import InterruptGuard
    from .given_names import GivenNames

_LISTED = 1000  # More than anybody reads; the host shows fewer, and keeps account of all.
_SMALL_VALUES = (bool, int, float, complex, str, bytes, type(None))
_SEQUENCES = (list, tuple)
_SIZED = (str, bytes, bytearray, list, tuple, dict, set, frozenset, range)
_SIZED_IDS = frozenset(map(id, _SIZED))
_LONGEST_SECONDS = 0.3
_SLOW_SECONDS = 0.05
_IN_C = (GetSetDescriptorType, MemberDescriptorType)
_bases_of = vars(type)["__mro__"].__get__
_attributes_of = vars(type)["__dict__"].__get__


class NamespaceWatch:
    """Compares the namespace with how it was at the last look.

    A look costs time by the number of the user's names, not by the size of the namespace, in which IPython keeps
    every input under a name of its own.
    """

    def __init__(self, namespace: dict[str, Any], given: GivenNames, guard: InterruptGuard | None = None) -> None:
        """`guard` protects what must not be cut off where an object that is asked for its size takes too long."""
        self._namespace = namespace
        self._given = given
        self._sizes = _Sizes(guard)
        self._seen: dict[str, tuple[Any, ...]] = {}
        self._known: set[str] = set()
        self._newest: str = ""
        self._remember()

    def reset(self) -> None:
        """Take what is there now as known: the next look tells what came after."""
        self._seen = {}
        self._remember()

    def changes(self) -> dict[str, Any]:
        """What was added, changed and removed since the last look; at most 1,000 names, those that were there first."""
        namespace, before = self._namespace, self._seen
        names = [*filter(namespace.__contains__, before), *self._new_names()]
        if self._given.values:
            names = self._without_given(names)
        now = self._seen = {name: self._fingerprint(namespace[name]) for name in names}
        added = sorted(name for name in now if name not in before)
        changed = sorted(name for name in now if name in before and not _same(before[name], now[name]))
        removed = sorted(name for name in before if name not in now)
        return self._report(added, changed, removed)

    def everything(self) -> list[dict[str, Any]]:
        """Every name of the user's, in order, as it is now; the next look still compares with the last one."""
        names = [name for name in self._namespace if type(name) is str and name[:1] != "_"]
        return [self.describe(name) for name in sorted(names) if not self._given.is_ours(name)]

    def _new_names(self) -> list[str]:
        """Names that were bound since the last look: a dict keeps them at its end, unless something was deleted."""
        newest, namespace = self._newest, self._namespace
        try:
            new = list(takewhile(lambda name: name != newest, reversed(namespace)))
            only_new = len(namespace) == len(self._known) + len(new) and namespace.keys() >= self._known
            self._known.update(new if only_new else ())
        except BaseException:  # `globals()` takes any key, and one of the user's may not want to be compared.
            only_new = False
        if only_new:
            self._newest = next(reversed(namespace), "")
        else:
            new = list(namespace)
            self._remember()
        new = [name for name in new if type(name) is str and name[:1] != "_"]
        return [name for name in new if name not in self._seen and name not in self._given.of_the_shell]

    def _without_given(self, names: list[str]) -> list[str]:
        """The names that are the user's: also given ones that were bound anew, but none that was given again."""
        rebound, given = self._given.rebound(), self._given.values
        return [name for name in names if name not in given] + [name for name in rebound if name[:1] != "_"]

    def _remember(self) -> None:
        self._known = set(self._namespace)
        self._newest = next(reversed(self._namespace), "")

    def describe(self, name: str) -> dict[str, Any]:
        """One name, with the type and the shape or length of its value."""
        value = self._namespace[name]
        return {"name": name, "type": type_name(value), "size": self._sizes.text(value)}

    def _fingerprint(self, value: Any) -> tuple[Any, ...]:
        kind = type(value)
        if type(kind) is not type:  # A metaclass may say anything of equality: only identity can be asked for.
            return self._fingerprint_of_other(kind, value)
        if kind in _SMALL_VALUES:
            if kind not in (str, bytes) or len(value) <= 256:
                return (kind, value)
            return (kind, id(value), len(value), hash(value))
        if kind in _SEQUENCES:
            return (kind, id(value), len(value), *map(id, value[:8]), *map(id, value[-2:]))
        if kind in (dict, set, frozenset):
            return (kind, id(value), len(value))
        return self._fingerprint_of_other(kind, value)

    def _fingerprint_of_other(self, kind: type, value: Any) -> tuple[Any, ...]:
        try:
            identity: object = weakref.ref(value)
        except TypeError:
            identity = id(value)
        return (kind, identity, "" if kind is ModuleType else self._sizes.text(value))

    def _report(self, added: list[str], changed: list[str], removed: list[str]) -> dict[str, Any]:
        room = _LISTED
        report: dict[str, Any] = {"more": max(0, len(added) + len(changed) + len(removed) - _LISTED)}
        for key, names in (("changed", changed), ("removed", removed), ("added", added)):
            shown = names[:room]
            room -= len(shown)
            report[key] = shown if key == "removed" else [self.describe(name) for name in shown]
        return report


def _same(before: tuple[Any, ...], now: tuple[Any, ...]) -> bool:
    if len(before) != len(now) or before[0] is not now[0]:
        return False
    if len(before) == 3 and isinstance(before[1], weakref.ref):
        return before[1]() is now[1]() and before[2] == now[2]
    if before[0] is float and before[1] != before[1]:
        return bool(now[1] != now[1])  # NaN is not equal to itself, and has not changed.
    return before == now


class _Sizes:
    """Asks values for their shape or length.

    Only plain containers and array-like types are asked: the `__len__` of any other class may be a database query. A
    class whose answer takes long is not asked again.
    """

    def __init__(self, guard: InterruptGuard | None) -> None:
        self._guard = guard
        self._slow: set[int] = set()
        """The ids of classes: one that is made later in the same place has no size then, which harms nobody."""

    def text(self, value: Any) -> str:
        """The shape or the length, as text; empty if there is none, or if it cannot be told in time."""
        kind = type(value)
        if id(kind) in _SIZED_IDS:
            return str(len(value))
        ask, runs_python = _how_to_ask(kind)
        if ask is None or id(kind) in self._slow:
            return ""
        began = time.perf_counter()
        try:
            if not runs_python:
                return ask(value)
            with limited(_LONGEST_SECONDS, self._guard):
                return ask(value)
        except BaseException:  # Code of a library or the user's: whatever it raises, there is no size that can be told.
            return ""
        finally:
            if time.perf_counter() - began > _SLOW_SECONDS:
                self._slow.add(id(kind))


def _how_to_ask(kind: type) -> tuple[Callable[[Any], str] | None, bool]:
    """The question for values of this class, and whether it may run code in Python.

    Runs none itself: classes are compared by their ids, because a metaclass may say anything of equality.
    """
    for base in _bases_of(kind):
        if base is type:  # Its values are classes, which have no size.
            return None, False
        if id(base) in _SIZED_IDS:
            return _length, True
        shape = _attributes_of(base).get("shape")
        if shape is not None:
            return _shape, not isinstance(shape, _IN_C)
    return None, False


def _length(value: Any) -> str:
    return str(len(value))


def _shape(value: Any) -> str:
    shape = value.shape
    if isinstance(shape, tuple) and all(isinstance(side, int) for side in shape):
        return str(tuple(int(side) for side in shape))
    return ""
