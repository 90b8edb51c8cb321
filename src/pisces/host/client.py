"""The way to the background host, for commands: plain blocking sockets, so that a command starts in no time.

An event loop and the runtime would more than double the time that a short command takes.
"""

import os
import socket
from collections.abc import Callable
from typing import Final

import msgspec

from pisces._version import __version__
from pisces.errors import InvalidCall, PiscesError, SettingsError
from pisces.host.files import HostFiles
from pisces.host.guard import is_foreign
from pisces.host.protocol import (
    MAX_REPLY,
    MAX_REQUEST,
    PROTOCOL,
    Answer,
    Call,
    Cancel,
    Hello,
    NotUnderstood,
    Output,
    Piece,
    Refusal,
    Reply,
    Request,
    Stop,
    Stopping,
    decode_reply,
    encode,
)
from pisces.model.results import Details, TextBlock, ToolResult

_HELLO_SECONDS: Final = 10.0
_CHUNK: Final = 256 * 1024


class HostGone(PiscesError):
    """The connection ended before the host had answered; what became of the request is not known."""


class HostEnding(PiscesError):
    """The host takes no more calls; nothing was done, and another one can be started."""


class HostClient:
    """A connection to a host. It is for one thread; `cancel` may also be called by a signal handler."""

    def __init__(self, connection: socket.socket) -> None:
        self._socket = connection
        self._received = bytearray()
        self._calling = False
        self._cancel_wanted = False
        self._socket.settimeout(_HELLO_SECONDS)
        try:
            hello = self._receive()
        except TimeoutError:
            raise PiscesError(
                f"The background host does not answer within {_HELLO_SECONDS:g} seconds.",
                hint="It may be busy: try again. `pisces host stop --force` kills it, and with it its sessions.",
            ) from None
        if not isinstance(hello, Hello):
            raise NotUnderstood("The background host did not say hello")
        self._socket.settimeout(None)
        self.hello = hello
        """What the host said of itself."""

    @property
    def is_of_this_version(self) -> bool:
        """Whether it can be talked to about anything but its end."""
        return (self.hello.protocol, self.hello.version) == (PROTOCOL, __version__)

    def call(self, call: Call, on_output: Callable[[list[Piece]], None] | None = None) -> msgspec.Raw:
        """Call a tool: the result, as JSON. Output goes to `on_output` while it comes.

        Raises `InvalidCall`, `SettingsError` or `PiscesError` when it is refused, `HostEnding` when another host is
        needed, and `HostGone` when the host ended before it had answered.
        """
        self._send(call)
        self._calling = True
        if self._cancel_wanted:  # A signal came while the call was on its way.
            self._send(Cancel())
        while True:
            match self._receive():
                case Output(pieces=pieces):
                    if on_output is not None:
                        on_output(pieces)
                case Answer(result=result):
                    return result
                case Refusal() as refusal:
                    raise _error(refusal)
                case reply:
                    raise NotUnderstood(f"The background host answered a call with {type(reply).__name__}")

    def cancel(self) -> None:
        """Stop the call that is under way. The result still comes, and says so."""
        self._cancel_wanted = True
        if self._calling:
            self._send(Cancel())

    def stop(self, *, with_sessions: bool) -> None:
        """End the host, and wait until it has ended all there is. Raises `PiscesError` when it has sessions."""
        self._send(Stop(with_sessions))
        reply = self._receive()
        if isinstance(reply, Refusal):
            raise _error(reply)
        if not isinstance(reply, Stopping):
            raise NotUnderstood(f"The background host answered a wish to stop with {type(reply).__name__}")
        try:
            self._receive()
        except HostGone:
            return

    def close(self) -> None:
        """Hang up. A call that is under way is cancelled by it."""
        self._socket.close()

    def _send(self, request: Request) -> None:
        try:
            line = encode(request)
        except UnicodeEncodeError as error:
            raise InvalidCall(f"The call has something in it that is not text: {error}", hint="Use UTF-8.") from None
        if len(line) > MAX_REQUEST:
            raise InvalidCall(
                f"The call is too long for a session: {len(line)} bytes, and {MAX_REQUEST} are allowed.",
                hint="Put the code into a module and import it.",
            )
        try:
            self._socket.sendall(line)
        except OSError:
            pass  # What the host said before it went is still to be read; then its end is seen.

    def _receive(self) -> Reply:
        searched = 0
        while (end := self._received.find(b"\n", searched)) < 0:
            searched = len(self._received)
            if searched > MAX_REPLY:
                raise NotUnderstood(f"The background host sent more than {MAX_REPLY} bytes in one line")
            try:
                received = self._socket.recv(_CHUNK)
            except ConnectionError:
                received = b""
            if not received:
                raise HostGone("The background host has ended.")
            self._received += received
        line = bytes(self._received[:end])
        del self._received[: end + 1]
        return decode_reply(line)


def connect(files: HostFiles) -> HostClient | None:
    """The host that is up; None when there is none."""
    connection = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        connection.connect(os.fspath(files.socket))
        if is_foreign(connection):
            raise PiscesError(
                f"Somebody else listens at {files.socket}.", hint="Set PISCES_HOME to a folder that is yours alone."
            )
        return HostClient(connection)
    except (FileNotFoundError, ConnectionError, NotADirectoryError, HostGone):
        connection.close()
        return None
    except BaseException:
        connection.close()
        raise


def disconnected(session: str) -> ToolResult:
    """The result of a call whose host went away."""
    text = (
        "[State: unknown] The background host ended while the call was under way. How far the code came is not known, "
        f"and what session {session!r} knew is gone: the next call in it begins with a fresh kernel."
    )
    details = Details(session=session, outcome="disconnected", notices=[text], is_error=True)
    return ToolResult(content=[TextBlock(text)], details=details, is_error=True)


def python_result(raw: msgspec.Raw) -> ToolResult:
    """A result of the `python` tool, typed again."""
    result = msgspec.json.decode(raw, type=ToolResult)
    if isinstance(result.details, dict):
        result.details = msgspec.convert(result.details, Details)
    return result


def _error(refusal: Refusal) -> PiscesError:
    kinds: dict[str, type[PiscesError]] = {"call": InvalidCall, "settings": SettingsError, "ending": HostEnding}
    return kinds.get(refusal.kind, PiscesError)(refusal.message, hint=refusal.hint)
