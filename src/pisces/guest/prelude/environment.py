"""Environment variables: looked at and set by `env`."""

from __future__ import annotations

import os

from .status import cut, tell

_SECRET_ENDINGS = ("_KEY", "_TOKEN", "_SECRET", "_PASSWORD", "_PASSWD", "_CREDENTIALS")
_SECRET_NAMES = ("TOKEN", "SECRET", "PASSWORD", "PASSWD", "APIKEY")
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
    secret = name.endswith(_SECRET_ENDINGS) or name in _SECRET_NAMES
    return _MASK if secret else cut(value, _LONGEST)
