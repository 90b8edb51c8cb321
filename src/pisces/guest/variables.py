"""What a cell did to the namespace, without keeping anything of the user's alive.

Between two looks only fingerprints are held: a weak reference or the id of the object, its type, its size, and for
small plain values the value itself. A name counts as changed when it was bound anew, or when the type, the size or,
in a container, the elements at its ends differ.
"""

from __future__ import annotations

from contextlib import contextmanager
from itertools import takewhile
from types import ModuleType

from .json_safe import type_name
from .stdlib import weakref
from .time_limit import TimeIsUp, limited

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import FrameType
    from typing import Any

    from .flusher import InterruptGuard
    from .given_names import GivenNames

_LISTED = 1000  # More than anybody reads; the host shows fewer, and keeps account of all.
_SMALL_VALUES = (bool, int, float, complex, str, bytes, type(None))
_SEQUENCES = (list, tuple)
_SIZED = (str, bytes, bytearray, list, tuple, dict, set, frozenset, range)
_PLAIN_SIZED = frozenset(map(id, _SIZED))  # By their ids: a metaclass may say anything of equality.
_SECONDS = 0.3  # For the sizes of all values together, after a cell.
_LONGEST_PAUSE = 64


class NamespaceWatch:
    """Compares the namespace with how it was at the last look.

    A look costs time by the number of the user's names, not by the size of the namespace, in which IPython keeps
    every input under a name of its own.
    """

    def __init__(self, namespace: dict[str, Any], given: GivenNames, guard: InterruptGuard | None = None) -> None:
        """An object that takes too long to tell its size is interrupted, but not where `guard` forbids it."""
        self._namespace = namespace
        self._given = given
        self._sizes = _Sizes(guard)
        self._seen: dict[str, tuple[Any, ...]] = {}
        self._known: set[str] = set()
        self._newest: str = ""
        self._remember(self._plain_namespace())

    def reset(self) -> None:
        """Take what is there now as known: the next look tells what came after."""
        self._seen = {}
        self._remember(self._plain_namespace())

    def changes(self) -> dict[str, Any]:
        """What was added, changed and removed since the last look; at most 1,000 names, new ones last."""
        try:
            return self._changes_in(self._namespace)
        except BaseException:  # `globals()` takes any key, and comparing one may raise.
            self._remember({})  # The newest name may be that one.
            return self._changes_in(self._plain_namespace())

    def everything(self) -> list[dict[str, Any]]:
        """Every name of the user's, in order, as it is now; the next look still compares with the last one."""
        names = {name: value for name, value in self._plain_namespace().items() if name[:1] != "_"}
        with self._sizes.look():
            return [self._describe(name, names[name]) for name in sorted(names) if not self._given.is_ours(name)]

    def _plain_namespace(self) -> dict[str, Any]:
        """The namespace without keys that are not plain strings. Searching it runs no code of the user's."""
        return {name: value for name, value in self._namespace.items() if type(name) is str}

    def _changes_in(self, namespace: dict[str, Any]) -> dict[str, Any]:
        before = self._seen
        names = [*filter(namespace.__contains__, before), *self._new_names(namespace)]
        if self._given.values:
            names = self._without_given(names)
        with self._sizes.look():
            now = {name: self._fingerprint(namespace[name]) for name in names}
            added = sorted(name for name in now if name not in before)
            changed = sorted(name for name in now if name in before and not _same(before[name], now[name]))
            removed = sorted(name for name in before if name not in now)
            report = self._report(namespace, added, changed, removed)
        self._seen = now
        return report

    def _new_names(self, namespace: dict[str, Any]) -> list[str]:
        """Names that were bound since the last look: a dict keeps them at its end, unless something was deleted."""
        newest = self._newest
        new = list(takewhile(lambda name: name != newest, reversed(namespace)))
        if len(namespace) == len(self._known) + len(new) and namespace.keys() >= self._known:
            self._known.update(new)
            self._newest = next(reversed(namespace), "")
        else:
            new = list(namespace)
            self._remember(namespace)
        new = [name for name in new if type(name) is str and name[:1] != "_"]
        return [name for name in new if name not in self._seen and name not in self._given.of_the_shell]

    def _without_given(self, names: list[str]) -> list[str]:
        """The names that are the user's: also given ones that were bound anew, but none that was given again."""
        rebound, given = self._given.rebound(), self._given.values
        return [name for name in names if name not in given] + [name for name in rebound if name[:1] != "_"]

    def _remember(self, namespace: dict[str, Any]) -> None:
        self._known = set(namespace)
        self._newest = next(reversed(namespace), "")

    def _describe(self, name: str, value: Any) -> dict[str, Any]:
        """One name, with the type and the shape or length of its value."""
        return {"name": name, "type": type_name(value), "size": self._sizes.of(value) or ""}

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
        return (kind, identity, "" if kind is ModuleType else self._sizes.of(value))

    def _report(
        self, namespace: dict[str, Any], added: list[str], changed: list[str], removed: list[str]
    ) -> dict[str, Any]:
        room = _LISTED
        report: dict[str, Any] = {"more": max(0, len(added) + len(changed) + len(removed) - _LISTED)}
        for key, names in (("changed", changed), ("removed", removed), ("added", added)):
            shown = names[:room]
            room -= len(shown)
            report[key] = shown if key == "removed" else [self._describe(name, namespace[name]) for name in shown]
        return report


