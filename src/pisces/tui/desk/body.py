"""What a cell of the history looks like, read from its journal when it is to be shown."""

from typing import Final

import msgspec

from pisces.journal.entries import Output, TextCut
from pisces.journal.history import PastCell
from pisces.render.blocks import Block, Words
from pisces.render.from_journal import view_of
from pisces.render.kept import Kept
from pisces.render.view import CellView, Notice
from pisces.tui.desk.folding import Folded
from pisces.tui.desk.items import CellItem, LocalItem

_MOST_BYTES: Final = 48 << 20
"""Of the journals' lines of the cells that are kept: what they take in memory is of that size."""
_EACH: Final = 96 << 10
"""What a cell counts at least, so that there are never more than five hundred."""
_READ_SECONDS: Final = 0.03
MOST_TEXT: Final = 128 * 1024
"""Characters of one text of a cell that are shown. Where there are more, an artifact has all of them."""
_END: Final = 48 * 1024
"""Of them, those of the end."""
_OVER: Final = "The program that ran it ended before the cell did. How far the code came is not known."
_HELD_BACK: Final = "More is on its way: its journal holds the end of a long text back until the cell is over."


class _Body(msgspec.Struct):
    """One cell that is kept."""

    item: CellItem
    folded: Folded | None
    """None when the cell is over and has been read."""
    stage: tuple[object, ...] = ()
    """How far the cell had come when the view was made."""
    view: CellView | None = None


class Bodies:
    """The cells that were shown last, each read once."""

    def __init__(self) -> None:
        self._bodies: Kept[int, _Body] = Kept(_MOST_BYTES)
        self.behind = False
        """Whether the cell that was asked for last has more to say than could be read in the time."""

    def view(self, item: CellItem | LocalItem) -> CellView:
        """The item as it stands. What cannot be read any more is said."""
        self.behind = False
        if isinstance(item, LocalItem):
            return item.view if item.live is None else _with_live_text(item.view, item.live.text)
        if item.told is not None:
            return msgspec.structs.replace(item.told, mark=item.mark)
        body = self._bodies.get(id(item)) or _Body(item, Folded(item.start))
        stage = (item.end, item.running, item.live.times if item.live is not None else 0)
        if body.view is None or body.stage != stage:
            body.view, body.stage = self._read(item, body), stage
            if self.behind:
                body.stage = ()
            self._bodies.put(id(item), body, max(_EACH, item.end - item.start))
        place = f"{body.view.place} part {item.part}".strip() if item.part else body.view.place
        return msgspec.structs.replace(body.view, place=place, mark=item.mark)

    def _read(self, item: CellItem, body: _Body) -> CellView:
        folded = body.folded or Folded(item.start)
        trouble: tuple[Notice, ...] = ()
        try:
            self.behind = not folded.advance(item.path, item.end, item.ended, _READ_SECONDS)
        except OSError as error:
            trouble = (Notice("error", f"What it said cannot be read any more: {error.strerror or error}"),)
        done = not self.behind and not item.running
        if done and item.ended is not None:
            folded.finish(item.ended)
        body.folded = None if done else folded
        return _view(item, folded, trouble)


def load(item: CellItem | LocalItem) -> CellView:
    """One cell as it stands, for those who show it once."""
    bodies = Bodies()
    view = bodies.view(item)
    while bodies.behind:
        view = bodies.view(item)
    return view


def _view(item: CellItem, folded: Folded, trouble: tuple[Notice, ...]) -> CellView:
    said: list[Output | TextCut] = list(folded.statuses)
    view = view_of(PastCell(item.began, said, item.ended), folded.outputs)
    notices = (*view.notices, *trouble, *_notices(item, folded))
    view = msgspec.structs.replace(view, blocks=tuple(map(_shortened, view.blocks)), notices=notices)
    if item.over and item.ended is None:
        return msgspec.structs.replace(view, status="error", outcome="disconnected")
    if item.running and item.live is not None and folded.holds_back:
        return _with_live_text(view, item.live.text)
    return view


def _notices(item: CellItem, folded: Folded) -> list[Notice]:
    said = []
    if item.over and item.ended is None:
        said.append(Notice("unknown", _OVER))
    if item.running and item.live is None and folded.holds_back:
        said.append(Notice("info", _HELD_BACK))
    if folded.skipped:
        size = -(-folded.skipped >> 20)  # Not nothing, however little it is.
        said.append(Notice("cut", f"{size} MiB of displays are not shown here: export the session."))
    return said


def _with_live_text(view: CellView, text: str) -> CellView:
    """The view with the newest text in place of what its journal has."""
    others = tuple(block for block in view.blocks if not isinstance(block, Words))
    newest: tuple[Block, ...] = (Words(text, "stdout"),) if text else ()
    return msgspec.structs.replace(view, blocks=(*others, *newest))


def _shortened(block: Block) -> Block:
    """A text of which both ends are kept if it is too long to be laid out for a screen."""
    if not isinstance(block, Words) or len(block.text) <= MOST_TEXT:
        return block
    text, cut = block.text, len(block.text) - MOST_TEXT
    note = f"\n[…{cut} characters are not shown here…]\n"
    return Words(text[: MOST_TEXT - _END] + note + text[-_END:], block.kind)
