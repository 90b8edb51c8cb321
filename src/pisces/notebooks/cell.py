"""One cell of a notebook: its bytes, and new bytes with one of its members changed and all others as they were."""

from typing import Any, Final, Literal, cast

import msgspec

from pisces.errors import BadCell
from pisces.notebooks.json_spans import Data, Member, members, skip_space, value_of
from pisces.notebooks.source_value import encode_source, text_of
from pisces.notebooks.style import Style

CellType = Literal["code", "markdown", "raw"]
CELL_TYPES: Final = ("code", "markdown", "raw")
_CODE_ONLY: Final = ("execution_count", "outputs")


class _Brief(msgspec.Struct):
    """What of a cell is had without looking for it: all but the outputs, which may be large."""

    id: Any = None
    cell_type: Any = None
    execution_count: Any = None
    metadata: Any = msgspec.field(default_factory=dict)
    source: Any = ""


_brief: Final = msgspec.json.Decoder(_Brief)


class Cell:
    """A cell as it stands in its file. It never changes: every change makes another one."""

    def __init__(self, raw: Data, style: Style) -> None:
        self.raw = raw
        self.style = style
        self._found: list[Member] | None = None
        self._known: _Brief | None = None

    @classmethod
    def new(
        cls, cell_type: CellType, source: str, style: Style, *, cell_id: str | None = None, as_list: bool = True
    ) -> "Cell":
        """A cell that has never been run, laid out as this file would have it."""
        made: dict[str, Any] = {"cell_type": cell_type, "metadata": {}, "source": source.splitlines(keepends=True)}
        if not as_list:
            made["source"] = source
        if cell_type == "code":
            made |= {"execution_count": None, "outputs": []}
        if cell_id is not None:
            made["id"] = cell_id
        return cls(style.encode(made, style.cell_margin), style)

    @property
    def cell_type(self) -> CellType:
        """Its type. Raises `BadCell` for one that no notebook has."""
        found = self._in_brief().cell_type
        if found not in CELL_TYPES:
            raise BadCell(f"a cell of type {found!r}; cells are {', '.join(CELL_TYPES)}")
        return cast("CellType", found)

    @property
    def flaw(self) -> str:
        """What is wrong with a cell that no notebook can have; empty for all others."""
        try:
            _ = self.cell_type, self.source
        except BadCell as error:
            return str(error)
        return ""

    @property
    def id(self) -> str | None:
        """Its id; None where it has none. To look for one, others are asked which may be no cells at all."""
        try:
            found = self._in_brief().id
        except BadCell:
            return None
        return found if isinstance(found, str) else None

    @property
    def source(self) -> str:
        """Its source, in one piece. Raises `BadCell` where that is no text."""
        return text_of(self._in_brief().source)

    @property
    def source_is_list(self) -> bool:
        """Whether its source is a list of lines, as Jupyter writes it."""
        member = self._member("source")
        return member is None or self.raw[member.start : member.start + 1] == b"["

    @property
    def tags(self) -> frozenset[str]:
        """Its tags."""
        metadata = self._in_brief().metadata
        tags = metadata.get("tags", ()) if isinstance(metadata, dict) else ()
        return frozenset(tag for tag in tags if isinstance(tag, str)) if isinstance(tags, list) else frozenset()

    @property
    def outputs(self) -> list[dict[str, Any]]:
        """Its outputs, as they are in the file; none where it cannot have any."""
        found = self.get("outputs", [])
        return [output for output in found if isinstance(output, dict)] if isinstance(found, list) else []

    @property
    def has_outputs(self) -> bool:
        """Whether it has any, which is known without looking at them."""
        member = self._member("outputs")
        if member is None or self.raw[member.start : member.start + 1] != b"[":
            return False
        first = skip_space(self.raw, member.start + 1)
        return self.raw[first : first + 1] != b"]"

    @property
    def execution_count(self) -> int | None:
        """The number of its last run."""
        found = self._in_brief().execution_count
        return found if isinstance(found, int) else None

    def get(self, key: str, default: Any = None) -> Any:
        """The value of a member."""
        member = self._member(key)
        return default if member is None else value_of(self.raw[member.start : member.end])

    def with_source(self, text: str) -> "Cell":
        """With this source; a text or a list of lines as it was, and the lines that stay with their bytes."""
        member = self._member("source")
        if member is None:
            return self.with_value("source", text.splitlines(keepends=True))
        old = bytes(self.raw[member.start : member.end])
        new = encode_source(old, text, self.style, self._margin(member))
        return self if new == old else self._spliced(member.start, member.end, new)

    def with_value(self, key: str, value: Any) -> "Cell":
        """With this value of a member, in its place; a new one stands where the alphabet puts it."""
        member = self._member(key)
        if member is None:
            return self._with_new(key, value)
        return self._spliced(member.start, member.end, self.style.encode(value, self._margin(member)))

    def with_type(self, cell_type: CellType) -> "Cell":
        """With this type, and with the members that cells of this type have."""
        if self.get("cell_type") == cell_type:
            return self
        changed = self.with_value("cell_type", cell_type)
        if cell_type != "code":
            return changed.without(_CODE_ONLY)
        for key, value in (("execution_count", None), ("outputs", [])):
            if changed._member(key) is None:
                changed = changed.with_value(key, value)
        return changed.without(("attachments",))

    def without_outputs(self) -> "Cell":
        """As if it had never been run. A cell that already is so stays as it is."""
        cell = self
        for key, value in (("execution_count", None), ("outputs", [])):
            if cell.get(key, value) != value or (cell.get("cell_type") == "code" and cell._member(key) is None):
                cell = cell.with_value(key, value)
        return cell

    def without(self, keys: tuple[str, ...]) -> "Cell":
        """Without these members."""
        cell = self
        for key in keys:
            while (member := cell._member(key)) is not None:
                cell = cell._without(member)
        return cell

    def _in_brief(self) -> _Brief:
        if self._known is None:
            try:
                self._known = _brief.decode(self.raw)
            except (msgspec.DecodeError, RecursionError):
                # It is stricter than Python's own decoder, which has the last word.
                there = {member.key for member in self._members()}.intersection(_Brief.__struct_fields__)
                self._known = _Brief(**{key: self.get(key) for key in there})
        return self._known

    def _without(self, member: Member) -> "Cell":
        found = self._members()
        place = found.index(member)
        if place:
            return self._spliced(found[place - 1].end, member.end, b"")
        if len(found) > 1:
            return self._spliced(member.key_start, found[1].key_start, b"")
        return Cell(b"{}", self.style)

    def _with_new(self, key: str, value: Any) -> "Cell":
        found = self._members()
        if not found:
            return Cell(self.style.encode({key: value}, self.style.cell_margin), self.style)
        margin = self._margin(found[0])
        made = self.style.encode(key) + self.style.colon.encode() + self.style.encode(value, margin)
        place = next((index for index, member in enumerate(found) if member.key > key), len(found))
        if place == 0:
            made += b"," + bytes(self._lead(found))
            return self._spliced(found[0].key_start, found[0].key_start, made)
        end = found[place - 1].end
        return self._spliced(end, end, b"," + bytes(self._lead(found)) + made)

    def _lead(self, found: list[Member]) -> Data:
        """What stands between a comma and a member: where there is only one, what stands before that."""
        if len(found) > 1:
            between = bytes(self.raw[found[0].end : found[1].key_start])
            return between[between.index(b",") + 1 :]
        return self.raw[1 : found[0].key_start]

    def _margin(self, member: Member) -> str:
        """What the line of a member is indented by."""
        line = bytes(self.raw[: member.key_start]).rpartition(b"\n")[2]
        return line.decode() if line.isspace() else ""

    def _member(self, key: str) -> Member | None:
        """The member of this name; of two, the later one counts, as it does for every reader of JSON."""
        return next((member for member in reversed(self._members()) if member.key == key), None)

    def _members(self) -> list[Member]:
        if self._found is None:
            if self.raw[:1] != b"{":
                raise BadCell("a cell that is no object")
            self._found = members(bytes(self.raw))
        return self._found

    def _spliced(self, start: int, end: int, new: bytes) -> "Cell":
        return Cell(b"".join((self.raw[:start], new, self.raw[end:])), self.style)
