"""Which variables have to be pickled together: those that refer to each other in a circle, or have parts in common."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator


def groups(references: dict[str, set[str]]) -> list[list[str]]:
    """The sets of two or more names that can all be reached from each other, names in the order they came in."""
    order = {name: place for place, name in enumerate(references)}
    found = (component for component in _components(references) if len(component) > 1)
    return sorted((sorted(component, key=order.__getitem__) for component in found), key=lambda names: order[names[0]])


def _components(references: dict[str, set[str]]) -> Iterator[list[str]]:
    """Strongly connected components, by Tarjan's way without recursion: a chain of variables may be long."""
    lowest: dict[str, int] = {}
    stack: list[str] = []
    done: set[str] = set()
    for start, first in references.items():
        if start in lowest:
            continue
        path = [(start, iter(first))]
        entered = {start: len(lowest)}
        lowest[start] = len(lowest)
        stack.append(start)
        while path:
            name, following = path[-1]
            step = next((other for other in following if other in references and other not in done), None)
            if step is None:
                path.pop()
                if path:
                    lowest[path[-1][0]] = min(lowest[path[-1][0]], lowest[name])
                if lowest[name] == entered[name]:
                    component = stack[stack.index(name) :]
                    del stack[-len(component) :]
                    done.update(component)
                    yield component
            elif step in lowest:
                lowest[name] = min(lowest[name], lowest[step])
            else:
                entered[step] = lowest[step] = len(lowest)
                stack.append(step)
                path.append((step, iter(references[step])))
