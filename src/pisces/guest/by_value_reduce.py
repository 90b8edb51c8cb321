"""How objects that pickle cannot take, or would change, are reduced to ones that it can.

Each `_reduce_…` returns what `object.__reduce__` would. The functions that build the object again are found by name in
the kernel that loads, which runs the same version of Python. What an object loses is noted with `aside.lost`.
"""

from __future__ import annotations

import builtins
import collections
import enum
import functools
import gc
import importlib
import io
import logging
import marshal
import pickle
import stat
import subprocess
import sys
import types
import typing
import weakref

from . import by_value_memory
from .by_value_classes import MADE_BY_CODE, can_be_made, is_importable, reduce_class, reduce_member
from .stdlib import os, threading

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from .by_value_pickler import Aside

    Reduced = tuple[Any, ...]
    Reducer = Callable[[Any, Aside], Any]


def reducer_for(kind: type) -> Reducer | None:
    """What reduces the instances of a class; None where pickle does it right. To be asked once for each class."""
    for known, reducer in _BY_TYPE:
        if kind is known:
            return reducer
    if isinstance(kind, enum.EnumMeta):
        return None if is_importable(kind) else lambda member, aside: reduce_member(member)
    for known, reducer in _BY_BASE:
        if issubclass(kind, known):
            return reducer
    return by_value_memory.reducer_for(kind) or (_reduce_instance if _runs_own_code(kind) else None)


# --- modules, functions, and what they are made of ---


def _reduce_module(module: types.ModuleType, aside: Aside) -> Reduced:
    """By import, under the name it goes by here; one that was made in the session, by what is in it."""
    name = module.__name__
    registered = sys.modules.get(name) is module
    if registered and (module.__spec__ is not None or name == "__main__" or type(module) is not types.ModuleType):
        return importlib.import_module, (name,)
    if type(module) is not types.ModuleType:
        raise pickle.PicklingError(f"the module {name!r} was made in the session and cannot be imported")
    return _make_module, (name, registered), vars(module), None, None, _fill_module


def _make_module(name: str, registered: bool) -> types.ModuleType:
    made = types.ModuleType(name)
    return sys.modules.setdefault(name, made) if registered else made


def _fill_module(module: types.ModuleType, contents: dict[str, Any]) -> None:
    vars(module).update(contents)


def _reduce_function(function: types.FunctionType, aside: Aside) -> Any:
    """By its code, with the globals that it shares with others."""
    if is_importable(function):
        return NotImplemented
    scope, needed = _scope(function, aside)
    names = ("__kwdefaults__", "__annotations__", "__qualname__", "__module__", "__doc__", "__type_params__")
    attributes = {name: getattr(function, name) for name in names if hasattr(function, name)}
    made_from = (marshal.dumps(function.__code__), scope, function.__name__, function.__defaults__)
    state = (attributes, function.__dict__, needed)
    return _make_function, (*made_from, function.__closure__), state, None, None, _fill_function


def _scope(function: types.FunctionType, aside: Aside) -> tuple[Any, dict[str, Any]]:
    """The globals of a function, or the module they belong to; or something in their place, and what it needs of them.

    What only functions can get at may be large, and may have what cannot be saved: a copy of the whole namespace.
    """
    scope = function.__globals__
    if aside.reference(scope) is not None:
        return scope, {}
    if id(scope) not in aside.scopes:
        stands_for_it: Any = {}
        for found in gc.get_referrers(scope) if scope.get("__spec__") is None else ():  # Else it is a library's.
            if type(found) is types.ModuleType and vars(found) is scope:
                stands_for_it = found
                break
            if not issubclass(type(found), _USERS_OF_GLOBALS):
                stands_for_it = scope
        aside.scopes[id(scope)] = (scope, stands_for_it)
    _, stands_for_it = aside.scopes[id(scope)]
    return stands_for_it, _referenced(function) if type(stands_for_it) is dict and stands_for_it is not scope else {}


_USERS_OF_GLOBALS = (types.FunctionType, types.FrameType, types.GeneratorType, types.CoroutineType)


def _referenced(function: types.FunctionType) -> dict[str, Any]:
    """The globals that a function and those inside it name."""
    names: set[str] = set()
    codes = [function.__code__]
    while codes:
        code = codes.pop()
        names.update(code.co_names)
        codes += [constant for constant in code.co_consts if isinstance(constant, types.CodeType)]
    return {name: value for name, value in function.__globals__.items() if name in names or name == "__name__"}


def _make_function(code: bytes, scope: Any, name: str, defaults: Any, closure: Any) -> types.FunctionType:
    if isinstance(scope, types.ModuleType):
        scope = vars(scope)
    scope.setdefault("__builtins__", vars(builtins))  # Not ours, which only our modules have.
    return types.FunctionType(marshal.loads(code), scope, name, defaults, closure)


