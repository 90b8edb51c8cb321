"""Environment variables: looked at and set by `env`."""

from __future__ import annotations

import os

from .status import cut, tell

# What the host masks in its log (`environment/secret_names.py`), by the same net: events are kept in the journal.
_SECRET_ENDINGS = ("_KEY", "APIKEY", "_AUTH", "AUTHORIZATION", "CREDENTIALS", "COOKIE", "_PWD", "_PAT", "_DSN")
_SECRET_PARTS = ("TOKEN", "SECRET", "PASSWORD", "PASSWD", "PASSPHRASE")
_MASK = "***"
_LONGEST = 500
_NAMED = 20


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
        tell(key=key, value=None if now is None else _shown(key, now), action="get")
        return now
    text = str(value)
    tell(key=key, value=_shown(key, text), action="set")
    os.environ[key] = text
    return text


def _shown(key: str, value: str) -> str:
    name = key.upper()
    secret = name.endswith(_SECRET_ENDINGS) or any(part in name for part in _SECRET_PARTS)
    return _MASK if secret else cut(value, _LONGEST)
