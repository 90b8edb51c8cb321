"""Who may ask over HTTP: judged by the head of a request alone, before anything of its body is read.

First the names: a web page reaches a server on this machine, by its own name if that leads here (DNS rebinding), and
then the browser holds the two for one. Then the token, and only then what is asked for. No header allows a page
anything, so a browser that asks beforehand (CORS) is refused.
"""

from collections.abc import Collection, Mapping
from typing import Any, Final, Self

import msgspec

from pisces.mcp.http.endpoint import PATH
from pisces.mcp.http.token import Token

LARGEST_BODY: Final = 8 * 1024 * 1024
"""Bytes that a request may have: code of any length, and files of a moderate one."""
METHODS: Final = ("GET", "POST", "DELETE")
_JSON: Final = "application/json"


class Refusal(msgspec.Struct, frozen=True):
    """What a request is answered with that nobody else gets to see."""

    status: int
    text: str = ""
    headers: tuple[tuple[str, str], ...] = ()


class Head(msgspec.Struct, frozen=True):
    """What a request says before its body. Names of headers are in small letters."""

    method: str
    path: str
    headers: tuple[tuple[str, str], ...]

    @classmethod
    def of(cls, scope: Mapping[str, Any]) -> Self:
        """That of a request as ASGI has it. The query is left out: a token in it, where logs have it, is none."""
        headers = tuple((name.decode("latin-1"), value.decode("latin-1")) for name, value in scope["headers"])
        return cls(scope["method"], scope["path"], headers)

    def all(self, name: str) -> list[str]:
        """Every value of a header."""
        return [value for known, value in self.headers if known == name]

    def only(self, name: str) -> str:
        """The value of a header that is there once; empty if it is not."""
        values = self.all(name)
        return values[0] if len(values) == 1 else ""


class Guard:
    """Lets requests in."""

    def __init__(self, names: Collection[str], token: Token) -> None:
        """`names` are what `Host` may say, in small letters."""
        self._names = frozenset(names)
        self._origins = frozenset(f"{scheme}://{name}" for scheme in ("http", "https") for name in names)
        self._token = token

    def refusal(self, head: Head) -> Refusal | None:
        """Why the request is refused; None if it is not."""
        return self._of_sender(head) or self._of_request(head)

    def _of_sender(self, head: Head) -> Refusal | None:
        if head.only("host").lower() not in self._names:
            return Refusal(403, "This server does not go by that name. `--allow-host` gives it further ones.\n")
        origins = head.all("origin")
        if origins and (len(origins) > 1 or origins[0].lower() not in self._origins):
            return Refusal(403, "Web pages may not call this server.\n")
        if not self._token.is_in(head.only("authorization")):
            return Refusal(401, headers=(("WWW-Authenticate", "Bearer"),))
        return None

    def _of_request(self, head: Head) -> Refusal | None:
        if head.path != PATH:
            return Refusal(404, f"There is only {PATH}.\n")
        if head.method not in METHODS:
            return Refusal(405, headers=(("Allow", ", ".join(METHODS)),))
        if head.method == "POST" and head.only("content-type").partition(";")[0].strip().lower() != _JSON:
            return Refusal(415, f"The body has to be {_JSON}.\n")
        length = head.only("content-length")
        if length.isdecimal() and int(length) > LARGEST_BODY:
            return TOO_LARGE
        return None


TOO_LARGE: Final = Refusal(413, f"A request may have {LARGEST_BODY} bytes.\n")
TOO_SLOW: Final = Refusal(408, "The request did not come to its end in time.\n")
STOPPING: Final = Refusal(503, "The server is ending.\n")
FAILED: Final = Refusal(500, "Something went wrong in the server.\n")
