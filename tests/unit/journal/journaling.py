"""Entries for tests, in few words."""

from collections.abc import Iterable
from typing import Any

from pisces.journal.entries import AnyEntry, CellBegan, CellEnded, Output, SessionBegan
from pisces.model.events import AnyEvent

BEGAN = SessionBegan(1.0, "s", "/somewhere", "python", "native", "1.0.0")


def cell(number: int, code: str, *events: AnyEvent, position: int | None = None, **ended: Any) -> list[AnyEntry]:
    """A cell from its beginning to its end; its position is its number unless another one is given."""
    return [
        CellBegan(2.0, number, code),
        *(Output(2.0, number, event) for event in events),
        CellEnded(3.0, number, position=number if position is None else position, **ended),
    ]


def joined(*parts: Iterable[AnyEntry] | AnyEntry) -> list[AnyEntry]:
    """Entries and lists of them, one after the other."""
    entries: list[AnyEntry] = []
    for part in parts:
        if isinstance(part, Iterable):
            entries += part
        else:
            entries.append(part)
    return entries
