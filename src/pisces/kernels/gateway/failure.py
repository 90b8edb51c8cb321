"""What can go wrong on the way to a server, and how it is told."""

import os
import socket
import ssl

from pisces.errors import KernelStartError


class GatewayError(KernelStartError):
    """A server cannot be reached, refuses, or answers something else than it should."""

    HINT = "Check the address and that the server is up: `pisces doctor` does."

    def __init__(self, message: str, *, status: int | None = None, said: str = "", hint: str = "") -> None:
        super().__init__(message, hint=hint or (f"The server says: {said}" if said else self.HINT))
        self.status = status
        """What it answered; None when no answer came, so that what it did is not known."""
        self.said = said
        """The server's own words."""


def reason_of(error: BaseException) -> str:
    """Why a connection failed, in a few words: what the system said, beneath what libraries make of it."""
    found: BaseException | None = error
    while found is not None:
        if isinstance(found, ssl.SSLCertVerificationError):
            return f"its certificate is not trusted ({found.verify_message})"
        if isinstance(found, ssl.SSLError | socket.gaierror) and found.strerror:
            return found.strerror
        if isinstance(found, OSError) and found.errno:
            return os.strerror(found.errno)  # asyncio puts words of its own in its place.
        found = _beneath(found)
    return str(error) or "the connection broke"


def _beneath(error: BaseException) -> BaseException | None:
    if isinstance(error, BaseExceptionGroup):
        return error.exceptions[0]
    return error.__cause__ or error.__context__
