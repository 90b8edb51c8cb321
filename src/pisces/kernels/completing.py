"""What could stand at the cursor: how much of the code a kernel is shown, and what is made of its answer.

Above are the kernels that ask such a question of what they hold. Knows text only.
"""

import re
from collections.abc import Iterable
from typing import Final

import msgspec

from pisces.model.completion import Completion

_BEFORE: Final = 20_000
_AFTER: Final = 2_000
"""So many characters around the cursor are looked at: a cell may have megabytes, and somebody waits at the keyboard."""
_MOST: Final = 200
_LONGEST: Final = 200
_NAME: Final = re.compile(r"(?<![\w.])[^\W\d]\w*\Z")
_OWNERS: Final = re.compile(r"(?:[^\W\d]\w*\.)+")
_DOT: Final = re.compile(r"\.")
_ENDS_A_VALUE: Final = re.compile(r"[\w)\]}]")


class Question(msgspec.Struct, frozen=True):
    """The part of some code that matters for a cursor in it."""

    code: str
    cursor: int
    """In this part, in characters."""
    offset: int
    """Where the part begins."""

    @classmethod
    def about(cls, code: str, cursor: int) -> "Question":
        """A cursor that is outside of the code stands at its nearer end. What is no text becomes question marks."""
        cursor = min(max(cursor, 0), len(code))
        first = max(0, cursor - _BEFORE)
        if first:
            first = code.find("\n", first, cursor) + 1 or first
        part = code[first : cursor + _AFTER].encode("utf-8", "replace").decode("utf-8")
        return cls(part, cursor - first, first)

    def answer(self, matches: object, start: object, end: object) -> Completion:
        """What a kernel said, if it makes sense: what could be typed, once each, without the names before a dot."""
        if not isinstance(matches, list | tuple) or not isinstance(start, int) or not isinstance(end, int):
            return Completion()
        if not 0 <= start <= self.cursor <= end <= len(self.code):
            return Completion()
        matches = self._meant([match for match in matches if isinstance(match, str)], start)
        head = self._head(start, matches)
        texts = dict.fromkeys(match[len(head) :] for match in matches)
        fit = [text for text in texts if 0 < len(text) <= _LONGEST and text.isprintable()]
        if not fit:
            return Completion()
        return Completion(tuple(fit[:_MOST]), self.offset + start + len(head), self.offset + end)

    def _meant(self, matches: list[str], start: int) -> list[str]:
        """Magics only where one is begun. Where nothing is, what a function takes by name, if there is any of that."""
        begun = self.code[start : self.cursor]
        fit = [match for match in matches if match[:1] != "%" or begun[:1] == "%"]
        return [match for match in fit if match.endswith("=")] or fit if not begun else fit

    def _head(self, start: int, matches: list[str]) -> str:
        """What all matches repeat of the code, up to its last dot: `x.` where `x.app` could be `x.append`."""
        before = self.code[start - 1 : start] if start else ""
        owners = (_DOT if _ENDS_A_VALUE.match(before) else _OWNERS).match(self.code, start, self.cursor)
        if owners is None or before in ("'", '"'):  # In quotes it is the name of a file.
            return ""
        return owners[0] if all(match.startswith(owners[0]) for match in matches) else ""


def among(names: Iterable[str], code: str, cursor: int) -> Completion:
    """Which of these names could stand at the cursor; those that begin with `_` only where one is begun."""
    question = Question.about(code, cursor)
    begun = _NAME.search(question.code[max(0, question.cursor - _LONGEST) : question.cursor])
    if begun is None:
        return Completion()
    matches = [name for name in sorted(names) if name.startswith(begun[0]) and name != begun[0]]
    shown = [name for name in matches if not name.startswith("_") or begun[0].startswith("_")]
    return question.answer(shown, question.cursor - len(begun[0]), question.cursor)
