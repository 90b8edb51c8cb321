"""Which session is meant: by its name, as the caller sees it. Nothing is ever started by asking."""

import difflib
from collections.abc import Sequence
from typing import Final

from pisces.errors import NoSuchSession, SessionError
from pisces.journal.folder import JournalInfo, newest_journal
from pisces.output.notice import listed
from pisces.sessions.session import Session
from pisces.tools.base import CallContext, Services
from pisces.tools.seat import labels_of

_LISTED: Final = 10
"""How many sessions a sentence names."""


def find_session(services: Services, owner: str, name: str, kernel: str | None = None) -> Session:
    """The session of that name. Raises `NoSuchSession` with those there are, or `SessionError` when several are meant.

    Of several, those that the caller holds are meant, of these the ones of the folder at hand, and of these the ones
    that run the Python which is configured, not a kernelspec: those are the python tool's.
    """
    open_ones = [session for session in services.pool.sessions if not session.closed]
    found = [session for session in open_ones if session.key.id == name]
    if kernel is not None:
        labels = labels_of(services, kernel)
        found = [session for session in found if session.key.interpreter in labels]
    for narrower in (
        [session for session in found if owner in session.owners],
        [session for session in found if session.key.cwd == services.cwd],
        [session for session in found if not session.key.kernelspec],
    ):
        found = [session for session in found if session in narrower] or found
    if not found:
        why = services.pool.why_ended(name, owner)
        raise NoSuchSession(
            f"There is no session {name!r}{f' with the interpreter {kernel}' if kernel else ''}. "
            f"{f'{why}. ' if why else ''}Sessions: {listed(_names(open_ones, name), _LISTED) or 'none'}",
            hint="The python tool makes a session with its first call.",
        )
    if len(found) > 1:
        interpreters = ", ".join(sorted({session.key.interpreter for session in found}))
        raise SessionError(
            f"There are {len(found)} sessions {name!r}, with the interpreters {interpreters}",
            hint="Say which one is meant with `kernel`.",
        )
    return found[0]


def find_running(services: Services, owner: str, name: str, kernel: str | None = None) -> Session:
    """The same, but of several the one in which a call runs: eval's cells run in those of any language."""
    meant = find_session(services, owner, name, kernel)
    others = [session for session in services.pool.sessions if session.key.id == name and owner in session.owners]
    if kernel is not None or meant.active_stop is not None:
        return meant
    return next((session for session in others if session.active_stop is not None), meant)


def find_past_session(services: Services, name: str, kernel: str | None = None) -> JournalInfo | None:
    """The newest journal of that name, of the sessions of the folder at hand if there are any; None without one."""
    interpreters = () if kernel is None else labels_of(services, kernel)
    return newest_journal(services.journals, name, cwd=services.cwd, interpreters=interpreters)


def shared_notice(session: Session) -> str:
    """What an agent is told of a session that another one uses too."""
    return (
        f"Another agent uses session {session.key.id!r} too: each can change the other's variables. "
        "To work apart, name another `session`."
    )


def separate_notice(session: Session) -> str:
    """The notice for an owner whose reset did not end the session, because others hold it."""
    return (
        f"Others use session {session.key.id!r} too, and keep it as it was. The reset gave you a separate session of "
        "that name; undo does not lead back to the shared one."
    )


def new_session_notice(services: Services, context: CallContext, name: str) -> list[str]:
    """That the session of this name is new, with those that exist: the name may be mistyped.

    Nothing for the default session of a caller that has no other one.
    """
    others = [other for other in services.pool.sessions if not other.closed and other.key.id != name]
    if name == context.default_session and not any(context.owner in other.owners for other in others):
        return []
    existing = listed([repr(other) for other in _names(others, name)], _LISTED)
    return [f"This is a new session {name!r}." + (f" Existing sessions: {existing}." if existing else "")]


def _names(sessions: Sequence[Session], name: str) -> list[str]:
    """Their names: first the one that resembles this name, if any does, then the most recently used."""
    recent = sorted(sessions, key=lambda session: session.last_used, reverse=True)
    names = list(dict.fromkeys(session.key.id for session in recent))
    return list(dict.fromkeys([*difflib.get_close_matches(name, names, n=1), *names]))
