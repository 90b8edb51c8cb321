"""The names that a kernel begins with: the shell's own, and those that we give to the user.

A name that was given stays ours as long as it stands for what we gave. Whoever binds it anew has made it a variable of
their own: it is then listed, kept and saved like any other, until `%reset` gives the first one back.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Any


def _nothing(values: Mapping[str, Any]) -> None:
    pass


class GivenNames:
    """What in one namespace is not the user's."""

    def __init__(self, namespace: dict[str, Any]) -> None:
        self._namespace = namespace
        self.of_the_shell: set[str] = set(namespace)
        """Names that belong to the shell, whatever they stand for."""
        self.values: dict[str, Any] = {}
        """What was given, by name."""
        self.hide: Callable[[Mapping[str, Any]], object] = _nothing
        """Told what is given, for shells that list names."""

    def give(self, values: Mapping[str, Any]) -> None:
        """Bind these names, but none that stands for something already."""
        for name, value in values.items():
            if name not in self._namespace:
                self._namespace[name] = self.values[name] = value
        self.hide(self.values)

    def take_over(self) -> None:
        """Whatever is bound now, and is not the shell's, was given: a module of the user's has run, and no cell yet."""
        self.values.update(
            (name, value)
            for name, value in self._namespace.items()
            if type(name) is str and name[:1] != "_" and name not in self.of_the_shell
        )
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
        """Every name for which that is so."""
        return {*self.of_the_shell, *self.values}.difference(self.rebound())