def _fill_function(function: types.FunctionType, state: tuple[dict[str, Any], dict[str, Any], dict[str, Any]]) -> None:
    attributes, own, needed = state
    function.__globals__.update(needed)
    for name, value in attributes.items():
        setattr(function, name, value)
    function.__dict__.update(own)


def _reduce_cell(cell: types.CellType, aside: Aside) -> Reduced:
    try:
        return types.CellType, (), (cell.cell_contents,), None, None, _fill_cell  # No state means none to set.
    except ValueError:
        return types.CellType, ()


def _fill_cell(cell: types.CellType, contents: tuple[Any]) -> None:
    (cell.cell_contents,) = contents


def _reduce_cached(function: Any, aside: Aside) -> Any:
    """A function behind `lru_cache`."""
    if is_importable(function):
        return NotImplemented
    if function.cache_info().currsize:
        aside.lost("what it had cached")
    made_from = (function.__wrapped__, function.cache_parameters())
    return _make_cached, made_from, vars(function), None, None, _fill_cached


def _make_cached(function: Any, parameters: dict[str, Any]) -> Any:
    return functools.lru_cache(**parameters)(function)


def _fill_cached(function: Any, own: dict[str, Any]) -> None:
    function.__dict__.update(own)


def _reduce_wrapper(made: Any, aside: Aside) -> Any:
    """A property, a class method or a static method, or a kind of these."""
    kind = type(made)
    if issubclass(kind, property):
        made_from: tuple[Any, ...] = (made.fget, made.fset, made.fdel, made.__doc__)
    else:
        made_from = (made.__func__,)
    own = {name: value for name, value in getattr(made, "__dict__", {}).items() if name not in _COPIED_FROM_FUNCTION}
    return (kind, made_from, own) if own else (kind, made_from)


_COPIED_FROM_FUNCTION = {*functools.WRAPPER_ASSIGNMENTS, "__wrapped__", "__doc__"}


def _reduce_method(method: Any, aside: Aside) -> Any:
    """By its function: under the function's name, the object may have another one.

    Modules have methods of a hidden object as functions: `random.shuffle`.
    """
    owner, name = method.__self__, str(method.__name__)
    module = sys.modules.get(type(owner).__module__)
    if type(owner) is not types.ModuleType and getattr(module, name, None) is method:
        return getattr, (module, name)
    return (types.MethodType, (method.__func__, owner)) if type(method) is types.MethodType else NotImplemented


def _reduce_typevar(variable: Any, aside: Aside) -> Reduced:
    kinds = {"covariant": variable.__covariant__, "contravariant": variable.__contravariant__}
    return _make_typevar, (variable.__name__, variable.__constraints__, {"bound": variable.__bound__, **kinds})


def _make_typevar(name: str, constraints: tuple[Any, ...], options: dict[str, Any]) -> Any:
    return typing.TypeVar(name, *constraints, **options)


def _reduce_named_type(made: Any, aside: Aside) -> Reduced:
    """`NewType` and the like, which pickle looks for in their module."""
    supertype = (made.__supertype__,) if hasattr(made, "__supertype__") else ()
    own = {name: value for name, value in getattr(made, "__dict__", {}).items() if name != "__supertype__"}
    return type(made), (made.__name__, *supertype), own


# --- views of containers, and weak references ---


def _reduce_proxy(proxy: Any, aside: Aside) -> Reduced:
    """With the mapping itself, not a copy of it."""
    return types.MappingProxyType, (gc.get_referents(proxy)[0],)


def _reduce_dict_view(view: Any, aside: Aside) -> Reduced:
    return getattr(dict, type(view).__name__.partition("_")[2]), (gc.get_referents(view)[0],)


def _reduce_reference(reference: Any, aside: Aside) -> Reduced:
    value = reference() if isinstance(reference, weakref.ref) else reference.__init__.__self__
    if value is None:
        return _make_dead_reference, (type(reference),)
    callback = () if getattr(reference, "__callback__", None) is None else (reference.__callback__,)
    return _reference_maker(type(reference)), (value, *callback)


def _reference_maker(kind: type) -> Any:
    return weakref.proxy if kind in weakref.ProxyTypes else kind


class _Gone:
    """Something to refer to that is not there any more."""

    def method(self) -> None:
        """What a `WeakMethod` can refer to."""


def _make_dead_reference(kind: Any) -> Any:
    return kind(_Gone().method if issubclass(kind, weakref.WeakMethod) else _Gone())


