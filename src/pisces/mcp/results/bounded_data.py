"""The structured content of a result, cut to what clients take: lists and texts lose their ends."""

from typing import Any, Final

from pisces.mcp.results.limits import beginning, wire_size

_DEEPEST: Final = 64
"""Levels of lists and objects: the SDK refuses to send more than some 250."""
_TOO_DEEP: Final = "[nested too deeply to be sent]"
_LEAST: Final = 64


def storable(value: Any, cut: list[str] | None = None, levels: int = _DEEPEST) -> Any:
    """As JSON in UTF-8 can have it: without halves of characters (lone surrogates), and not too deep.

    What is too deep is told in `cut`.
    """
    if isinstance(value, str):
        return value if value.isascii() else value.encode("utf-8", "replace").decode("utf-8")
    if not isinstance(value, (dict, list, tuple)):
        return value
    if levels == 0:
        if cut is not None and _TOO_DEEP not in cut:
            cut.append(_TOO_DEEP)
        return _TOO_DEEP
    if isinstance(value, dict):
        return {storable(str(name)): storable(each, cut, levels - 1) for name, each in value.items()}
    return [storable(each, cut, levels - 1) for each in value]


def fitted(data: dict[str, Any], most: int, cut: list[str], path: str = "") -> dict[str, Any]:
    """The data in at most so many bytes of JSON, the largest part cut first. What is cut is told in `cut`."""
    sizes = {name: wire_size(name) + 2 + wire_size(each) for name, each in data.items()}
    total = 1 + sum(sizes.values())
    kept = dict(data)
    for name in sorted(sizes, key=lambda name: sizes[name], reverse=True):
        if total <= most:
            break
        others = total - sizes[name]
        room = most - others - wire_size(name) - 2
        shorter = _shorter(data[name], room, cut, f"{path}{name}") if room >= _LEAST else None
        if shorter is None:
            del kept[name]
            cut.append(f"`{path}{name[:60]}` left out")
            total = others
        else:
            kept[name] = shorter
            total = others + wire_size(name) + 2 + wire_size(shorter)
    return kept


def _shorter(value: Any, most: int, cut: list[str], path: str) -> Any:
    """The beginning of a value; None where it has none."""
    if isinstance(value, str):
        kept = beginning(value, most)
        cut.append(f"`{path}` {len(kept)} of {len(value)} characters")
        return kept
    if isinstance(value, list):
        first = _first_items(value, most)
        cut.append(f"`{path}` {len(first)} of {len(value)}")
        return first
    if isinstance(value, dict):
        return fitted(value, most, cut, f"{path}.")
    return None


def _first_items(items: list[Any], most: int) -> list[Any]:
    room = most - 2
    for number, item in enumerate(items):
        room -= wire_size(item) + 1
        if room < 0:
            return items[:number]
    return items
