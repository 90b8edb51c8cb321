"""The names that a kernel begins with: the shell's own, and those that we give to the user.

A name that was given stays ours as long as it stands for what we gave. Whoever binds it anew has made it a variable of
their own: it is then listed, kept and saved like any other, until `%reset` gives the first one back.
"""

from __future__ import annotations

from types import ModuleType

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Any


def _nothing(values: Mapping[str, Any]) -> None:
    pass


def _stays_as_it_is(value: Any) -> bool:
    return isinstance(value, (type, ModuleType)) or callable(value)


class GivenNames:
    """What in one namespace is not the user's."""

    def __init__(self, namespace: dict[str, Any]) -> None:
        self._namespace = namespace
        self.of_the_shell: set[str] = set(namespace)
        """Names that belong to the shell, whatever they stand for."""
        self.values: dict[str, Any] = {}
        """What was given, by name."""
        self._data: set[str] = set()
        """Of those, the ones that a module gave and that a cell may change without binding them anew."""
        self.hide: Callable[[Mapping[str, Any]], object] = _nothing
        """Told what is given, for shells that list names."""

    def give(self, values: Mapping[str, Any]) -> None:
        """Bind these names, but none that stands for something already."""
        for name, value in values.items():
            if name not in self._namespace:
                self._namespace[name] = self.values[name] = value
        self.hide(self.values)

    def take_over(self, values: Mapping[str, Any]) -> None:
        """These names, which are bound already, were given: a module of the user's has bound them, and no cell."""
        new = {name: value for name, value in values.items() if name not in self.of_the_shell}
        self.values.update(new)
        self._data.update(name for name, value in new.items() if not _stays_as_it_is(value))
        self.hide(self.values)

    def restore(self) -> None:
        """Give everything again that is missing, or stands for something else."""
        self._namespace.update(self.values)
        self.hide(self.values)

    def rebound(self) -> list[str]:
        """The given names that now stand for something of the user's."""
        namespace = self._namespace
        return [name for name, value in self.values.items() if namespace.get(name, value) is not value]

    def is_ours(self, name: str) -> bool:
        """Whether a name that is bound now is not the user's."""
        if name in self.of_the_shell:
            return True
        return name in self.values and self._namespace.get(name) is self.values[name]

    def ours(self) -> set[str]:
        """Every name that stands for the same in any kernel that begins: nothing of the user's is lost without it."""
        return {*self.of_the_shell, *self.values}.difference(self.rebound(), self._data)
