"""The first row of a cell: how it stands, which one it is, what it is called, and how long it took."""

from typing import Final

from rich.cells import cell_len
from rich.segment import Segment
from rich.style import Style

from pisces.render.look import Look
from pisces.render.palette import BOLD, BY_STATUS, DIM, PLACE, WARNING
from pisces.render.rows import Row, cropped
from pisces.render.shown_text import one_line
from pisces.render.spans import duration
from pisces.render.view import CellView

_SIGNS: Final = {"pending": "○", "complete": "✓", "error": "✗"}
_SPINNER: Final = "⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏"
_FRAMES_PER_SECOND: Final = 10


def sign(view: CellView, look: Look) -> str:
    """How the cell stands, in one column; of a cell that runs, a spinner that turns with the time."""
    if view.status == "running":
        return _SPINNER[int(look.now * _FRAMES_PER_SECOND) % len(_SPINNER)]
    return _SIGNS[view.status]


def facts(view: CellView, now: float) -> list[str]:
    """What there is to say of how it went: how long, how it ended, what became of it."""
    made: list[str] = []
    if view.duration_ms is not None:
        made.append(duration(view.duration_ms))
    elif view.status == "running" and view.began is not None and now > view.began:
        made.append(duration((now - view.began) * 1000))
    if view.outcome is not None and view.outcome != "ok" and not view.only_exited:
        made.append(view.outcome)
    elif view.outcome is None and view.status in {"pending", "running"}:
        made.append(view.status)
    if view.shown_exit_code is not None:
        made.append(f"exit {view.shown_exit_code}")
    if view.mark:
        made.append(one_line(view.mark))
    return made


def heading_row(view: CellView, look: Look, *, ruled: bool) -> Row:
    """The heading, no wider than there is room: the title gives way first. With `ruled` a line fills the row."""
    status = BY_STATUS[view.status]
    lead = [Segment("╭─ ", status)] if ruled else []
    lead.append(Segment(sign(view, look), status + BOLD))
    place, title = one_line(view.place), one_line(view.title)
    said = " · ".join(facts(view, look.now))
    used = cell_len("".join(piece.text for piece in lead))
    room = look.width - used
    gap = " " if ruled or not (place or title) else " · "
    said = cropped(said, room - len(gap))
    room -= cell_len(said) + len(gap) if said else 0
    place = cropped(place, room - 1)
    row = [*lead, *([Segment(f" {place}", PLACE)] if place else [])]
    room -= cell_len(place) + 1 if place else 0
    title = cropped(title, room - 1) if room > 2 else ""
    if title:
        row.append(Segment(f" {title}", BOLD))
        room -= cell_len(title) + 1
    if ruled and room > 1:
        row.append(Segment(f" {'─' * (room - 1)}", status + DIM))
    if said:
        row.append(Segment(f"{gap}{said}", _fact_style(view)))
    return tuple(row)


def _fact_style(view: CellView) -> Style:
    if view.mark:
        return WARNING
    return BY_STATUS["error"] if view.status == "error" else DIM
