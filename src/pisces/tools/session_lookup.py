"""Which session is meant: by its name, as the caller sees it. Nothing is ever started by asking."""

from collections.abc import Sequence

from pisces.errors import NoSuchSession, SessionError
from pisces.journal.folder import JournalInfo, newest_journal
from pisces.sessions.session import Session
from pisces.tools.base import Services


def find_session(services: Services, owner: str, name: str, kernel: str | None = None) -> Session:
    """The session of that name. Raises `NoSuchSession` with those there are, or `SessionError` when several are meant.

    Of several, those that the caller holds are meant, and of these the ones of the folder at hand.
    """
    open_ones = [session for session in services.pool.sessions if not session.closed]
    found = [session for session in open_ones if session.key.id == name]
    if kernel is not None:
        path = services.interpreters.path_of(kernel)
        found = [session for session in found if session.key.interpreter in (kernel, path)]
    for narrower in (
        [session for session in found if owner in session.owners],
        [session for session in found if session.key.cwd == services.cwd],
    ):
        found = [session for session in found if session in narrower] or found
    if not found:
        raise NoSuchSession(
            f"There is no session {name!r}{f' with the interpreter {kernel}' if kernel else ''}. "
            f"Sessions: {_names(open_ones) or 'none'}",
            hint="The python tool makes a session with its first call.",
        )
    if len(found) > 1:
        interpreters = ", ".join(sorted({session.key.interpreter for session in found}))
        raise SessionError(
            f"There are {len(found)} sessions {name!r}, with the interpreters {interpreters}",
            hint="Say which one is meant with `kernel`.",
        )
    return found[0]


def find_past_session(services: Services, name: str, kernel: str | None = None) -> JournalInfo | None:
    """The newest journal of that name, of the sessions of the folder at hand if there are any; None without one."""
    interpreters = () if kernel is None else (kernel, services.interpreters.path_of(kernel))
    return newest_journal(services.journals, name, cwd=services.cwd, interpreters=interpreters)


def _names(sessions: Sequence[Session]) -> str:
    return ", ".join(sorted({session.key.id for session in sessions}))
