"""What could stand at a cursor, where there is no IPython to tell: names, attributes, keys, modules, files, magics.

Nothing is called and nothing is imported to find out. Only names with dots between them are followed, and past an
attribute that code of the user's would have to compute, there is nothing to tell.
"""

from __future__ import annotations

import builtins
import keyword
import re

from . import completer_files, completer_imports, magics
from .completer_values import attribute_names, keyword_names, value_of
from .cursor_place import place_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any

    from .cursor_place import Place
    from .given_names import GivenNames

    Completion = tuple[list[str], int, int]

_MAGIC = re.compile(r"[ \t]*(%%?)(\w*)\Z")
_COMMAND = re.compile(r"[ \t]*(?:!|%%?(?:cd|ls|load|run|writefile)[ \t])")
_DOTTED = re.compile(r"(?<![\w.)\]}'\"])((?:[^\W\d]\w*\.)*)([^\W\d]\w*)?\Z")
_KEY_OF = re.compile(r"(?<![\w.)\]}'\"])((?:[^\W\d]\w*\.)*[^\W\d]\w*)\[\s*\Z")
_CALLED = re.compile(r"(?<![\w.)\]}'\"])((?:[^\W\d]\w*\.)*[^\W\d]\w*)\s*\Z")
_TAIL = 1000
"""No name with its owners is longer than this, and looking for one takes time by the square of it."""


class Completer:
    """Of one namespace."""

    def __init__(self, namespace: dict[str, Any], given: GivenNames) -> None:
        self._namespace = namespace
        self._given = given

    def complete(self, code: str, cursor: int) -> Completion:
        """The texts that could stand from the first to the second place; none where nothing fits."""
        before = code[:cursor]
        place = place_of(before)
        if place.in_comment:
            return [], cursor, cursor
        line = before[place.line :]
        if place.string < 0:
            return self._in_line(line, cursor, place, before)
        text = before[place.string :]
        key = _KEY_OF.search(before, max(0, place.opening - _TAIL), place.opening)
        if key is not None:
            return self._keys(key[1], text), place.string, cursor
        return completer_files.matching(text, cursor)

    def _in_line(self, line: str, cursor: int, place: Place, before: str) -> Completion:
        magic = _MAGIC.match(line)
        if magic is not None and not place.brackets:
            sign, begun = magic[1], magic[2]
            known = [sign + name for name in magics.names()[len(sign) - 1] if name.startswith(begun)]
            return known, cursor - len(sign + begun), cursor
        if _COMMAND.match(line) and not place.brackets:
            return completer_files.matching(line[_last_word(line) :], cursor)
        modules = completer_imports.matching(line)
        if modules is not None:
            names, begun = modules
            return names, cursor - len(begun), cursor
        found = _DOTTED.search(line[-_TAIL:])
        if found is None:
            return [], cursor, cursor
        owners, begun = found[1], found[2] or ""
        if owners:
            names = _begun(attribute_names(self._value(owners[:-1])), begun)
        else:
            names = self._keywords(before, place, begun) + (self._names(begun) if begun else [])
        return names, cursor - len(begun), cursor

    def _names(self, begun: str) -> list[str]:
        """The user's own first, then what every kernel has."""
        bound = [name for name in self._namespace if type(name) is str]
        own = [name for name in bound if not self._given.is_ours(name)]
        words = [*keyword.kwlist, *(word for word in keyword.softkwlist if word != "_")]
        ours = {*bound, *words, *vars(builtins)}.difference(own)
        return _begun(own, begun) + _begun(ours, begun)

    def _keywords(self, before: str, place: Place, begun: str) -> list[str]:
        """What the function takes by name, inside the brackets of whose call the cursor is."""
        if not place.brackets or before[place.brackets[-1]] != "(":
            return []
        opened = place.brackets[-1]
        called = _CALLED.search(before, max(0, opened - _TAIL), opened)
        if called is None or keyword.iskeyword(called[1]) or _is_definition(before[: called.start()]):
            return []
        return [name for name in keyword_names(self._value(called[1])) if name.startswith(begun)]

    def _keys(self, owner: str, begun: str) -> list[str]:
        value = self._value(owner)
        if not issubclass(type(value), dict):
            return []
        keys = [key for key in dict.keys(value) if type(key) is str and key.startswith(begun) and key != begun]
        return [key for key in keys if key.isprintable() and not {*key} & {"'", '"', "\\"}]

    def _value(self, dotted: str) -> Any:
        return value_of(dotted, self._namespace)


def _begun(names: Iterable[str], begun: str) -> list[str]:
    """Those that begin so, in order; private ones only where one is begun."""
    found = (name for name in names if name.startswith(begun) and (begun or name[:1] != "_"))
    shown = (name for name in found if name[:1] != "_" or begun[:1] == "_")
    return sorted(set(shown), key=lambda name: (name.lower(), name))


def _last_word(line: str) -> int:
    """Where the last word of a command begins."""
    return max(line.rfind(sign) for sign in " \t!=\"'") + 1


def _is_definition(before: str) -> bool:
    return before.rstrip().endswith(("def", "class"))
