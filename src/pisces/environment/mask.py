"""Secrets out of texts that are written down: trace logs, error messages, progress lines."""

import re
from collections.abc import Mapping
from typing import Final

import msgspec

from pisces.environment.secret_names import looks_secret

MASK: Final = "[masked]"

MIN_LENGTH: Final = 4
"""A shorter value is masked where its name is beside it, not wherever its letters happen to stand."""

_ASSIGNED_NAME: Final = re.compile(r"""(?<![\w-])[A-Za-z_][\w-]*(?=\\?["']?\s*[:=])""")
_ASSIGNED_VALUE: Final = re.compile(
    r"""(?P<lead>\\?["']?\s*[:=]\s*)"""
    r"""(?:"(?:[^"\\]|\\.)*"?|'(?:[^'\\]|\\.)*'?|\\(?P<mark>["'])(?:(?!\\(?P=mark)).)*|[^\s"',;&}\])\\]+)""",
    re.DOTALL,
)
_AUTHORIZATION: Final = re.compile(r"(?i)\b(bearer|basic|token)(\s+)[A-Za-z0-9._~+/=-]{8,}")
_URL_LOGIN: Final = re.compile(r"(?<=://)[^/\s\"'@]+@")


class SecretMask:
    """Replaces secrets by `[masked]`.

    It knows the secret values of an environment and finds them anywhere, also as JSON or a URL spells them; beside
    that it recognises a value by the name it is assigned to, an authorization header, and the login in a URL. It works
    on one text at a time: mask a text before cutting it, since half of a secret cannot be recognised.
    """

    def __init__(self, environ: Mapping[str, str]) -> None:
        values = {value for name, value in environ.items() if looks_secret(name)}
        spellings = {spelling for value in values for spelling in _spellings(value) if len(spelling) >= MIN_LENGTH}
        # Longest first, so that a secret that contains another is masked whole.
        ordered = sorted(spellings, key=len, reverse=True)
        self._values = re.compile("|".join(map(re.escape, ordered))) if ordered else None

    def text(self, text: str) -> str:
        """The text without secrets."""
        if self._values is not None:
            text = self._values.sub(MASK, text)
        text = _URL_LOGIN.sub(f"{MASK}@", text)
        text = _AUTHORIZATION.sub(rf"\1\2{MASK}", text)
        return _mask_assigned(text)


def _mask_assigned(text: str) -> str:
    """Mask what is assigned to a telling name. Only such values are skipped: others may hold assignments themselves."""
    pieces: list[str] = []
    done = 0
    for name in _ASSIGNED_NAME.finditer(text):
        if name.start() < done or not looks_secret(name[0].replace("-", "_")):
            continue
        value = _ASSIGNED_VALUE.match(text, name.end())
        if value is not None:
            pieces += [text[done : value.end("lead")], MASK]
            done = value.end()
    return "".join((*pieces, text[done:]))


def _spellings(value: str) -> set[str]:
    from urllib.parse import quote  # 4 ms that only a trace or a set-up pays

    readable = value.encode("utf-8", "replace").decode("utf-8")
    in_code = repr(readable)[1:-1]
    plain = {value, readable, in_code, quote(readable), quote(readable, safe="")}
    return plain | {spelling for text in (readable, in_code) for spelling in _in_json(text)}


def _in_json(text: str) -> tuple[str, str]:
    """With its characters as they are, and in ASCII."""
    encoded = msgspec.json.encode(text).decode("utf-8")[1:-1]
    return encoded, "".join(c if c.isascii() else _ascii_escape(c) for c in encoded)


def _ascii_escape(character: str) -> str:
    units = character.encode("utf-16-be")
    return "".join(f"\\u{units[i]:02x}{units[i + 1]:02x}" for i in range(0, len(units), 2))
