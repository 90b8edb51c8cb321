"""Environment variables: looked at and set by `env`."""

from __future__ import annotations

import os

from .status import cut, tell

# What the host masks in its log (`environment/secret_names.py`), by the same net: events are kept in the journal.
_SECRET_ENDINGS = (
    *("_KEY", "_KEYS", "APIKEY", "TOKEN", "SECRET", "SECRETS", "PASSWORD", "PASSWD", "PASSPHRASE", "_PASS", "_PWD"),
    *("_DSN", "CREDENTIAL", "CREDENTIALS", "_CREDS", "_AUTH", "AUTHORIZATION", "_PAT", "COOKIE"),
)
_SECRET_PARTS = ("TOKEN", "SECRET", "PASSWORD", "PASSWD", "PASSPHRASE")
_MASK = "***"
_LONGEST = 500
_NAMED = 20
_JOURNAL = "PI_SESSION_FILE"


def env(key: str | None, value: str | None) -> dict[str, str] | str | None:
    """All variables, one of them, or one that is set now."""
    if key is None:
        if value is not None:
            raise TypeError("env() needs a key to set a value")
        found = dict(os.environ)
        tell(count=len(found), keys=sorted(found)[:_NAMED])
        return found
    if value is None:
        now = os.environ.get(key)
        if now is None and key == _JOURNAL:
            _say_where_the_journal_is()
        tell(key=key, value=None if now is None else _shown(key, now), action="get")
        return now
    text = str(value)
    tell(key=key, value=_shown(key, text), action="set")
    os.environ[key] = text
    return text


def _say_where_the_journal_is() -> None:
    from .artifacts import on_another_machine

    if on_another_machine():
        raise LookupError(
            f"{_JOURNAL} is not set in a kernel on another machine: the journal of the session is a file of the host. "
            "There, `pisces session export` writes it as a notebook. output(3) reads artifact://3 from here."
        )


def _shown(key: str, value: str) -> str:
    name = key.upper()
    secret = name.endswith(_SECRET_ENDINGS) or any(part in name for part in _SECRET_PARTS)
    return _MASK if secret else cut(value, _LONGEST)
