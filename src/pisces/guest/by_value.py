"""The way back by value: the variables of one kernel, saved into a descriptor and loaded in a fresh kernel.

Each variable is saved for itself, and what was written before a hang or a kill can be loaded. Variables that refer to
each other in a circle or have parts in common are then saved once more together: that pickle is preferred when it
is whole. What does not come along is named, with why.
"""

from __future__ import annotations

import functools
import importlib
import io
import pickle
import re

from .by_value_groups import groups
from .by_value_limits import Limits, TooMuch
from .by_value_memory import torn
from .by_value_pickler import NAMESPACE, References, pickle_values
from .by_value_records import RecordWriter, Saved, read_records
from .by_value_state import Changed, Setting, load_state, save_state, settings
from .json_safe import type_name
from .stdlib import signal

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection
    from typing import Any

    from .by_value_memory import Memory

_REASON_CHARACTERS = 200
_SHELL_NAMES = re.compile(r"_+|_i+|_[ido]h|_i?\d+|__\w+__")


def save(
    namespace: dict[str, Any],
    reserved: Collection[str],
    out_fd: int,
    *,
    remade: Collection[str] = (),
    seconds_each: float = 5.0,
    bytes_each: int = 1 << 30,
    seconds: float = 15.0,
    bytes_total: int = 4 << 30,
) -> None:
    """Write the state of the process and every variable that is not reserved. To be called in the main thread.

    What is `remade` is there before it is loaded, under the same names, and can be referred to. A variable may take
    so many seconds and bytes, and all together so many. C code that does not return cannot be stopped from here: the
    caller may end the process at any time, and does so after 20 seconds.
    """
    limits = Limits(seconds_each, bytes_each, seconds, bytes_total)
    names = _names_to_save(namespace, reserved)
    _Saving(References(namespace, names, remade), names, RecordWriter(out_fd), limits).run()


def load(namespace: dict[str, Any], in_fd: int) -> list[str]:
    """Read what `save` wrote, to its end, into the namespace. Returns what is missing, each as `name (why)`.

    Raises `ValueError` when not even the beginning was written: then what is missing is not known.
    """
    saved = read_records(in_fd)
    if not saved.state:
        raise ValueError("nothing was saved")
    return _Loading(namespace, saved).run()


def _names_to_save(namespace: dict[str, Any], reserved: Collection[str]) -> list[str]:
    names = [name for name in namespace if type(name) is str and name not in reserved]
    return [name for name in names if not _SHELL_NAMES.fullmatch(name)]


def _reason(error: BaseException) -> str:
    try:
        text = " ".join(f"{error}".split())
    except BaseException:  # The exception is the user's, and so is its text.
        text = ""
    if not isinstance(error, (TooMuch, _Lost, Changed, pickle.PicklingError)):
        text = f"{type_name(error)}: {text}" if text else type_name(error)
    return text if len(text) <= _REASON_CHARACTERS else text[:_REASON_CHARACTERS] + "…"


class _Saving:
    def __init__(self, references: References, names: list[str], writer: RecordWriter, limits: Limits) -> None:
        self._namespace = references.namespace
        self._names = names
        self._writer = writer
        self._limits = limits
        self._references = references
        self._links: dict[str, set[str]] = {}
        self._owners: dict[int, tuple[Any, str]] = {}
        self._copied: dict[tuple[str, ...], list[Memory]] = {}
        self._settings = settings()

    def run(self) -> None:
        self._writer.plan([*self._names, *self._settings])
        self._writer.state(save_state())
        before = signal.signal(signal.SIGALRM, self._limits.on_alarm)
        try:
            for name in (*self._settings, *self._names):
                self._save_one(name)
            for group in groups(self._links):
                if self._pickle(group) is not None:
                    for name in group:
                        self._copied.pop((name,), None)
            for names in torn((memory, names) for names, found in self._copied.items() for memory in found):
                self._writer.torn(names)
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)
            signal.signal(signal.SIGALRM, before)

    def _save_one(self, name: str) -> None:
        parts = self._pickle([name])
        if parts is None:
            return
        self._links[name] = set(self._references.used)
        for part in parts:
            # The part is kept with its owner: an object that lived only for its pickling would give its id to others.
            _, owner = self._owners.setdefault(id(part), (part, name))
            if owner != name:
                self._links[name].add(owner)
                self._links[owner].add(name)

    def _pickle(self, names: list[str]) -> list[Any] | None:
        """Write one pickle, or why there is none; None then, else the objects that others may have in common."""
        self._writer.begin(names)
        try:
            try:
                self._limits.begin(self._writer, pickle_values)
                values = {name: self._settings.get(name, self._namespace.get(name)) for name in names}
                parts, aside = pickle_values(values, self._limits, self._references)
            finally:
                self._limits.stop()
        except BaseException as error:  # Of the user's objects, which raise what they like; or `TooMuch`.
            self._writer.give_up(_reason(error))
            return None
        self._writer.end(list(aside.losses))
        self._copied[tuple(names)] = aside.memory
        return parts


