"""The address of an external gateway and the token for it, as the environment gives them."""

from urllib.parse import SplitResult, urlsplit

from pisces.errors import SettingsError

_URL = "PI_PYTHON_GATEWAY_URL"
_TOKEN = "PI_PYTHON_GATEWAY_TOKEN"


def checked_url(url: str) -> str:
    """The address, without a slash at its end. Raises `SettingsError`, which shows no secret that stands in it."""
    try:
        parts = urlsplit(url.strip())
        parts.port  # noqa: B018 - it is looked at, and refused, only when asked for
    except ValueError as error:
        raise SettingsError(f"{_URL} is not a URL: {error}") from None
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise SettingsError(
            f"{_URL} must be an http or https URL, got: {_shown(parts)}", hint="For example http://127.0.0.1:8888"
        )
    if parts.username is not None or parts.query or parts.fragment:
        raise SettingsError(
            f"{_URL} must have neither a login nor a query: {_shown(parts)}", hint=f"A token belongs into {_TOKEN}."
        )
    return parts.geturl().rstrip("/")


def _shown(parts: SplitResult) -> str:
    shown = parts._replace(netloc=parts.netloc.rpartition("@")[2], query="", fragment="").geturl()
    return repr(shown[:200])


def checked_token(token: str) -> str:
    """The token, without blanks around it. Raises `SettingsError` when it cannot stand in a header."""
    token = token.strip()
    if not token.isascii() or not token.isprintable():
        raise SettingsError(f"{_TOKEN} has characters that a token cannot have")
    return token
