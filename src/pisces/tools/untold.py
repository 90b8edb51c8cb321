"""A result that nobody was there to read: what it said of the state is told with the next call."""

from pisces.model.results import Details, ToolResult
from pisces.sessions.pool import SessionPool
from pisces.sessions.recovery import StateNews


def leave_untold(pool: SessionPool, result: ToolResult, owner: str) -> None:
    """The owner has not read this result: what became of the state is said again, with its next call."""
    details = result.details
    if not isinstance(details, Details) or details.kernel is None or details.kernel.state == "kept":
        return
    said = [notice.partition("] ")[2] for notice in details.notices if notice.startswith("[State: ")]
    news = StateNews(details.kernel.state, " ".join(said), details.kernel.restore)
    for session in pool.sessions:
        if session.key.id == details.session and owner in session.owners:
            session.leave_news(owner, news)
