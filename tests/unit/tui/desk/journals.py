"""Journals for tests of what the UI makes of them: written as a session writes them, followed as the UI does."""

from collections.abc import Iterable
from pathlib import Path

from pisces.journal.entries import AnyEntry
from pisces.journal.line import encode_line
from pisces.journal.tail import Placed
from pisces.tui.desk.following import Following
from pisces.tui.desk.items import CellItem, NoticeItem
from pisces.tui.desk.timeline import Timeline


def timeline_of(entries: Iterable[AnyEntry]) -> Timeline:
    """What a timeline makes of entries."""
    timeline = Timeline()
    placed = [Placed(entry, at, at + 1) for at, entry in enumerate(entries)]
    timeline.follow(Path("journal"), placed, len(placed))
    return timeline


def write(path: Path, *entries: AnyEntry) -> Path:
    """Add entries to a journal."""
    with path.open("ab") as file:
        file.writelines(map(encode_line, entries))
    return path


def read_all(following: Following) -> Timeline:
    """Follow until there is nothing new."""
    while following.poll():
        pass
    return following.timeline


def cells(timeline: Timeline) -> list[str]:
    """The code of the cells, each with what became of it in brackets."""
    items = [item for item in timeline.items if isinstance(item, CellItem)]
    return [f"{item.began.code} ({item.mark})" if item.mark else item.began.code for item in items]


def said(timeline: Timeline) -> list[str]:
    """What was said between the cells."""
    return [item.notice.text for item in timeline.items if isinstance(item, NoticeItem)]


def cell_items(timeline: Timeline) -> list[CellItem]:
    """The cells alone."""
    return [item for item in timeline.items if isinstance(item, CellItem)]
