"""What variables hold, some levels deep, found without running any code of the objects that are looked at.

Attributes are read from instance dictionaries and slots, containers through the methods of the built-in types. So no
property, `__getattr__`, `__iter__` or metaclass of the user's takes part. What only C code holds is left alone: it may
be half made, and reading the inner list of an `ElementTree.TreeBuilder`, which has holes, ends the process.
"""

from __future__ import annotations

from collections import deque
from itertools import islice
from types import (
    AsyncGeneratorType,
    BuiltinFunctionType,
    CodeType,
    CoroutineType,
    FrameType,
    FunctionType,
    GeneratorType,
    GetSetDescriptorType,
    MappingProxyType,
    MemberDescriptorType,
    ModuleType,
    TracebackType,
)

from .stdlib import gc, time, weakref

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from typing import Any

    Judge = Callable[[Any], "str | None"]

_LEVELS = 4  # An element of a container is on the level of the container.
_INSIDE = 100  # So many elements of a container are looked at.
_MOST_OBJECTS = 10_000
_SECONDS = 0.05
_LONGEST_KEY = 30
_NAMED = 2  # So many lost parts of one object.

_PAUSED = frozenset(map(id, (GeneratorType, CoroutineType, AsyncGeneratorType)))

_OURS = (__package__ or "") + "."
_LEAVES = frozenset(
    map(
        id,
        (
            *(bool, int, float, complex, str, bytes, bytearray, memoryview, range, slice, type(None)),
            *(ModuleType, CodeType, FrameType, TracebackType, MappingProxyType, BuiltinFunctionType),
            *(weakref.ref, weakref.ProxyType, weakref.CallableProxyType),
        ),
    )
)
_mro_of = type.__dict__["__mro__"].__get__
_dict_of = type.__dict__["__dict__"].__get__
_variables_of: Any = ModuleType.__dict__["__dict__"].__get__  # type: ignore[index]  # A mapping proxy, not a dict.
_module_of = type.__dict__["__module__"].__get__


def search(roots: Iterable[tuple[str, Any]], judge: Judge) -> dict[str, str]:
    """What is lost of each named object, as `what`, or as `what: where` for its parts, the nearest ones first.

    `judge` returns what is lost of an object, an empty text to have its inside looked at, None to have it left alone.
    All objects of one level come before those of the next, so that a big one does not take the time of the others.
    """
    found: dict[str, list[str]] = {}
    seen: set[tuple[str, int]] = set()
    plans: dict[int, _Plan | None] = {}
    waiting = deque((name, name, value, 0) for name, value in roots)
    until = time.thread_time() + _SECONDS  # What `judge` waits for does not count.
    while waiting and len(seen) < _MOST_OBJECTS and (len(seen) % 64 or time.thread_time() < until):
        name, path, value, level = waiting.popleft()
        kind = type(value)
        if id(kind) not in plans:
            plans[id(kind)] = _plan(kind)
        plan = plans[id(kind)]
        if plan is None or (name, id(value)) in seen:
            continue
        seen.add((name, id(value)))
        what = judge(value)
        if what:
            found.setdefault(name, []).append(what if path == name else f"{what}: {path}")
        elif what is not None:
            for label, inner, deeper in plan.inside(value):
                if level + deeper <= _LEVELS:
                    waiting.append((name, path + label, inner, level + deeper))
    return {name: "; ".join([*parts[:_NAMED], *["and more"][: len(parts) - _NAMED]]) for name, parts in found.items()}


def classes_of(kind: type) -> tuple[type, ...]:
    """A class and its bases, in order; a metaclass is not asked."""
    return _mro_of(kind)  # type: ignore[no-any-return]


def attribute(value: Any, name: str) -> Any:
    """What the instance dictionary of an object has under this name; None if nothing."""
    return dictionary_of(value).get(name)


