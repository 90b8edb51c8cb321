"""The token that every request over HTTP has to have. Whoever has it can run code here."""

import hmac
import os
import re
import secrets
from collections.abc import MutableMapping
from pathlib import Path
from typing import Final

from pisces.errors import InvalidCall

TOKEN_VARIABLE: Final = "PISCES_MCP_TOKEN"
_TOKEN: Final = re.compile(r"[A-Za-z0-9._~+/=-]{16,1024}")
"""What may be in a header as it is, and is too long to be guessed."""
_MADE_BYTES: Final = 32
_LARGEST_FILE: Final = 64 * 1024
_SCHEME: Final = "bearer "


class Token:
    """A secret. It shows itself nowhere unless its value is asked for."""

    def __init__(self, value: str, source: str) -> None:
        """Raises `InvalidCall` for one that no header can have, or that could be guessed."""
        if _TOKEN.fullmatch(value) is None:
            raise InvalidCall(
                f"The token of {source} cannot be used",
                hint="It takes 16 to 1024 letters, digits and characters of `._~+/=-`.",
            )
        self.value = value
        self.source = source
        """Where it comes from, for the reader; empty if it was made."""

    def __repr__(self) -> str:
        return f"Token(of {self.source or 'our own making'})"

    def is_in(self, authorization: str) -> bool:
        """Whether a header `Authorization` has it. How long that takes says nothing about it."""
        if not authorization.lower().startswith(_SCHEME):
            return False
        given = authorization[len(_SCHEME) :].strip()
        return hmac.compare_digest(given.encode("utf-8", "replace"), self.value.encode())


def find_token(file: str | None, environ: MutableMapping[str, str]) -> Token:
    """The token of the file, else that of `PISCES_MCP_TOKEN`, else a new one. Raises `InvalidCall`.

    The variable is taken out of the environment: cells have no use for it.
    """
    given = environ.pop(TOKEN_VARIABLE, "").strip()
    if file is not None:
        return Token(_content(file), file)
    if given:
        return Token(given, TOKEN_VARIABLE)
    return Token(secrets.token_urlsafe(_MADE_BYTES), "")


def _content(file: str) -> str:
    path = Path(os.path.expanduser(file))
    try:
        with path.open("rb") as opened:
            content = opened.read(_LARGEST_FILE)
    except OSError as error:
        raise InvalidCall(f"The token cannot be read from {file}: {error.strerror}") from error
    return content.decode("utf-8-sig", "replace").strip()  # Some editors begin a file with a mark.
