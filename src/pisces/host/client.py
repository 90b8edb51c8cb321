"""The way to the background host, for commands: plain blocking sockets, so that a command starts in no time.

An event loop and the runtime would more than double the time that a short command takes.
"""

import os
import socket
import struct
import time
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
    Complete,
    Completed,
    Hello,
    NotUnderstood,
    Output,
    Piece,
    Refusal,
    Reply,
    Request,
    Stop,
    Stopping,
    Told,
    decode_reply,
    encode,
)
from pisces.model.completion import Completion
from pisces.model.results import Details, TextBlock, ToolResult
from pisces.settings.paths import Paths

_HELLO_SECONDS: Final = 10.0
_STOP_SECONDS: Final = 60.0
_USUAL_TIMEOUT: Final = 30.0
_USUAL_FOR_NOTEBOOKS: Final = 600.0
"""What the setting `python.maxTimeout` is as a rule: only the host knows what it is there."""
_LONGEST: Final = 1e7  # No cell may take so long, and the system can still wait for it.
_ON_TOP: Final = 60.0
"""What a host may take beyond the time of a call: to have a cell settle (5 s), and a state come back (25 s)."""
_LOOK_AFTER: Final = 20.0
"""An attended call may take days: after so long without a word, it is seen whether the host is still there."""
_MOST_ON_TOP: Final = 660.0
"""The same where it still says hello: `python.interruptGrace` may be ten minutes."""
_CHUNK: Final = 256 * 1024


class HostGone(PiscesError):
    """The connection ended before the host had answered; what became of the request is not known."""


class HostSilent(PiscesError):
    """The host is there and does not answer; what became of the request, and of its sessions, is not known."""

    def __init__(self, seconds: float) -> None:
        super().__init__(
            f"The background host does not answer within {seconds:.0f} seconds.",
            hint="It may be busy: try again. `pisces host stop --force` kills it, and with it its sessions.",
        )


class HostEnding(PiscesError):
    """The host takes no more calls; nothing was done, and another one can be started."""


class HostClient:
    """A connection to a host. It is for one thread; `cancel` may also be called by a signal handler."""

    def __init__(self, connection: socket.socket) -> None:
        self._socket = connection
        self._received = bytearray()
        self._calling = False
        self._cancel_wanted = False
        self._wait_at_most(_HELLO_SECONDS)
        hello = self._receive()
        if not isinstance(hello, Hello):
            raise NotUnderstood("The background host did not say hello")
        self.hello = hello
        """What the host said of itself."""

    @property
    def is_of_this_version(self) -> bool:
        """Whether it can be talked to about anything but its end."""
        return (self.hello.protocol, self.hello.version) == (PROTOCOL, __version__)

    def call(
        self,
        call: Call,
        on_output: Callable[[list[Piece]], None] | None = None,
        on_told: Callable[[Told], None] | None = None,
    ) -> msgspec.Raw:
        """Call a tool: the result, as JSON. Output goes to `on_output` while it comes, its newest part to `on_told`.

        Raises `InvalidCall`, `SettingsError` or `PiscesError` when it is refused, `HostEnding` when another host is
        needed, `HostGone` when the host ended before it had answered, and `HostSilent` when it does not answer.
        """
        usual, most = _seconds_of(call)
        self._wait_at_most(_LOOK_AFTER if call.attended else usual + _ON_TOP, most + _MOST_ON_TOP)
        self._send(call)
        self._calling = True
        if self._cancel_wanted:  # A signal came while the call was on its way.
            self._send(Cancel())
        while True:
            match self._receive():
                case Output(pieces=pieces):
                    if on_output is not None:
                        on_output(pieces)
                case Told() as told:
                    if on_told is not None:
                        on_told(told)
                case Answer(result=result):
                    return result
                case Refusal() as refusal:
                    raise _error(refusal)
                case reply:
                    raise NotUnderstood(f"The background host answered a call with {type(reply).__name__}")

    def complete(self, session: str, code: str, cursor: int, seconds: float) -> Completion:
        """What could stand at a cursor; nothing where the host does not say it in so many seconds."""
        self._wait_at_most(seconds)
        self._send(Complete(session, code.encode("utf-8", "replace").decode("utf-8"), cursor))
        try:
            reply = self._receive()
        except (HostGone, HostSilent):
            return Completion()
        return reply.completion if isinstance(reply, Completed) else Completion()

    def cancel(self) -> None:
        """Stop the call that is under way. The result still comes, and says so."""
        self._cancel_wanted = True
        if self._calling:
            self._send(Cancel())

    def stop(self, *, with_sessions: bool) -> None:
        """End the host, and wait until it has ended all there is. Raises `PiscesError` when it has sessions."""
        self._wait_at_most(_STOP_SECONDS)
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

    def hang_up(self) -> None:
        """The same, from another thread: the one that waits for an answer is told that the host is gone."""
        try:
            self._socket.shutdown(socket.SHUT_RDWR)
        except OSError:
            pass  # It is closed already, or the host has gone.

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
            received = self._receive_some()
            if not received:
                raise HostGone("The background host has ended.")
            self._received += received
        line = bytes(self._received[:end])
        del self._received[: end + 1]
        return decode_reply(line)

    def _wait_at_most(self, seconds: float, if_it_lives: float = 0.0) -> None:
        """Wait so long for all that is to come, and up to `if_it_lives` seconds if the host says hello to others."""
        self._began = time.monotonic()
        self._look_after, self._give_up_after = seconds, max(seconds, if_it_lives)
        self._socket.settimeout(seconds)

    def _receive_some(self) -> bytes:
        """Something of what comes; nothing when the host has ended. What is there already is had, however late."""
        while True:
            try:
                return self._socket.recv(_CHUNK)
            except ConnectionError:
                return b""
            except TimeoutError:
                waited = time.monotonic() - self._began
                if waited >= self._give_up_after or (waited >= self._look_after and not self._says_hello_to_others()):
                    raise HostSilent(waited) from None
                self._socket.settimeout(min(_ON_TOP, self._look_after))

    def _says_hello_to_others(self) -> bool:
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as another:
            try:
                _connect(another, self._socket.getpeername())
                HostClient(another)
            except (OSError, PiscesError):
                return False
        return True


