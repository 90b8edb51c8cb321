"""Set or remove one member of JSON with comments, and leave every other character as it is."""

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any, Final

from pisces.mcp.clients.jsonc import Member, Node, comments_between, parse
from pisces.mcp.clients.malformed import Malformed

_DEFAULT_STEP: Final = "  "
_LINE_END: Final = re.compile(r"\r\n|\n|\r")
_FIRST_MEMBER: Final = re.compile(r'[\r\n]([ \t]+)"')
_MARGIN: Final = re.compile(r"[ \t]*")


def with_member(text: str, path: Sequence[str], value: Any) -> str:
    """The text with this value at the path; objects that are missing on the way are made. Raises `Malformed`."""
    root = parse(text)
    if root is None:
        return _appended(text, _nested(path, value))
    holder, rest = _deepest(text, root, path)
    if rest:
        return _inserted(text, holder, rest[0], _nested(rest[1:], value))
    return text[: holder.start] + _Layout(text, holder.start).render(value) + text[holder.end :]


def with_members(text: str, path: Sequence[str], values: Mapping[str, Any]) -> str:
    """The text with these members in the object at the path, which has to be there; what else is in it stays.

    Raises `Malformed`.
    """
    found = _find(text, path)
    assert found is not None
    present = found[0].value[path[-1]]
    for key, value in values.items():
        if key not in present or present[key] != value:
            text = with_member(text, (*path, key), value)
    return text


def without_member(text: str, path: Sequence[str]) -> str:
    """The text without the member at the path; as it is if there is none. Raises `Malformed`."""
    while (found := _find(text, path)) is not None:
        text = _removed(text, *found)
    return text


def _deepest(text: str, root: Node, path: Sequence[str]) -> tuple[Node, Sequence[str]]:
    """The last value on the path that is there, and what of the path is missing below it."""
    node = root
    for index, key in enumerate(path):
        if node.members is None:
            name = f"the value of {path[index - 1]!r}" if index else "the whole value"
            raise Malformed(f"{name} has to be an object", text, node.start)
        if (member := node.member(key)) is None:
            return node, path[index:]
        node = member.node
    return node, ()


def _find(text: str, path: Sequence[str]) -> tuple[Node, int] | None:
    """The object that has the member, and its index there."""
    node = parse(text)
    for key in path[:-1]:
        member = None if node is None else node.member(key)
        node = None if member is None else member.node
    if node is None or (member := node.member(path[-1])) is None or node.members is None:
        return None
    return node, node.members.index(member)


def _appended(text: str, value: Any) -> str:
    end = _line_end(text)
    begun = end if text and not text.endswith(("\n", "\r")) else ""
    body = json.dumps(value, indent=_DEFAULT_STEP, ensure_ascii=False).replace("\n", end)
    return f"{text}{begun}{body}{end}"


def _inserted(text: str, holder: Node, key: str, value: Any) -> str:
    assert holder.members is not None
    layout = _Layout(text, holder.start)
    last = holder.members[-1] if holder.members else None
    content, _ = _content_end(text, holder, last)
    on_one_line = last is not None and _LINE_END.search(text, holder.start, holder.end) is None
    comma = "" if last is None or last.comma is not None else ","
    if on_one_line:
        space = " " if layout.is_spaced(holder) else ""
        member = f"{space}{layout.one_line(key, value, spaced=bool(space))}"
    else:
        member = f"{layout.end}{layout.inner}{layout.name(key)}{layout.render(value, inner=True)}"
    trailing = "," if last is not None and last.comma is not None else ""
    closing = text[content:]
    if not holder.members and _LINE_END.match(closing.lstrip(" \t")) is None:
        closing = layout.end + layout.margin + closing.lstrip(" \t")
    where = content if last is None else last.end
    return text[:where] + comma + text[where:content] + member + trailing + closing


def _removed(text: str, holder: Node, index: int) -> str:
    members = holder.members
    assert members is not None
    member = members[index]
    previous = members[index - 1] if index else None
    start, in_line_comment = _content_end(text, holder, previous, before=member.start)
    end = member.end if member.comma is None else member.comma + 1
    if in_line_comment and _LINE_END.match(text, end) is None:
        # Else what follows would become part of the comment.
        ending = _LINE_END.match(text, start)
        assert ending is not None
        start = ending.end()
    head = text[:start]
    if member.comma is None and previous is not None and previous.comma is not None:
        head = text[: previous.comma] + text[previous.comma + 1 : start]
    if len(members) == 1 and not text[holder.start + 1 : start].strip() and not text[end : holder.end - 1].strip():
        return f"{text[: holder.start]}{{}}{text[holder.end :]}"
    return head + text[end:]


def _content_end(text: str, holder: Node, last: Member | None, *, before: int | None = None) -> tuple[int, bool]:
    """Where the comma and the comments after this member end, and whether the last goes to the end of its line.

    Without a member, what stands at the beginning of the object. Blanks do not count.
    """
    begin = holder.start + 1 if last is None else last.end if last.comma is None else last.comma + 1
    comments = comments_between(text, begin, holder.end - 1 if before is None else before)
    if not comments:
        return begin, False
    return comments[-1][1], text.startswith("//", comments[-1][0])


def _nested(path: Sequence[str], value: Any) -> Any:
    for key in reversed(path):
        value = {key: value}
    return value


def _line_end(text: str) -> str:
    found = _LINE_END.search(text)
    return found[0] if found else "\n"


class _Layout:
    """How the text is laid out around an object or a member that begins at a place."""

    def __init__(self, text: str, at: int) -> None:
        self._text = text
        self.end = _line_end(text)
        first = _FIRST_MEMBER.search(text)
        self._step = first[1] if first else _DEFAULT_STEP
        begin = max(text.rfind("\n", 0, at), text.rfind("\r", 0, at)) + 1
        match = _MARGIN.match(text, begin)
        assert match is not None
        self.margin = match[0]
        """The blanks at the beginning of the line."""
        self.inner = self.margin + self._step
        """The same for its members."""

    def render(self, value: Any, *, inner: bool = False) -> str:
        """A value over several lines, for a name that stands at the margin, or one step inside."""
        body = json.dumps(value, indent=self._step, ensure_ascii=False)
        return body.replace("\n", self.end + (self.inner if inner else self.margin))

    def name(self, key: str) -> str:
        return f"{json.dumps(key, ensure_ascii=False)}: "

    def one_line(self, key: str, value: Any, *, spaced: bool) -> str:
        separators = (", ", ": ") if spaced else (",", ":")
        return json.dumps({key: value}, ensure_ascii=False, separators=separators)[1:-1]

    def is_spaced(self, holder: Node) -> bool:
        """Whether there are blanks between the names and values of an object that is on one line."""
        return re.search(r'":[ \t]', self._text[holder.start : holder.end]) is not None
