"""Which session is meant: by its name, as the caller sees it. Nothing is ever started by asking."""

from collections.abc import Sequence

from pisces.errors import NoSuchSession, SessionError
from pisces.journal.folder import JournalInfo, newest_journal
from pisces.sessions.session import Session
from pisces.tools.base import Services
from pisces.tools.seat import labels_of


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


def _names(sessions: Sequence[Session]) -> str:
    return ", ".join(sorted({session.key.id for session in sessions}))
