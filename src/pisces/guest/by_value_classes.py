"""How classes of the session are reduced to what pickle can take, and made again without running code of the session.

A class is made empty and filled afterwards, because its methods may refer to it. Metaclasses and `__init_subclass__`
of the session ran when the class was defined; what they did is in variables, which come along. They do not run again.
Those of a library do: what they did is in the library, which is imported anew.
"""

from __future__ import annotations

import abc
import copyreg
import enum
import pickle
import sys
import types
import typing

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    Reduced = tuple[Any, ...]

_NAMED_IN_TYPES = {id(value): name for name, value in vars(types).items() if isinstance(value, type)}
MADE_BY_CODE = 1 << 9  # The flag of a class that is no part of a C module: Py_TPFLAGS_HEAPTYPE.
_MADE_WITH_THE_CLASS = (types.MemberDescriptorType, types.GetSetDescriptorType)
_NEEDED_AT_ONCE = ("__slots__", "__orig_bases__", "_member_type_")
_NOT_COPIED = {"__dict__", "__weakref__", "_abc_impl", "__static_attributes__"}
_TYPED_DICT: Any = types.new_class("_", (typing.TypedDict,))  # Its metaclass is private.
_FILLED_LIKE_OTHERS: tuple[type, ...] = (enum.EnumMeta, type(_TYPED_DICT))  # Their code is for a body, not for a copy.


def is_importable(value: Any) -> bool:
    """Whether a function or class can be found again by its module and name."""
    module = sys.modules.get(getattr(value, "__module__", None) or "")
    if module is None or module.__name__ == "__main__":
        return False
    found: Any = module
    for part in value.__qualname__.split("."):
        found = getattr(found, part, None)
    return found is value


def can_be_made(cls: type) -> bool:
    """Whether a class is the session's, and no part of a library or of Python."""
    return bool(cls.__flags__ & MADE_BY_CODE) and not is_importable(cls)


def reduce_class(cls: type, virtual_bases: list[type]) -> Reduced:
    """By its parts. `virtual_bases` are the classes of libraries that it was registered with."""
    if id(cls) in _NAMED_IN_TYPES:
        return getattr, (types, _NAMED_IN_TYPES[id(cls)])
    if not cls.__flags__ & MADE_BY_CODE:
        raise pickle.PicklingError(f"the class {cls.__qualname__!r} cannot be found in {cls.__module__!r}")
    own = vars(cls)
    made_with = {name: own[name] for name in _NEEDED_AT_ONCE if name in own}
    made_with.update(__module__=cls.__module__, __qualname__=cls.__qualname__)
    members = [(name, value, _arguments(member)) for name, value, member in _members(cls)]
    attributes = {
        name: value
        for name, value in own.items()
        if name not in _NOT_COPIED and name not in made_with and not _comes_with(cls, value)
    }
    of_members = [vars(member) for _, _, member in _members(cls)]
    state = (attributes, of_members, _registered_with(cls), virtual_bases)
    meta = None if type(cls) is type(cls.__bases__[0]) else type(cls)  # Those of ctypes have no name to be found by.
    return make_class, (meta, cls.__name__, cls.__bases__, made_with, members), state, None, None, complete_class


def _comes_with(cls: type, value: Any) -> bool:
    kind = type(value)
    if kind.__module__ == "_ctypes":
        return kind.__name__ == "CField"
    return any(kind is one for one in _MADE_WITH_THE_CLASS) and value.__objclass__ is cls


def make_class(
    meta: Any, name: str, bases: tuple[Any, ...], made_with: dict[str, Any], members: list[tuple[Any, ...]]
) -> type:
    """A class without its attributes; an enumeration with its members, which have no attributes either."""
    meta = meta or type(bases[0])
    maker = _maker(meta)
    with _nothing_run_again(bases):
        cls: type = maker.__new__(meta, name, bases, dict(made_with))
        if maker is not type:
            maker.__init__(cls, name, bases, dict(made_with))
    if members:
        type.__setattr__(cls, "_member_map_", {})
        type.__setattr__(cls, "_value2member_map_", {})
        for member_name, value, arguments in members:
            member = cls._member_type_.__new__(cls, *arguments)  # type: ignore[attr-defined]  # Not in typeshed.
            if member_name is None:
                cls._value2member_map_[value] = member  # type: ignore[attr-defined]  # Not in typeshed.
            else:
                cls._member_map_[member_name] = member  # type: ignore[attr-defined]  # Not in typeshed.
    return cls


