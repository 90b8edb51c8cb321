"""Who holds a session, and what each of them has not been told yet of what became of its state."""

from pisces.sessions.recovery import StateNews


class OwnerNews:
    """Each owner is told once, with its next call."""

    def __init__(self) -> None:
        self.owners: dict[str, bool] = {}
        """Who holds the session, and whether they are connected at the moment."""
        self._news: dict[str, StateNews] = {}
        """What became of the state since an owner was last told of it, by owner."""

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