class _Lost(Exception):
    """Something that a pickle refers to is not there."""


class _Loading:
    def __init__(self, namespace: dict[str, Any], saved: Saved) -> None:
        self._namespace = namespace
        self._saved = saved
        self._planned = set(saved.plan)
        self._groups = {name: names for names in saved.pickles if len(names) > 1 for name in names}
        self._loaded: dict[str, Any] = {}
        self._missing: list[str] = []
        self._failed: dict[str, str] = {}
        self._under_way: set[tuple[str, ...]] = set()
        self._torn: list[tuple[str, ...]] = [*saved.torn, *(names for names in saved.given_up if len(names) > 1)]
        self._ids_of_nan: dict[int, float] = {}

    def run(self) -> list[str]:
        missing = self._missing
        missing += load_state(self._saved.state) if self._saved.state else []
        for name in self._saved.plan:
            try:
                self.value_of(name)
            except _Lost:
                missing.append(f"{name} ({self._failed[name]})")
        for names in self._torn:
            back = [name for name in names if name in self._loaded]
            if len(names) == 1 == len(back):
                missing.append(f"what parts of {names[0]} had in common (each has a copy of its own now)")
            elif len(back) > 1:
                missing.append(f"what {', '.join(back)} had in common (each has a copy of its own now)")
        return missing

    def known(self, reference: Any) -> Any:
        """What stands in the place of something that is not written down: see `by_value_pickler.NAMESPACE`."""
        if type(reference) is tuple:
            module, name = reference
            return functools.reduce(getattr, name.split("."), importlib.import_module(module))
        if type(reference) is int:
            return self._ids_of_nan.setdefault(reference, float("nan"))
        return self.value_of(reference)

    def value_of(self, name: str) -> Any:
        """The value of a variable, loaded when it is first asked for; `_Lost` when it cannot be had."""
        if name not in self._planned and name in self._namespace:
            return self._namespace[name]
        if name not in self._loaded and name not in self._failed:
            group = self._groups.get(name)
            if group is None or group in self._under_way or not self._load_group(group):
                self._load_one(name)
        if name in self._failed:
            raise _Lost(f"it refers to {name}, which is not back")
        return self._loaded[name]

    def _load_group(self, names: tuple[str, ...]) -> bool:
        try:
            self._load(names)
        except BaseException:  # The code of its objects: each is then loaded for itself, and says why if it cannot be.
            self._torn.append(names)
            self._groups = {name: group for name, group in self._groups.items() if group != names}
            return False
        return True

    def _load_one(self, name: str) -> None:
        names = (name,)
        if names in self._under_way:
            raise _Lost(f"it refers to {name}, which refers to it")
        try:
            if names not in self._saved.pickles:
                raise _Lost(self._saved.given_up.get(names, "saving did not come to it"))
            self._load(names)
        except BaseException as error:  # The code of its objects.
            self._failed[name] = _reason(error)

    def _load(self, names: tuple[str, ...]) -> None:
        self._under_way.add(names)
        try:
            values = _Unpickler(self._saved.pickles.pop(names), self, self._namespace).load()
        finally:
            self._under_way.discard(names)
        for name in names:
            self._saved.pickles.pop((name,), None)
        self._loaded.update(values)
        self._namespace.update({name: value for name, value in values.items() if type(value) is not Setting})
        self._missing += [f"{name} (back without {what})" for name in names for what in self._saved.losses[(name,)]]


class _Unpickler(pickle.Unpickler):
    """Resolves what a pickle refers to: the namespace, other variables, and what is in `__main__`, by loading it."""

    def __init__(self, pickled: bytearray, loading: _Loading, namespace: dict[str, Any]) -> None:
        super().__init__(io.BytesIO(pickled))
        self._loading = loading
        self._namespace = namespace

    def persistent_load(self, reference: Any) -> Any:
        return self._namespace if reference == NAMESPACE else self._loading.known(reference)

    def find_class(self, module: str, name: str) -> Any:
        if module != "__main__":
            return super().find_class(module, name)
        first, *inner = name.split(".")
        found = self._loading.value_of(first) if first not in self._namespace else self._namespace[first]
        for part in inner:
            found = getattr(found, part)
        return found
