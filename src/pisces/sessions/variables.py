"""Putting together what several cells did to the namespace."""

from pisces.model.events import Variable, VariableChanges

_LISTED = 20


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
    return _bounded(added, changed, removed, first.more + second.more)


def _bounded(added: dict[str, Variable], changed: dict[str, Variable], removed: set[str], more: int) -> VariableChanges:
    room = _LISTED
    kept_added = tuple(added[name] for name in sorted(added)[:room])
    room -= len(kept_added)
    kept_changed = tuple(changed[name] for name in sorted(changed)[:room])
    room -= len(kept_changed)
    kept_removed = tuple(sorted(removed)[:room])
    listed = len(kept_added) + len(kept_changed) + len(kept_removed)
    return VariableChanges(
        kept_added, kept_changed, kept_removed, more + len(added) + len(changed) + len(removed) - listed
    )
