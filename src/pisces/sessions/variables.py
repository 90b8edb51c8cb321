"""What cells did to the namespace: put together, cut to what a result lists, and summed up to what is there now."""

import re
from collections.abc import Mapping
from typing import Self

import msgspec

from pisces.model.events import Variable, VariableChanges

_LISTED = 20


class VariableList(msgspec.Struct, frozen=True):
    """The names of a session, in order."""

    variables: tuple[Variable, ...]
    current: bool = True
    """False while a cell runs, or has not been asked: this is how things stood when the last cell finished."""
    complete: bool = True
    """False when there may be more names than these, or some that are gone."""


class Dropped(msgspec.Struct, frozen=True):
    """What a reset took out of a session."""

    names: tuple[str, ...]
    """Without those of modules, which are imported again."""
    complete: bool
    """Whether these are all that it held."""
    kept_not: str = ""
    """Why the state was not kept, as a clause; empty when it was."""
    undo_steps: int = 0
    """How many steps of undo take the reset back; 0 when none does."""


class Names:
    """What the namespace holds, as the cells that finished have told; begun with None when that is not known."""

    def __init__(self, known: Mapping[str, Variable] | None) -> None:
        self._known = dict(known or {})
        self.complete = known is not None
        self._notebooks: dict[str, str] = {}
        """Of names that a run of a notebook set, and no other cell has mentioned since, the notebook."""

    def apply(self, changes: VariableChanges | None, code: str = "", notebook: str = "") -> tuple[str, ...]:
        """A cell with this code finished and did this; None if nobody asked what.

        For a cell of a notebook: which names it changed or removed that did not come from that notebook. A name that
        another cell mentioned counts as that cell's: it may have changed the value in place, as a fitted model is.
        """
        if self._notebooks and not notebook:
            for name in self._notebooks.keys() & set(re.findall(r"\w+", code)):
                del self._notebooks[name]
        if changes is None:
            self.complete = False
            return ()
        overwritten = self._overwritten(changes, notebook) if notebook or self._notebooks else ()
        for variable in (*changes.added, *changes.changed):
            self._known[variable.name] = variable
        for name in changes.removed:
            self._known.pop(name, None)
        self.complete &= not changes.more
        return overwritten

    def _overwritten(self, changes: VariableChanges, notebook: str) -> tuple[str, ...]:
        bound = [variable.name for variable in changes.changed]
        touched = [*bound, *changes.removed] if notebook else ()
        foreign = tuple(name for name in touched if self._notebooks.get(name) != notebook)
        for name in (*bound, *(variable.name for variable in changes.added), *changes.removed):
            self._notebooks.pop(name, None)
        if notebook:
            self._notebooks |= dict.fromkeys([*bound, *(variable.name for variable in changes.added)], notebook)
        return foreign

    def replace(self, variables: tuple[Variable, ...]) -> None:
        """The kernel itself has been asked: these are all."""
        self._known = {variable.name: variable for variable in variables}
        self.complete = True

    def copy(self) -> Self:
        """What is known now, which stays as it is."""
        made = type(self)(self._known)
        made.complete, made._notebooks = self.complete, dict(self._notebooks)
        return made

    def listed(self) -> VariableList:
        """As of the last finished cell."""
        return VariableList(tuple(self._known[name] for name in sorted(self._known)), False, self.complete)


def merge_changes(first: VariableChanges | None, second: VariableChanges | None) -> VariableChanges | None:
    """What both together did: a name that the first added and the second changed was added, with its last look."""
    if first is None or second is None:
        return second if first is None else first
    added = {variable.name: variable for variable in first.added}
    changed = {variable.name: variable for variable in first.changed}
    removed = set(first.removed)
    for variable in (*second.added, *second.changed):
        if variable.name in removed:
            removed.discard(variable.name)
            changed[variable.name] = variable
        elif variable.name in added or variable in second.added:
            added[variable.name] = variable
        else:
            changed[variable.name] = variable
    for name in second.removed:
        changed.pop(name, None)
        if added.pop(name, None) is None:
            removed.add(name)
    return VariableChanges(
        tuple(added[name] for name in sorted(added)),
        tuple(changed[name] for name in sorted(changed)),
        tuple(sorted(removed)),
        first.more + second.more,
    )


def trimmed(changes: VariableChanges | None) -> VariableChanges | None:
    """As many as a result lists, the others counted: first what was added, then what was changed, then removed."""
    if changes is None:
        return None
    added = changes.added[:_LISTED]
    changed = changes.changed[: _LISTED - len(added)]
    removed = changes.removed[: _LISTED - len(added) - len(changed)]
    told = len(changes.added) + len(changes.changed) + len(changes.removed)
    left_out = told - len(added) - len(changed) - len(removed)
    return VariableChanges(added, changed, removed, changes.more + left_out)
