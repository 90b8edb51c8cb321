"""Other sessions, and what has happened in this one."""

import asyncio
import signal
from typing import TYPE_CHECKING, Final

from pisces.errors import InvalidCall
from pisces.tui.desk.sessions import SeenSession, Where
from pisces.tui.plain.typed_numbers import typed_number

if TYPE_CHECKING:
    from pisces.tui.desk.items import Item
    from pisces.tui.plain.talk import Talk

_WHERE: Final[dict[Where, str]] = {
    "host": "in the background host",
    "elsewhere": "in another program",
    "past": "over",
}
_USUALLY: Final = 5
_POLL_SECONDS: Final = 0.1


def list_sessions(talk: "Talk", _argument: str) -> None:
    """Each in a line."""
    seen = talk.wait_for(talk.desk.sessions())
    talk.speech.say(*map(_described, seen) if seen else ("There is no session yet: the first cell makes one.",))


def _described(seen: SeenSession) -> str:
    cells = f"{seen.cells} cell{'' if seen.cells == 1 else 's'}"
    return f"{seen.name}: {_WHERE[seen.where]}{', busy' if seen.busy else ''}, {cells}, {seen.folder}"


def switch(talk: "Talk", name: str) -> None:
    """Work in another session of the host: those of that name that are over, or of other programs, cannot be."""
    there = [seen for seen in _named(talk, name) if seen.where == "host"]
    talk.desk.switch(there[0] if there else SeenSession(name=name, where="host", journal=None))
    _tell_where(talk)


def history(talk: "Talk", number: str) -> None:
    """The last cells, in short."""
    count = typed_number(number or str(_USUALLY), f"A number of cells is needed, got: {number[:80]}")
    _tell_last(talk, count, expanded=False)


def expand(talk: "Talk", _argument: str) -> None:
    """The last cell, in full."""
    _tell_last(talk, 1, expanded=True)


def follow(talk: "Talk", name: str) -> None:
    """Say what happens in a session, until Ctrl+C or its end; then the one of before is in sight again."""
    desk = talk.desk
    before = SeenSession(name=desk.session, where=desk.where, journal=desk.journal)
    followed = before
    if name:
        found = _named(talk, name)
        if not found:
            raise InvalidCall(f"There is no session {name!r}.", hint=":sessions lists them.")
        followed = found[0]
    desk.switch(followed)
    try:
        talk.speech.say(f"Following session {desk.session}, {_WHERE[desk.where]}. Ctrl+C ends that.")
        talk.wait_for(_follow(talk))
    finally:
        desk.switch(before)
    _tell_where(talk)


def _tell_where(talk: "Talk") -> None:
    talk.speech.say(f"Session {talk.desk.session}, {_WHERE[talk.desk.where]}.")


def _named(talk: "Talk", name: str) -> list[SeenSession]:
    """The sessions of a name, that of the host first."""
    if not name:
        raise InvalidCall("Which session? Give its name; :sessions lists them.")
    return [seen for seen in talk.wait_for(talk.desk.sessions()) if seen.name == name]


def _tell_last(talk: "Talk", count: int, *, expanded: bool) -> None:
    talk.wait_for(_catch_up(talk))
    last = talk.desk.timeline.items[-count:] if count else []
    talk.speech.say(*(_told(item, expanded=expanded) for item in last) if last else ("Nothing has happened yet.",))


async def _catch_up(talk: "Talk") -> None:
    await talk.desk.sessions()  # It may have been made, or have begun anew, since.
    while talk.desk.poll():
        pass


async def _follow(talk: "Talk") -> None:
    """Cells are told when they have ended; notices as they come. A session that is over is told to its end."""
    stop = asyncio.Event()
    loop = asyncio.get_running_loop()
    loop.add_signal_handler(signal.SIGINT, stop.set)
    told = 0
    try:
        while not stop.is_set():
            new = talk.desk.poll()
            items = talk.desk.timeline.items
            while told < len(items) and items[told] is not talk.desk.timeline.running:
                talk.speech.say(_told(items[told], expanded=False))
                told += 1
            if talk.desk.where == "past" and not new and told == len(items):
                break  # Nothing more can happen, and nobody may be there to press Ctrl+C.
            await _wait(stop)
    finally:
        loop.remove_signal_handler(signal.SIGINT)
    talk.speech.say("")


async def _wait(stop: asyncio.Event) -> None:
    try:
        await asyncio.wait_for(stop.wait(), _POLL_SECONDS)
    except TimeoutError:
        return


def _told(item: "Item", *, expanded: bool) -> str:
    from pisces.render.plain_cells import plain_cell, plain_notice
    from pisces.tui.desk.body import load
    from pisces.tui.desk.items import NoticeItem

    if isinstance(item, NoticeItem):
        return plain_notice(item.notice).rstrip()
    return plain_cell(load(item), expanded=expanded, variant="own").rstrip()
