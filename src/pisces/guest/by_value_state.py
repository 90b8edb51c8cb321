"""What a process is beside its variables, as far as it comes along by value.

The folder, the environment, where modules are looked for, the arguments and the extension modules come first: what
else is loaded may need them. The rest are settings, which are saved and loaded as if they were variables, because they
may refer to objects of the session. What libraries other than numpy keep inside (options of a data frame library,
styles of plots) does not come along.
"""

from __future__ import annotations

import decimal
import functools
import locale
import logging
import marshal
import pickle
import random
import sys
import sysconfig
import types
import warnings

from . import modules
from .kernel import own_variables
from .stdlib import os, signal

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Any

_OUR_PACKAGE = __name__.partition(".")[0]
_OF_THE_INTERPRETER = ("recursionlimit", "switchinterval", "int_max_str_digits")
_IGNORED_BY_PYTHON = {"SIGPIPE", "SIGXFSZ"}


def save_state() -> bytes:
    """The state of this process; what cannot be had is left out."""
    state: dict[str, Any] = {
        "environ": {name: value for name, value in os.environ.items() if name not in own_variables},
        "path": [entry for entry in sys.path if type(entry) is str],
        "argv": [argument for argument in sys.argv if type(argument) is str],
        "modules": modules.loaded(),
    }
    try:
        state["cwd"] = os.getcwd()
    except OSError:
        pass  # The folder is gone.
    return pickle.dumps(state)


def load_state(pickled: bytes) -> list[str]:
    """Take the state over; what could not be, each as `what (why)`."""
    state = pickle.loads(pickled)
    own = {name: os.environ[name] for name in own_variables if name in os.environ}
    os.environ.clear()
    os.environ.update({**state["environ"], **own})
    sys.path[:] = state["path"]
    sys.argv[:] = state["argv"]
    missing: list[str] = []
    if "cwd" in state:
        try:
            os.chdir(state["cwd"])
        except OSError as error:
            missing.append(f"the current folder ({type(error).__name__}: {error})")
    if state["modules"]:  # They may import what the path above leads to, and draw numbers.
        missing += modules.load_again(state["modules"])
    return missing


class Setting:
    """Something of the process: loading it calls `apply` with the arguments, which `given` returns when it is saved."""

    def __init__(self, apply: Callable[..., object], given: Callable[[], tuple[Any, ...]]) -> None:
        self._apply, self._given = apply, given

    def __reduce__(self) -> tuple[Any, ...]:
        return _set_again, (self._apply, self._given())


def _set_again(apply: Callable[..., object], arguments: tuple[Any, ...]) -> Setting:
    apply(*arguments)
    return Setting(apply, tuple)


def settings() -> dict[str, Setting]:
    """Each by what it is called for the reader of a restore, in the order to load them: after all variables."""
    found = {
        "the settings of the interpreter": Setting(_set_interpreter, _interpreter),
        "the locale": Setting(_set_locale, lambda: (locale.setlocale(locale.LC_ALL),)),
        "the filters of warnings": Setting(_set_filters, lambda: (list(warnings.filters),)),
        "the context of decimal": Setting(decimal.setcontext, lambda: (decimal.getcontext(),)),
    }
    for number in sorted(signal.valid_signals()):
        handler = signal.getsignal(number)
        if not _is_usual(number, handler):
            name = getattr(number, "name", number)
            found[f"the handler of {name}"] = Setting(signal.signal, functools.partial(_handler, number, handler))
    if logging.root.manager.disable:
        found["logging.disable"] = Setting(logging.disable, lambda: (logging.root.manager.disable,))
    for logger in (logging.root, *list(logging.root.manager.loggerDict.values())):
        if isinstance(logger, logging.Logger) and _is_configured(logger):
            name = "the root logger" if logger is logging.root else f"the logger {logger.name!r}"
            found[name] = Setting(_set_logger, functools.partial(_configuration, logger))
    if "numpy" in sys.modules:
        found["the settings of numpy"] = Setting(_set_numpy, _numpy_settings)
        found["the random state of numpy"] = Setting(_set_numpy_random, _numpy_random)
    found["the random state"] = Setting(_set_random, lambda: (random.getstate(),))
    found[_MODULES] = Setting(_compare_modules, lambda: (dict(_contents_of_modules()),))
    return found


def _interpreter() -> tuple[dict[str, Any], int]:
    values = {name: getattr(sys, f"get{name}")() for name in _OF_THE_INTERPRETER if hasattr(sys, f"get{name}")}
    umask = os.umask(0)
    os.umask(umask)
    return values, umask


