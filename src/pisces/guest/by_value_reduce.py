"""How objects that pickle cannot take are reduced to ones that it can: functions, classes and files of the session.

Each `reduce_…` returns what `object.__reduce__` would; the functions that build the object again stand below them and
are found by name in the kernel that loads, which runs the same version of Python.
"""

from __future__ import annotations

import builtins
import dataclasses
import enum
import functools
import importlib
import io
import marshal
import pickle
import stat
import subprocess
import sys
import types
import typing

from .stdlib import os, threading

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    Reduced = tuple[Any, ...]

_FIELD_MARKS = {
    id(value): name
    for name, value in vars(dataclasses).items()
    if type(value).__name__ in {"_FIELD_BASE", "_MISSING_TYPE", "_KW_ONLY_TYPE", "_HAS_DEFAULT_FACTORY_CLASS"}
}
_NAMED_IN_TYPES = {value: name for name, value in vars(types).items() if isinstance(value, type)}
_MADE_BY_CODE = 1 << 9  # The flag of a class that is no part of a C module: Py_TPFLAGS_HEAPTYPE.
_LOCK = type(threading.Lock())
_RLOCK = type(threading.RLock())
_MADE_WITH_THE_CLASS = (types.MemberDescriptorType, types.GetSetDescriptorType)
_NOT_COPIED = {"__dict__", "__weakref__", "_abc_impl", "__abstractmethods__", "__static_attributes__"}


def reduce_special(value: Any) -> Reduced | None:
    """Objects that mean something to this process only, or that pickle does not know; None for all others."""
    if isinstance(value, (threading.Thread, subprocess.Popen)):
        what = "a thread" if isinstance(value, threading.Thread) else "a child process"
        raise pickle.PicklingError(f"{what} belongs to the process that started it")
    special = _SPECIAL.get(type(value))
    if special is not None:
        return special(value)
    if id(value) in _FIELD_MARKS:
        return getattr, (dataclasses, _FIELD_MARKS[id(value)])
    return None


def is_importable(value: Any) -> bool:
    """Whether a function or class can be found again by its module and name."""
    module = sys.modules.get(getattr(value, "__module__", None) or "")
    if module is None or module.__name__ == "__main__":
        return False
    found: Any = module
    for part in value.__qualname__.split("."):
        found = getattr(found, part, None)
    return found is value


def reduce_module(module: types.ModuleType) -> Reduced:
    """By import, under the name it goes by here."""
    if sys.modules.get(module.__name__) is not module:
        raise pickle.PicklingError(f"the module {module.__name__!r} was made in the session and cannot be imported")
    return importlib.import_module, (module.__name__,)


def reduce_function(function: types.FunctionType, scope: dict[str, Any]) -> Reduced:
    """By its code. `scope` is what it will have as globals: the namespace itself, or the part that it refers to."""
    made_from = (marshal.dumps(function.__code__), scope, function.__name__, function.__defaults__)
    attributes = {
        "__kwdefaults__": function.__kwdefaults__,
        "__annotations__": function.__annotations__,
        "__qualname__": function.__qualname__,
        "__module__": function.__module__,
        "__doc__": function.__doc__,
    }
    state = (attributes, function.__dict__)
    return make_function, (*made_from, function.__closure__), state, None, None, complete_function


def referenced_globals(function: types.FunctionType) -> dict[str, Any]:
    """The globals that a function and those inside it name."""
    names: set[str] = set()
    codes = [function.__code__]
    while codes:
        code = codes.pop()
        names.update(code.co_names)
        codes += [constant for constant in code.co_consts if isinstance(constant, types.CodeType)]
    return {name: value for name, value in function.__globals__.items() if name in names}


def reduce_class(cls: type) -> Reduced:
    """By its parts. The class is made empty and filled afterwards, because its methods may refer to it."""
    if cls in _NAMED_IN_TYPES:
        return getattr, (types, _NAMED_IN_TYPES[cls])
    if not cls.__flags__ & _MADE_BY_CODE:
        raise pickle.PicklingError(f"the class {cls.__qualname__!r} cannot be found in {cls.__module__!r}")
    if isinstance(cls, enum.EnumMeta):
        return _reduce_enum(cls)
    made_with: dict[str, Any] = {"__module__": cls.__module__, "__qualname__": cls.__qualname__}
    made_with.update({name: vars(cls)[name] for name in ("__slots__", "__orig_bases__") if name in vars(cls)})
    attributes = {
        name: value
        for name, value in vars(cls).items()
        if name not in _NOT_COPIED and name not in made_with and not isinstance(value, _MADE_WITH_THE_CLASS)
    }
    return make_class, (type(cls), cls.__name__, cls.__bases__, made_with), attributes, None, None, complete_class


def _reduce_enum(cls: enum.EnumMeta) -> Reduced:
    members: dict[str, Any] = {name: getattr(cls, name).value for name in cls.__members__}
    own: dict[str, Any] = {
        name: value
        for name, value in vars(cls).items()
        if isinstance(value, (types.FunctionType, property, classmethod, staticmethod))
        and getattr(enum.Enum, name, None) is not value
        and name not in {"__new__", "__format__", "__repr__", "__str__", "__reduce_ex__", "_generate_next_value_"}
    }
    own = {"__module__": cls.__module__, "__qualname__": cls.__qualname__, **own}
    return make_enum, (type(cls), cls.__name__, cls.__bases__, members, own)