def _reduce_weak(container: Any, aside: Aside) -> Reduced:
    """A weak set or dictionary: what it refers to is held by others."""
    kind = type(container)
    contents = list(container.items()) if hasattr(container, "items") else list(container)
    own = {name: value for name, value in vars(container).items() if name not in vars(kind())}
    return kind, (), (contents, own), None, None, _fill_weak


def _fill_weak(container: Any, state: tuple[list[Any], dict[str, Any]]) -> None:
    contents, own = state
    container.update(contents)
    container.__dict__.update(own)


def _reduce_finalizer(finalizer: Any, aside: Aside) -> Reduced:
    waits_for = finalizer.peek()
    if waits_for is None:
        return _make_finalizer, (_Gone(), int, (), {}, True)
    return _make_finalizer, (*waits_for, finalizer.atexit)


def _make_finalizer(value: Any, function: Any, arguments: Any, options: Any, atexit: bool) -> Any:
    made = weakref.finalize(value, function, *arguments, **options)
    made.atexit = atexit
    return made


# --- instances of classes of the session ---

_RUN_BY_PICKLE = ("__new__", "__init__", "__setattr__", "__setitem__", "append", "extend")
_OF_THE_USER = ("__reduce__", "__reduce_ex__", "__getnewargs__", "__getnewargs_ex__")


def _runs_own_code(kind: type) -> bool:
    """Whether pickle would run methods of the session to make an instance, which once have run already."""
    own = [vars(known) for known in kind.__mro__ if can_be_made(known)]
    base = _base(kind)
    names = _RUN_BY_PICKLE if base is not object else ("__new__", "__setattr__")
    if not any(name in known for known in own for name in names):
        return False
    if any(getattr(kind, name, None) != getattr(base, name, None) for name in _OF_THE_USER):
        return False  # That is how they want it.
    in_python = (isinstance(getattr(base, name, None), types.FunctionType) for name in _OF_THE_USER)
    return base is collections.Counter or not any(in_python)


def _base(kind: type) -> Any:
    """The first class of Python's or a library's that a class is derived from."""
    return next(known for known in kind.__mro__ if not can_be_made(known))


def _reduce_instance(value: Any, aside: Aside) -> Any:
    """With the methods of what its class is derived from."""
    kind, base = type(value), _base(type(value))
    function, arguments, *rest = value.__reduce_ex__(4)
    state, items, pairs = (*rest, None, None, None)[:3]
    if function is not kind:  # Else it is `copyreg.__newobj__`, whose first argument is the class.
        arguments = arguments[1:]
    made_from = (base, kind, arguments, function is kind and base.__init__ is not object.__init__)
    contents = (base, state, items and list(items), pairs and list(pairs))
    return _make_instance, made_from, contents, None, None, _fill_instance


def _make_instance(base: Any, kind: Any, arguments: tuple[Any, ...], begin: bool) -> Any:
    made = base.__new__(kind, *arguments)
    if begin:
        base.__init__(made, *arguments)
    return made


def _fill_instance(made: Any, contents: tuple[Any, Any, Any, Any]) -> None:
    base, state, items, pairs = contents
    if items:
        base.extend(made, items)
    for key, value in pairs or ():
        base.__setitem__(made, key, value)
    if state is None:
        return
    if hasattr(made, "__setstate__"):
        made.__setstate__(state)
        return
    attributes, slots = state if isinstance(state, tuple) else (state, None)
    if attributes:
        made.__dict__.update(attributes)
    for name, value in (slots or {}).items():
        object.__setattr__(made, name, value)


# --- exceptions ---


def _reduce_exception(error: BaseException, aside: Aside) -> Any:
    """With its cause and its context. Classes of the session are not called: their parameters are not known."""
    kind = type(error)
    base: Any = next(known for known in kind.__mro__ if not known.__flags__ & MADE_BY_CODE)
    if kind.__reduce__ is base.__reduce__ and kind.__reduce_ex__ is base.__reduce_ex__:
        reduced = base.__reduce__(error)
        made_from: Any = (_make_exception, (kind, base, reduced[1]))
    else:
        reduced = error.__reduce_ex__(5)
        if isinstance(reduced, str) or len(reduced) > 3:
            return reduced
        made_from = reduced[:2]
    if error.__traceback__ is not None:
        aside.lost("its traceback")
    chain = (error.__cause__, error.__context__, error.__suppress_context__)
    return (*made_from, (reduced[2] if len(reduced) > 2 else None, chain), None, None, _complete_exception)


def _make_exception(kind: Any, base: Any, arguments: tuple[Any, ...]) -> BaseException:
    made: BaseException = base.__new__(kind, *arguments)
    base.__init__(made, *arguments)
    return made