def complete_class(cls: Any, state: tuple[dict[str, Any], list[dict[str, Any]], list[Any], list[Any]]) -> None:
    """Give a class its methods and other attributes."""
    attributes, of_members, registered, virtual = state
    members = [member for _, _, member in _members(cls)]
    put = type.__setattr__ if isinstance(cls, _FILLED_LIKE_OTHERS) else _maker(type(cls)).__setattr__
    for name, value in attributes.items():
        put(cls, name, value)
    for member, own in zip(members, of_members):
        member.__dict__.update(own)
    for other in registered:
        abc._abc_register(cls, other)  # type: ignore[attr-defined]  # `register` would ask `__subclasshook__`.
    for base in virtual:
        abc._abc_register(base, cls)  # type: ignore[attr-defined]  # Not in typeshed.


def _maker(meta: type) -> Any:
    """The metaclass whose code makes a class of this one: the first that is not the session's."""
    maker = next(kind for kind in meta.__mro__ if not can_be_made(kind))
    return type if any(maker is kind for kind in _FILLED_LIKE_OTHERS) else maker


class _nothing_run_again:  # noqa: N801  # A context manager; contextlib's would need a generator for three lines.
    """`__init_subclass__` of the session is not there while a class is made."""

    def __init__(self, bases: tuple[Any, ...]) -> None:
        kinds = {kind for base in bases for kind in base.__mro__ if "__init_subclass__" in vars(kind)}
        self._hooks = [(kind, vars(kind)["__init_subclass__"]) for kind in kinds if not is_importable(kind)]

    def __enter__(self) -> None:
        for kind, _ in self._hooks:
            type.__delattr__(kind, "__init_subclass__")

    def __exit__(self, *_: object) -> None:
        for kind, hook in self._hooks:
            type.__setattr__(kind, "__init_subclass__", hook)


# --- abstract base classes ---


def _registered_with(cls: type) -> list[type]:
    """The classes that were registered with this one."""
    if not isinstance(cls, abc.ABCMeta):
        return []
    registry = abc._get_dump(cls)[0]  # type: ignore[attr-defined]  # Not in typeshed.
    return [other for other in (reference() for reference in registry) if other is not None]


def registrations() -> dict[int, list[type]]:
    """By the id of a class, the abstract classes of libraries that it was registered with."""
    found: dict[int, list[type]] = {}
    for base in _abstract_classes():
        if is_importable(base):
            for cls in _registered_with(base):
                found.setdefault(id(cls), []).append(base)
    return found


def _abstract_classes() -> Iterator[type]:
    kind: type
    seen: set[int] = set()
    waiting: list[type] = [object]
    while waiting:
        for kind in type.__subclasses__(waiting.pop()):
            if id(kind) not in seen:
                seen.add(id(kind))
                waiting.append(kind)
                if isinstance(kind, abc.ABCMeta):
                    yield kind


# --- enumerations ---


def reduce_member(member: Any) -> Reduced:
    """By its class, and its name there; a combination of flags has only a value."""
    kind = type(member)
    named = kind._member_map_.get(member._name_) is member
    return find_member, (kind, member._name_ if named else None, None if named else member._value_)


def find_member(kind: Any, name: str | None, value: Any) -> Any:
    """The member itself."""
    return kind._value2member_map_[value] if name is None else kind._member_map_[name]


def _members(cls: Any) -> list[tuple[str | None, Any, Any]]:
    """All members of an enumeration, by name, and those without a name by value."""
    if not isinstance(cls, enum.EnumMeta) or "_member_map_" not in vars(cls):
        return []
    named: dict[int, tuple[str | None, Any, Any]] = {}
    for name, member in cls._member_map_.items():
        named.setdefault(id(member), (name, None, member))
    others = [(None, value, member) for value, member in cls._value2member_map_.items() if id(member) not in named]
    return [*named.values(), *others]


def _arguments(member: Any) -> tuple[Any, ...]:
    """What the type that is mixed in makes the member from."""
    kind: Any = type(member)._member_type_
    if kind is object:
        return ()
    function, arguments, *_ = kind.__reduce_ex__(member, 2)
    new_object = copyreg.__newobj__  # type: ignore[attr-defined]  # Not in typeshed.
    return tuple(arguments[1:]) if function is new_object else tuple(arguments)
