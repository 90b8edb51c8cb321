"""The patterns of git's ignore files as regular expressions.

Names and patterns are taken byte by byte, as git does: each character here stands for one byte, U+0000 to U+00FF.
"""

from __future__ import annotations

import re
import string

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

NEVER = "(?!)"
_SPECIAL = re.compile(r"[*?\[\\]")
_STAR = "*"
_FOLDERS = "**/"
_DEEPER = "**\\/"
_REST = "**"
_SPACE = "\t\n\r "  # What git calls white space: no vertical tab, no form feed.
_PRINTED = frozenset(range(32, 127))
_CLASSES: dict[str, Iterable[int]] = {
    "alnum": map(ord, string.ascii_letters + string.digits),
    "alpha": map(ord, string.ascii_letters),
    "blank": map(ord, " \t"),
    "cntrl": (*range(32), 127),
    "digit": map(ord, string.digits),
    "graph": _PRINTED - {32},
    "lower": map(ord, string.ascii_lowercase),
    "print": _PRINTED,
    "punct": map(ord, string.punctuation),
    "space": map(ord, _SPACE),
    "upper": map(ord, string.ascii_uppercase),
    "xdigit": map(ord, string.hexdigits),
}
_MEMBERS = {name: frozenset(members) for name, members in _CLASSES.items()}


class _Malformed(Exception):
    """A pattern that git takes for one that matches nothing."""


def plain_length(pattern: str) -> int:
    """How much of the pattern stands for itself, up to the first special character."""
    found = _SPECIAL.search(pattern)
    return len(pattern) if found is None else found.start()


def expression(pattern: str, label: str = "") -> str:
    """A regular expression that fully matches what git's pattern matches, of a name or of a path with slashes.

    Names of groups begin with `label`, so that it can be one of several.
    """
    start = plain_length(pattern)
    try:
        # Git matches what comes before the first special character apart, so `a**/b` has its `**` at a beginning.
        return re.escape(pattern[:start]) + _joined(list(_elements(pattern[start:])), label)
    except _Malformed:
        return NEVER


def _elements(pattern: str) -> Iterator[str]:
    """One of the names above for each run of stars, and an expression for each other character."""
    at = 0
    while at < len(pattern):
        char = pattern[at]
        if char == "*":
            kind, at = _stars(pattern, at)
            yield kind
        elif char == "[":
            members, at = _members(pattern, at + 1)
            yield _one_of(members)
        elif char == "\\":
            if at + 1 == len(pattern):
                raise _Malformed
            yield re.escape(pattern[at + 1])
            at += 2
        else:
            yield "[^/]" if char == "?" else re.escape(char)
            at += 1


def _stars(pattern: str, start: int) -> tuple[str, int]:
    """What a run of stars stands for, and where the rest begins. Only two or more between slashes match slashes."""
    end = start
    while pattern.startswith("*", end):
        end += 1
    if end - start > 1 and (start == 0 or pattern[start - 1] == "/"):
        if end == len(pattern):
            return _REST, end
        if pattern[end] == "/":
            return _FOLDERS, end + 1
        if pattern.startswith("\\/", end):
            return _DEEPER, end + 2
    return _STAR, end


def _joined(elements: list[str], label: str) -> str:
    """The expression of a whole pattern, in which nothing is tried again that cannot turn out otherwise.

    What is between two `**/` is a number of whole folders, and its first place in a path is as good as any later one.
    """
    parts: list[list[str]] = [[]]
    leads = [""]
    for element in elements:
        if element in {_FOLDERS, _DEEPER}:
            leads.append("(?:.*?/)??" if element == _FOLDERS else ".*?/")
            parts.append([])
        else:
            parts[-1].append(element)
    written: list[str] = []
    for number, (lead, part) in enumerate(zip(leads, parts)):
        inner = lead + _part(part, f"{label}p{number}")
        written.append(_once(inner, f"{label}f{number}") if 0 < number < len(parts) - 1 else inner)
    return "".join(written)


def _part(elements: list[str], prefix: str) -> str:
    """The expression of what has no `**/` in it: in each name, all stars but the last take what they can at once."""
    written = ""
    chunk, open_star = "", False
    for number, element in enumerate(elements):
        if element == _REST:
            return written + ".*"
        if element == _STAR:
            if open_star:
                chunk = _once(f"[^/]*?{chunk}", f"{prefix}s{number}")
            written, chunk, open_star = written + chunk, "", True
        elif element == "/":
            written, chunk, open_star = written + ("[^/]*" if open_star else "") + chunk + "/", "", False
        else:
            chunk += element
    return written + ("[^/]*" if open_star else "") + chunk


def _once(inner: str, name: str) -> str:
    """The first match of an expression and no other; `(?>…)` does this from Python 3.11 on."""
    return f"(?=(?P<{name}>{inner}))(?P={name})"


def _one_of(members: frozenset[int]) -> str:
    if not members:
        return NEVER
    return "[" + "".join(f"\\x{member:02x}" for member in sorted(members)) + "]"


def _members(pattern: str, start: int) -> tuple[frozenset[int], int]:
    """The bytes that a `[…]` matches, and where the rest begins. A slash is never one of them."""
    at = start
    negated = pattern[at : at + 1] in {"!", "^"}
    if negated:
        at += 1
    members: set[int] = set()
    before, first = 0, True
    while first or pattern[at : at + 1] != "]":
        first = False
        added, before, at = _member(pattern, at, before)
        members.update(added)
    every = frozenset(range(1, 256))
    return (every - members if negated else every & members) - {ord("/")}, at + 1


def _member(pattern: str, at: int, before: int) -> tuple[Iterable[int], int, int]:
    """What the next item of a `[…]` adds; what a range could begin with after it, or 0; and where the next one is."""
    char = _char(pattern, at)
    if char == "\\":
        escaped = ord(_char(pattern, at + 1))
        return {escaped}, escaped, at + 2
    if char == "-" and before and pattern[at + 1 : at + 2] not in {"", "]"}:
        at += 2 if pattern[at + 1] == "\\" else 1
        return range(before, ord(_char(pattern, at)) + 1), 0, at + 1
    if char == "[" and pattern.startswith(":", at + 1):
        end = pattern.find("]", at + 2)
        if end < 0:
            raise _Malformed
        if end > at + 2 and pattern[end - 1] == ":":
            name = pattern[at + 2 : end - 1]
            if name not in _MEMBERS:
                raise _Malformed
            return _MEMBERS[name], 0, end + 1
    return {ord(char)}, ord(char), at + 1


def _char(pattern: str, at: int) -> str:
    if at >= len(pattern):
        raise _Malformed
    return pattern[at]