def dictionary_of(value: Any) -> dict[str, Any]:
    """The instance dictionary of an object; empty if it has none."""
    return _Plan(type(value)).own_dictionary(value)


def variables_of(module: Any) -> dict[str, Any]:
    """The variables of a module; empty for what only stands in its place."""
    try:
        return _variables_of(module)  # type: ignore[no-any-return]
    except TypeError:
        return {}


class _Plan:
    """How to look inside the objects of a class."""

    def __init__(self, kind: type) -> None:
        self._kind = kind
        mro = _mro_of(kind)
        # By ids, as a metaclass may say anything of equality.
        self._read_elements = next((_READERS[id(base)] for base in mro if id(base) in _READERS), None)
        self._dictionary: Any = None
        self._slots: list[tuple[str, Any]] = []
        for base in mro:
            for name, member in _dict_of(base).items():
                if type(name) is not str:
                    continue
                if type(member) is MemberDescriptorType:
                    self._slots.append((name, member))
                elif name == "__dict__" and type(member) is GetSetDescriptorType:
                    self._dictionary = self._dictionary or member

    def own_dictionary(self, value: Any) -> dict[str, Any]:
        """What its instance dictionary has; empty if it has none of the plain kind."""
        try:
            own = self._dictionary.__get__(value) if self._dictionary else {}
        except (AttributeError, TypeError):
            return {}
        return own if type(own) is dict else {}

    def inside(self, value: Any) -> Iterator[tuple[str, Any, int]]:
        """The label of each part in a path, the part, and whether it is one level deeper."""
        own = self.own_dictionary(value)
        for name, part in list(own.items()):
            yield f".{name}" if type(name) is str else "[...]", part, 1
        for name, member in self._slots:
            try:
                yield f".{name}", member.__get__(value), 1
            except (AttributeError, TypeError):
                pass  # An empty slot.
        if self._read_elements is not None:
            for label, part in self._read_elements(value):
                yield label, part, 0
        elif self._kind is FunctionType:
            yield from _in_closure(value)
        elif id(self._kind) in _PAUSED:
            for part in gc.get_referents(value):  # In the order of the local variables, without their names.
                yield "[...]", part, 1


def _plan(kind: type) -> _Plan | None:
    """None for classes whose objects hold nothing of the user's that can be lost."""
    if id(kind) in _LEAVES or any(base is type or base is ModuleType for base in _mro_of(kind)):
        return None
    module = _module_of(kind)
    return None if type(module) is str and module.startswith(_OURS) else _Plan(kind)


def _in_closure(function: FunctionType) -> Iterator[tuple[str, Any, int]]:
    for name, cell in zip(function.__code__.co_freevars, function.__closure__ or ()):
        try:
            yield f"[{name}]", cell.cell_contents, 1
        except ValueError:
            pass  # An empty cell.


def _in_dict(value: Any) -> Iterator[tuple[str, Any]]:
    if "__builtins__" in dict.keys(value):
        return  # The variables of a module, perhaps those that the search began with.
    for key, part in list(islice(dict.items(value), _INSIDE)):
        plain = type(key) is int or (type(key) is str and len(key) <= _LONGEST_KEY)
        yield f"[{key!r}]" if plain else "[...]", part


def _in_sequence(base: Any) -> Callable[[Any], Iterator[tuple[str, Any]]]:
    return lambda value: ((f"[{index}]", part) for index, part in enumerate(islice(base.__iter__(value), _INSIDE)))


def _in_others(base: Any) -> Callable[[Any], Iterator[tuple[str, Any]]]:
    return lambda value: (("[...]", part) for part in list(islice(base.__iter__(value), _INSIDE)))


_READERS: dict[int, Callable[[Any], Iterator[tuple[str, Any]]]] = {
    id(dict): _in_dict,
    **{id(kind): _in_sequence(kind) for kind in (list, tuple)},
    **{id(kind): _in_others(kind) for kind in (set, frozenset, deque)},
}
