"""Who holds a session, and what each of them has not been told yet: of its state, and of others that use it."""

from typing import Final

from pisces.sessions.recovery import StateNews

_CALLERS: Final = 100
"""How many agents of a session are remembered; the oldest are forgotten."""


class OwnerNews:
    """Each owner is told once, with its next call."""

    def __init__(self) -> None:
        self.owners: dict[str, bool] = {}
        """Who holds the session, and whether they are connected at the moment."""
        self._news: dict[str, StateNews] = {}
        """What became of the state since an owner was last told of it, by owner."""
        self._callers: dict[str, bool] = {}
        """The agents that have used it, and whether each has been told of the others."""

    @property
    def shared(self) -> bool:
        """Whether several agents have used it."""
        return len(self._callers) > 1

    def used_by(self, caller: str) -> None:
        """This agent uses it; nothing is known of one without an id."""
        if caller and caller not in self._callers:
            self._callers[caller] = False
            if len(self._callers) > _CALLERS:
                del self._callers[next(iter(self._callers))]

    def take_sharing(self, caller: str) -> bool:
        """True once for each agent that has not heard yet that others use the session too."""
        if not self.shared or self._callers.get(caller, True):
            return False
        self._callers[caller] = True
        return True

    def announce(self, news: StateNews, *, but: str = "") -> None:
        """Something became of the state: each owner hears of it with its next call, and of what had become of it."""
        for owner in self.owners:
            if owner != but:
                known = self._news.get(owner)
                self._news[owner] = news if known is None else known.then(news)

    def leave_news(self, owner: str, news: StateNews) -> None:
        """This owner alone is to hear of it with its next call, and of what has happened since."""
        since = self._news.get(owner)
        self._news[owner] = news if since is None else news.then(since)

    def take_news(self, owner: str) -> StateNews | None:
        """What became of the state since this owner was last told; told once."""
        return self._news.pop(owner, None)

    def news_for(self, owner: str) -> StateNews | None:
        """The same, without its being told."""
        return self._news.get(owner)

    def forget_news(self) -> None:
        """Nobody need be told: it is about a state that nobody has any more."""
        self._news.clear()