def _complete_exception(error: Any, state: tuple[Any, tuple[Any, Any, bool]]) -> None:
    own, (cause, context, suppress) = state
    if own is not None:
        error.__setstate__(own)
    error.__cause__, error.__context__, error.__suppress_context__ = cause, context, suppress


# --- what belongs to this process ---


def _refuse_thread(thread: Any, aside: Aside) -> Reduced:
    what = "a thread" if isinstance(thread, threading.Thread) else "a child process"
    raise pickle.PicklingError(f"{what} belongs to the process that started it")


def _refuse_view(view: memoryview, aside: Aside) -> Reduced:
    raise pickle.PicklingError("a view of memory that belongs to another object")


def _reduce_lock(lock: Any, aside: Aside) -> Reduced:
    """Free: who held it is not there any more."""
    if _is_held(lock):
        aside.lost("who held its lock: it is free now")
    return (threading.RLock if isinstance(lock, _RLOCK) else threading.Lock), ()


def _is_held(lock: Any) -> bool:
    return repr(lock).startswith("<locked") if isinstance(lock, _RLOCK) else bool(lock.locked())


def _reduce_condition(condition: Any, aside: Aside) -> Reduced:
    """Without those that waited for it."""
    own = dict(vars(condition))
    own["_waiters"] = type(own["_waiters"])()
    return object.__new__, (type(condition),), own


def _reduce_file(file: Any, aside: Aside) -> Reduced:
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
    return _reopen, (os.path.abspath(path), mode, file.tell(), {**text, **unbuffered})


def _reopen(path: str, mode: str, position: int, options: dict[str, Any]) -> Any:
    file = open(path, mode, **options)  # noqa: SIM115  # The options have the encoding; the user closes it.
    file.seek(position)
    return file


def _reduce_log_handler(handler: Any, aside: Aside) -> Any:
    """A handler of the logging module; a file is opened again when it is written to, and goes on at its end."""
    kind: Any = type(handler)
    if kind.__reduce_ex__ is not object.__reduce_ex__ or kind.__reduce__ is not object.__reduce__:
        return NotImplemented
    own = dict(vars(handler))
    if isinstance(handler, logging.FileHandler):
        own.update(stream=None, mode="a")
    return object.__new__, (kind,), own, None, None, _complete_log_handler


def _complete_log_handler(handler: Any, own: dict[str, Any]) -> None:
    handler.__dict__.update(own)
    logging._addHandlerRef(handler)  # type: ignore[attr-defined]  # So that it is flushed at the end, as others are.
    if handler.name:
        logging._handlers[handler.name] = handler  # type: ignore[attr-defined]  # Not in typeshed.


_LOCK = type(threading.Lock())
_RLOCK = type(threading.RLock())
_BY_TYPE: list[tuple[type, Reducer]] = [
    (types.FunctionType, _reduce_function),
    (types.MethodType, _reduce_method),
    (types.BuiltinFunctionType, _reduce_method),
    (types.CellType, _reduce_cell),
    (types.CodeType, lambda code, aside: (marshal.loads, (marshal.dumps(code),))),
    (type(functools.lru_cache(len)), _reduce_cached),
    (types.MappingProxyType, _reduce_proxy),
    (type({}.keys()), _reduce_dict_view),
    (type({}.values()), _reduce_dict_view),
    (type({}.items()), _reduce_dict_view),
    (typing.TypeVar, _reduce_typevar),
    (weakref.ReferenceType, _reduce_reference),
    (weakref.WeakMethod, _reduce_reference),
    (weakref.ProxyType, _reduce_reference),
    (weakref.CallableProxyType, _reduce_reference),
    (weakref.finalize, _reduce_finalizer),
    (memoryview, _refuse_view),
    (_LOCK, _reduce_lock),
    (_RLOCK, _reduce_lock),
    (threading.Condition, _reduce_condition),
    (io.TextIOWrapper, _reduce_file),
    (io.BufferedReader, _reduce_file),
    (io.FileIO, _reduce_file),
]
_BY_TYPE += [
    (kind, _reduce_named_type)
    for kind in (getattr(typing, name, None) for name in ("NewType", "ParamSpec", "TypeVarTuple"))
    if isinstance(kind, type)
]
_BY_BASE: list[tuple[Any, Reducer]] = [
    (type, lambda cls, aside: NotImplemented if is_importable(cls) else reduce_class(cls, aside.virtual_bases(cls))),
    (types.ModuleType, _reduce_module),
    (BaseException, _reduce_exception),
    ((property, classmethod, staticmethod), _reduce_wrapper),
    ((weakref.WeakSet, weakref.WeakKeyDictionary, weakref.WeakValueDictionary), _reduce_weak),
    ((threading.Thread, subprocess.Popen), _refuse_thread),
    (logging.Handler, _reduce_log_handler),
]
