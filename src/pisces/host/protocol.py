"""What a command and the background host say to each other: JSON, one message per line, of bounded length.

The host speaks first, with `Hello`. A client of another version can read that much, and `Stop` is understood by every
version: so the two can always part in good order. After it the client sends a `Call` and gets `Output`, any number of
times, then one `Answer` or `Refusal`; meanwhile it may send `Cancel`. Calls on one connection follow each other; a
client that hangs up during a call cancels it. `Complete`, in the place of a call, gets one `Completed`.
"""

import os
from typing import Any, Final, Literal

import msgspec

from pisces.errors import PiscesError
from pisces.model.cells import CellStatus
from pisces.model.completion import Completion

PROTOCOL: Final = 1
"""Counts up when a message changes so that the other side would misread it."""

MAX_REQUEST: Final = 32 * 1024 * 1024
MAX_REPLY: Final = 512 * 1024 * 1024
"""A result with its pictures is a few megabytes; far above that, the other side is not one of ours."""

RefusalKind = Literal["call", "settings", "ending", "failed"]
"""Wrong parameters, wrong settings, a host that takes no more calls, or something that could not be done.

Only with the last can anything have been done.
"""


class Place(msgspec.Struct, frozen=True):
    """Where a command was given. Bytes, because neither folders nor variables need be text."""

    cwd: bytes
    environ: bytes
    """`NAME=value`, each ended by a zero byte."""
    settings: dict[str, Any] = {}
    """What options of the command set, by dotted name."""

    @classmethod
    def here(cls, cwd: str, settings: dict[str, Any]) -> "Place":
        """The place of this process, with a folder in the stead of its own."""
        environ = b"".join(b"%b=%b\0" % pair for pair in os.environb.items())
        return cls(os.fsencode(os.path.realpath(cwd)), environ, settings)


class Call(msgspec.Struct, frozen=True, kw_only=True, tag="call"):
    """Call a tool."""

    tool: str
    params: dict[str, Any]
    place: Place
    stream: bool = False
    """Send the output while it comes."""
    newest: bool = False
    """Tell every now and then the newest of the output: for those who show it, and cannot show all."""
    read_with: str = "Read artifact://{id}"
    keep_going: bool = False
    attended: bool = False
    """A person sees it run and can stop it: no setting limits the time that it may ask for."""


class Cancel(msgspec.Struct, frozen=True, tag="cancel"):
    """Stop the call that is under way; its result says `interrupted`."""


class Complete(msgspec.Struct, frozen=True, tag="complete"):
    """Ask what could stand at a cursor, in code for a session; answered with `Completed`, and nothing is started."""

    session: str
    code: str
    cursor: int
    """In characters."""


class Stop(msgspec.Struct, frozen=True, tag="stop"):
    """End the host."""

    with_sessions: bool = False
    """Also when that ends sessions."""


Request = Call | Cancel | Complete | Stop


class SessionLine(msgspec.Struct, frozen=True):
    """A session that the host keeps, and the folder it was made in."""

    name: str
    cwd: str
    stays: bool = False
    """Whether its kernel lives on without the host, on a gateway."""


class Hello(msgspec.Struct, frozen=True, tag="hello"):
    """Who listens. What is added to it needs a default: older hosts do not send it."""

    protocol: int
    version: str
    pid: int = 0
    started: float = 0.0
    """Seconds since the epoch."""
    sessions: tuple[SessionLine, ...] = ()


class Piece(msgspec.Struct, frozen=True, array_like=True):
    """A piece of output; an empty text says that the cell begins."""

    cell: int
    title: str
    text: str
    before: tuple[CellStatus, float | None] | None = None
    """Where a cell begins: how the one before it ended, and after how many milliseconds."""


class Output(msgspec.Struct, frozen=True, tag="output"):
    """Output of the running call."""

    pieces: list[Piece]


class Told(msgspec.Struct, frozen=True, tag="told"):
    """How the running call stands: in place of all that was told before."""

    begun: bool
    """Whether a cell has begun; until then it may wait for its turn."""
    tail: str
    """The newest of its output."""


class Answer(msgspec.Struct, frozen=True, tag="answer"):
    """The result of a call, as the tool gave it."""

    result: msgspec.Raw


class Refusal(msgspec.Struct, frozen=True, tag="refusal"):
    """The call was not carried out."""

    kind: RefusalKind
    message: str
    hint: str = ""


class Completed(msgspec.Struct, frozen=True, tag="completed"):
    """What could stand at the cursor."""

    completion: Completion


class Stopping(msgspec.Struct, frozen=True, tag="stopping"):
    """The host ends; it closes the connection when it has ended everything."""


Reply = Hello | Output | Told | Answer | Refusal | Completed | Stopping

_encoder = msgspec.json.Encoder()
_requests: msgspec.json.Decoder[Request] = msgspec.json.Decoder(Request)
_replies: msgspec.json.Decoder[Reply] = msgspec.json.Decoder(Reply)


class NotUnderstood(PiscesError):
    """A message that is not of this protocol."""


def encode(message: Request | Reply) -> bytes:
    """The message as a line. Raises `UnicodeEncodeError` for text that is not text."""
    return _encoder.encode(message) + b"\n"


def decode_request(line: bytes) -> Request:
    """What a client wants."""
    try:
        return _requests.decode(line)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise NotUnderstood(f"The request cannot be understood: {error}") from error


def decode_reply(line: bytes) -> Reply:
    """What the host says."""
    try:
        return _replies.decode(line)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise NotUnderstood(f"The background host sent something that cannot be understood: {error}") from error


def printable(text: str) -> str:
    """A text that can be sent, whatever it quotes: names of files need not be text."""
    return text.encode("utf-8", "backslashreplace").decode("utf-8")


def unpack_environ(packed: bytes) -> dict[str, str]:
    """The environment as `os.environ` would have it."""
    pairs = (entry.partition(b"=") for entry in packed.split(b"\0") if entry)
    return {os.fsdecode(name): os.fsdecode(value) for name, _, value in pairs}