def _reduce_cell(cell: types.CellType) -> Reduced:
    try:
        return types.CellType, (), cell.cell_contents, None, None, fill_cell
    except ValueError:
        return types.CellType, ()


def _reduce_cached(function: Any) -> Reduced | None:
    """A function behind `lru_cache`, with an empty cache."""
    return None if is_importable(function) else (make_cached, (function.__wrapped__, function.cache_parameters()))


def _reduce_typevar(variable: Any) -> Reduced:
    kinds = {"covariant": variable.__covariant__, "contravariant": variable.__contravariant__}
    return make_typevar, (variable.__name__, variable.__constraints__, {"bound": variable.__bound__, **kinds})


def _reduce_file(file: Any) -> Reduced:
    """A plain file that is open for reading is opened again, where it stands; others mean something only here."""
    raw = file if isinstance(file, io.FileIO) else getattr(file, "buffer", file).raw
    path = raw.name
    if file.closed or not raw.readable() or raw.writable() or not isinstance(path, (str, bytes)):
        raise pickle.PicklingError("only a file that is open for reading can be opened again")
    if not stat.S_ISREG(os.fstat(raw.fileno()).st_mode):
        raise pickle.PicklingError("a pipe, a socket or a device cannot be opened again")
    text = {"encoding": file.encoding, "errors": file.errors} if isinstance(file, io.TextIOBase) else {}
    mode = "r" if text else "rb"
    unbuffered = {"buffering": 0} if file is raw else {}
    return reopen, (os.path.abspath(path), mode, file.tell(), {**text, **unbuffered})


def _refuse_view(view: memoryview) -> Reduced:
    raise pickle.PicklingError("a view of memory that belongs to another object")  # cloudpickle would make bytes of it.


_SPECIAL: dict[type, Callable[[Any], Reduced | None]] = {
    memoryview: _refuse_view,
    _LOCK: lambda lock: (threading.Lock, ()),  # Who held it is not there any more.
    _RLOCK: lambda lock: (threading.RLock, ()),
    types.CellType: _reduce_cell,
    types.CodeType: lambda code: (marshal.loads, (marshal.dumps(code),)),
    types.MappingProxyType: lambda proxy: (types.MappingProxyType, (dict(proxy),)),
    property: lambda made: (property, (made.fget, made.fset, made.fdel, made.__doc__)),
    classmethod: lambda made: (classmethod, (made.__func__,)),
    staticmethod: lambda made: (staticmethod, (made.__func__,)),
    io.TextIOWrapper: _reduce_file,
    io.BufferedReader: _reduce_file,
    io.FileIO: _reduce_file,
    typing.TypeVar: _reduce_typevar,
    type(functools.lru_cache(len)): _reduce_cached,
}


def make_function(code: bytes, scope: dict[str, Any], name: str, defaults: Any, closure: Any) -> types.FunctionType:
    """A function that is still to be completed; what its scope is depends on whose it was."""
    scope.setdefault("__builtins__", vars(builtins))  # Not ours, which only our modules have.
    return types.FunctionType(marshal.loads(code), scope, name, defaults, closure)


def complete_function(function: types.FunctionType, state: tuple[dict[str, Any], dict[str, Any]]) -> None:
    """Give a function the attributes it had."""
    attributes, own = state
    for name, value in attributes.items():
        setattr(function, name, value)
    function.__dict__.update(own)


def make_class(meta: type, name: str, bases: tuple[Any, ...], made_with: dict[str, Any]) -> type:
    """A class without its attributes."""
    return types.new_class(name, bases, {"metaclass": meta}, lambda body: body.update(made_with))


def complete_class(cls: type, attributes: dict[str, Any]) -> None:
    """Give a class its methods and other attributes."""
    for name, value in attributes.items():
        setattr(cls, name, value)
    if hasattr(cls, "__abstractmethods__"):
        abstract = {name for name in dir(cls) if getattr(getattr(cls, name, None), "__isabstractmethod__", False)}
        cls.__abstractmethods__ = frozenset(abstract)


def make_enum(meta: Any, name: str, bases: tuple[Any, ...], members: dict[str, Any], own: dict[str, Any]) -> type:
    """An enumeration with its members and methods."""
    body = meta.__prepare__(name, bases)
    for key, value in {**own, **members}.items():
        body[key] = value
    made: type = meta(name, bases, body)
    return made


def make_cached(function: Any, parameters: dict[str, Any]) -> Any:
    """A function with a cache of its own."""
    return functools.lru_cache(**parameters)(function)


def make_typevar(name: str, constraints: tuple[Any, ...], options: dict[str, Any]) -> Any:
    """A type variable like the other one."""
    return typing.TypeVar(name, *constraints, **options)


def fill_cell(cell: types.CellType, contents: Any) -> None:
    """Put into the cell of a closure what it held."""
    cell.cell_contents = contents


def reopen(path: str, mode: str, position: int, options: dict[str, Any]) -> Any:
    """A file as it was: open for reading, at its position."""
    file = open(path, mode, **options)  # noqa: SIM115  # The options have the encoding; the user closes it.
    file.seek(position)
    return file