def _set_interpreter(values: dict[str, Any], umask: int) -> None:
    for name, value in values.items():
        getattr(sys, f"set{name}")(value)
    os.umask(umask)


def _set_locale(name: str) -> None:
    if locale.setlocale(locale.LC_ALL) != name:
        locale.setlocale(locale.LC_ALL, name)


def _set_filters(filters: list[Any]) -> None:
    warnings.filters[:] = filters  # type: ignore[index]  # A list, whatever typeshed says.
    warnings._filters_mutated()  # type: ignore[attr-defined]  # Not in typeshed.


def _set_random(state: Any) -> None:
    random.setstate(state)


def _handler(number: int, handler: Any) -> tuple[int, Any]:
    if (getattr(handler, "__module__", None) or "").partition(".")[0] == "asyncio":
        raise pickle.PicklingError("the event loop that it belongs to is gone")
    return number, handler


def _is_usual(number: int, handler: Any) -> bool:
    """Whether a fresh kernel has this handler, or one of its own."""
    if handler is None or handler is signal.default_int_handler:
        return True
    if handler in (signal.SIG_DFL, signal.SIG_IGN):
        return (handler is signal.SIG_IGN) == (getattr(number, "name", "") in _IGNORED_BY_PYTHON)
    owner = getattr(handler, "__module__", None) or ""
    return str(owner).partition(".")[0] == _OUR_PACKAGE


# --- logging ---


def _is_configured(logger: logging.Logger) -> bool:
    level = logging.WARNING if logger is logging.root else logging.NOTSET
    own = [handler for handler in logger.handlers if type(handler) is not logging.NullHandler]
    return bool(own or logger.filters or logger.level != level or logger.disabled or not logger.propagate)


def _configuration(logger: logging.Logger) -> tuple[Any, ...]:
    name = None if logger is logging.root else logger.name
    return name, logger.level, logger.propagate, logger.disabled, logger.handlers, logger.filters


def _set_logger(name: str | None, level: int, *others: Any) -> None:
    logger = logging.getLogger(name)
    logger.setLevel(level)
    logger.propagate, logger.disabled, logger.handlers, logger.filters = others


# --- numpy ---


def _numpy_settings() -> tuple[Any, ...]:
    import numpy

    return numpy.geterr(), numpy.geterrcall(), numpy.get_printoptions(), numpy.getbufsize()


def _set_numpy(errors: Any, call: Any, printing: Any, size: int) -> None:
    import numpy

    numpy.seterr(**errors)
    numpy.seterrcall(call)
    numpy.set_printoptions(**printing)
    numpy.setbufsize(size)


def _numpy_random() -> tuple[Any, ...]:
    import numpy.random

    return (numpy.random.get_state(),)


def _set_numpy_random(state: Any) -> None:
    import numpy.random

    numpy.random.set_state(state)


# --- modules from files of the user's ---

_MODULES = "what was changed in modules"


class Changed(Exception):
    """Modules that were imported again are not as they were. The text says which, and what in them."""


def _contents_of_modules() -> Iterator[tuple[str, dict[str, bytes]]]:
    """What can be compared in each module that is neither installed nor ours: functions, and plain values."""
    installed = tuple(os.path.join(path, "") for path in {*sysconfig.get_paths().values(), os.path.dirname(__file__)})
    ours = {path for path, _ in modules.loaded()}
    for name, module in list(sys.modules.items()):
        path: Any = getattr(module, "__file__", None)
        is_source = type(module) is types.ModuleType and type(path) is str and path.endswith(".py") and path not in ours
        if is_source and not os.path.abspath(path).startswith(installed):
            yield name, _contents(vars(module), name)


def _contents(found: Any, module: str) -> dict[str, bytes]:
    contents = {}
    for name, value in list(found.items()):
        if type(name) is str and name[:2] != "__":
            try:
                contents[name] = marshal.dumps(_plain(value, module), 2)  # Later versions tell who else refers to it.
            except ValueError:
                pass  # It is no plain value.
    return contents


def _plain(value: Any, module: str) -> Any:
    """The code of a function, and what is in a class; the value itself otherwise."""
    if type(value) is types.FunctionType and value.__module__ == module:
        return value.__code__
    if isinstance(value, type) and value.__module__ == module:
        return sorted(_contents(vars(value), module).items())
    return value


def _compare_modules(before: dict[str, dict[str, bytes]]) -> None:
    changed = []
    for module, then in before.items():
        if module in sys.modules:
            now = _contents(vars(sys.modules[module]), module)
            names = sorted(name for name in {*then, *now} if then.get(name) != now.get(name))
            changed += [f"{module}.{name}" for name in names]
    if changed:
        raise Changed(f"as a new import has them: {', '.join(changed)}")