def connect(files: HostFiles) -> HostClient | None:
    """The host that is up; None when there is none."""
    connection = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        _connect(connection, os.fspath(files.socket))
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


def _connect(connection: socket.socket, address: str) -> None:
    """Connect, also where many wait for the host already. Raises `HostSilent` when it lets nobody in."""
    # `settimeout` would not do: a socket that has one is refused at once where it has to wait.
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_SNDTIMEO, struct.pack("ll", round(_HELLO_SECONDS), 0))
    try:
        connection.connect(address)
    except BlockingIOError:
        raise HostSilent(_HELLO_SECONDS) from None


def disconnected(session: str) -> ToolResult:
    """The result of a call whose host went away."""
    from pisces.sessions.kernel_records import KernelRecords

    stays = KernelRecords(Paths.locate(os.environ).kernels).of(session) is not None
    then = (
        f"Session {session!r} has its kernel on a gateway, where it may still be: the next call looks for it."
        if stays
        else f"What session {session!r} knew is gone: the next call in it begins with a fresh kernel."
    )
    ended = "The background host ended while the call was under way. How far the code came is not known."
    text = f"[State: unknown] {ended} {then}"
    details = Details(session=session, outcome="disconnected", notices=[text], is_error=True)
    return ToolResult(content=[TextBlock(text)], details=details, is_error=True)


def unanswered(session: str, silent: HostSilent) -> ToolResult:
    """The result of a call whose host is there and does not answer."""
    text = (
        f"[State: unknown] {silent} How far the code came, and what session {session!r} knows, is not known. "
        f"`pisces host status` shows whether the host answers again. `pisces host stop --force` kills it, and with it "
        "its sessions."
    )
    details = Details(session=session, outcome="disconnected", notices=[text], is_error=True)
    return ToolResult(content=[TextBlock(text)], details=details, is_error=True)


def _seconds_of(call: Call) -> tuple[float, float]:
    """The time of a call, as a rule and at most; what is no number of seconds is refused by the host at once."""
    asked = call.params.get("timeout")
    if isinstance(asked, int | float) and asked >= 0:
        seconds = min(float(asked), _LONGEST)
        return seconds, seconds
    return (_USUAL_TIMEOUT, _USUAL_TIMEOUT) if call.tool != "notebook" else (_USUAL_FOR_NOTEBOOKS, _LONGEST)


def python_result(raw: msgspec.Raw) -> ToolResult:
    """A result of the `python` tool, typed again."""
    result = msgspec.json.decode(raw, type=ToolResult)
    if isinstance(result.details, dict):
        result.details = msgspec.convert(result.details, Details)
    return result


def _error(refusal: Refusal) -> PiscesError:
    kinds: dict[str, type[PiscesError]] = {"call": InvalidCall, "settings": SettingsError, "ending": HostEnding}
    return kinds.get(refusal.kind, PiscesError)(refusal.message, hint=refusal.hint)
