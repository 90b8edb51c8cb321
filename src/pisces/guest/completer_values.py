"""What a name stands for, and what names it has below it, without running code of the user's to find out."""

from __future__ import annotations

import builtins
import inspect
from types import BuiltinFunctionType, FunctionType, GetSetDescriptorType, MemberDescriptorType, MethodType, ModuleType

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

UNKNOWN = object()
"""What would have to be computed, or is not there."""
_TELL_THEMSELVES = (type, FunctionType, MethodType, BuiltinFunctionType)
_BY_NAME = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)


def value_of(dotted: str, namespace: dict[str, Any]) -> Any:
    """What names with dots between them lead to."""
    first, *others = dotted.split(".")
    value = namespace[first] if first in namespace else vars(builtins).get(first, UNKNOWN)
    for name in others:
        value = UNKNOWN if value is UNKNOWN else _below(value, name)
    return value


def _below(value: Any, name: str) -> Any:
    if issubclass(type(value), ModuleType):  # Not `isinstance`, which asks the value too.
        return ModuleType.__getattribute__(value, "__dict__").get(name, UNKNOWN)
    found = inspect.getattr_static(value, name, UNKNOWN)
    of_a_class = issubclass(type(value), type)
    if type(found) in (staticmethod, classmethod, FunctionType):
        return _function(found, value, of_a_class=of_a_class)
    if type(found) in (MemberDescriptorType, GetSetDescriptorType) and not of_a_class:
        return found.__get__(value, type(value))  # Of the interpreter, or of a library in C: a look at memory.
    if inspect.isroutine(found) or not hasattr(type(found), "__get__"):
        return found
    return UNKNOWN  # A property: its value is whatever its code does.


def _function(found: Any, value: Any, *, of_a_class: bool) -> Any:
    """A function as it is called below a value: without what it is given by being there."""
    if type(found) is staticmethod:
        return found.__func__
    if type(found) is classmethod:
        return MethodType(found.__func__, value if of_a_class else type(value))
    return found if of_a_class else MethodType(found, value)


def attribute_names(value: Any) -> list[str]:
    """The names below a value, as it tells itself."""
    if value is UNKNOWN:
        return []
    return [name for name in dir(value) if isinstance(name, str) and name.isidentifier()]


def keyword_names(function: Any) -> list[str]:
    """What can be given to a function or a class by name, each with its `=`; nothing where that is not known."""
    if not issubclass(type(function), _TELL_THEMSELVES):
        called = inspect.getattr_static(type(function), "__call__", None)
        if type(called) is not FunctionType:
            return []
        function = MethodType(called, function)  # To ask the value itself would run a `__getattr__` of the user's.
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        return []
    return [f"{parameter.name}=" for parameter in parameters if parameter.kind in _BY_NAME]