def _same(before: tuple[Any, ...], now: tuple[Any, ...]) -> bool:
    if len(before) != len(now) or before[0] is not now[0]:
        return False
    if len(before) == 3 and isinstance(before[1], weakref.ref):
        return before[1]() is now[1]() and _same_size(before[2], now[2])
    if len(before) == 3:
        return bool(before[1] == now[1]) and _same_size(before[2], now[2])
    if before[0] is float and before[1] != before[1]:
        return bool(now[1] != now[1])  # NaN is not equal to itself, and has not changed.
    return before == now


def _same_size(before: object, now: object) -> bool:
    """A size that is not known counts as unchanged."""
    return before is None or now is None or before == now


class _Sizes:
    """Asks values for their shape or length. The time for all of them together is limited.

    Only plain containers and array-like types are asked: the `__len__` of any other class may be a database query.
    When the time runs out at a value, its class is skipped in the next look, then in the next two, four and so on.
    """

    def __init__(self, guard: InterruptGuard | None) -> None:
        self._guard = guard
        self._looks = 0
        self._asking = self._time_is_up = False
        self._answers: dict[int, str | None] = {}
        """The answers of this look, by the ids of the values: a value may have many names."""
        self._skipped: dict[int, tuple[int, int]] = {}
        """By the id of a class: the look in which it is asked again, and how many looks are skipped until then."""

    @contextmanager
    def look(self) -> Iterator[None]:
        """Ask values within this block, for up to `_SECONDS`."""
        self._looks += 1
        self._asking = self._time_is_up = False
        self._answers = {}
        with limited(_SECONDS, self._may_stop):
            yield
        self._answers = {}

    def of(self, value: Any) -> str | None:
        """The shape or the length, as text; empty if it has none, None if there was no time to ask."""
        if id(type(value)) in _PLAIN_SIZED:
            return str(len(value))
        if id(value) not in self._answers:
            self._answers[id(value)] = self._ask(value)
        return self._answers[id(value)]

    def _ask(self, value: Any) -> str | None:
        kind = id(type(value))
        again_at, pause = self._skipped.get(kind, (0, 0))
        if self._time_is_up or self._looks < again_at:
            return None
        try:
            self._asking = True
            return _size_text(value)
        except TimeIsUp:
            self._time_is_up = True
            pause = min(2 * pause or 1, _LONGEST_PAUSE)
            self._skipped[kind] = (self._looks + 1 + pause, pause)
            return None
        except BaseException:  # Code of a library or the user's: whatever it raises, there is no size that can be told.
            return ""
        finally:
            self._asking = False

    def _may_stop(self, frame: FrameType | None) -> bool:
        return self._asking and not (self._guard is not None and self._guard.holds(frame))


def _size_text(value: Any) -> str:
    if isinstance(value, _SIZED):
        return str(len(value))
    if not isinstance(value, type) and hasattr(type(value), "shape"):
        shape = value.shape
        if isinstance(shape, tuple) and all(isinstance(side, int) for side in shape):
            return str(tuple(int(side) for side in shape))
    return ""
