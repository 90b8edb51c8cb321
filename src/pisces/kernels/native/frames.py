"""The codec of the wire between host and guest: newline-delimited JSON, checked once, typed from here on.

Knows nothing of processes. A line that is no frame is counted and dropped: it never harms the host, and the
execution that meets it names the number in its result.
"""

from typing import Any

import msgspec

from pisces.model.events import DoneStatus, Variable, VariableChanges

_LINE_LIMIT = 64 << 20
"""A line longer than this is no frame of ours: the guest sends parts of at most 1 MiB."""
_PARTS_LIMIT = 1 << 30


class _Frame(msgspec.Struct, frozen=True, tag_field="type"):
    id: int | None = None


class ReadyFrame(_Frame, frozen=True, tag="ready"):
    """The kernel waits for its first cell."""

    shell: str = ""
    version: str = ""
    note: str = ""
    missing: tuple[str, ...] = ()
    """What did not come back, when it goes on from a checkpoint."""


class CheckpointedFrame(_Frame, frozen=True, tag="checkpointed"):
    """The kernel goes on after a checkpoint was made, or could not be."""

    blocked_us: int = 0
    problem: str = ""


class VariablesFrame(_Frame, frozen=True, tag="variables"):
    """Every name of the user's."""

    variables: tuple[Variable, ...] = ()


class CompletedFrame(_Frame, frozen=True, tag="completed"):
    """What could stand at a cursor."""

    matches: tuple[str, ...] = ()
    start: int = 0
    end: int = 0


class LoadedFrame(_Frame, frozen=True, tag="loaded"):
    """The variables of a checkpoint were taken over."""

    missing: tuple[str, ...] = ()
    problem: str = ""
    """Why nothing at all was taken over; empty when something was, or there was nothing."""


class InputFrame(_Frame, frozen=True, tag="input"):
    """The code asked for input and was refused."""

    prompt: str = ""
    password: bool = False


class PlacedFrame(_Frame, frozen=True, kw_only=True):
    """A frame with a place in the output: after all text in front of the marker of this number."""

    mark: int
    marked: bool = True
    """Whether that marker is in the pipes already; if not, all text in front of it had been read before."""


class DisplayFrame(PlacedFrame, frozen=True, kw_only=True, tag="display"):
    """A MIME bundle to show."""

    bundle: dict[str, Any]
    metadata: dict[str, Any] = {}
    display_id: str | None = None
    update: bool = False


class ResultFrame(PlacedFrame, frozen=True, kw_only=True, tag="result"):
    """The value of the last expression."""

    bundle: dict[str, Any]
    metadata: dict[str, Any] = {}
    execution_count: int | None = None


class ClearFrame(PlacedFrame, frozen=True, kw_only=True, tag="clear"):
    """Take back the output so far."""

    wait: bool = False


class ErrorFrame(PlacedFrame, frozen=True, kw_only=True, tag="error"):
    """The code raised."""

    ename: str
    evalue: str
    traceback: tuple[str, ...] = ()


class DoneFrame(PlacedFrame, frozen=True, kw_only=True, tag="done"):
    """The cell is over and all its output is in the pipes."""

    status: DoneStatus
    execution_count: int | None = None
    exit_code: int | None = None
    variables: VariableChanges | None = None
    faults: int = 0
    """How many pages the process has touched first, or had to copy, in its life."""
    obstacle: str = ""
    """Why no checkpoint could be made now; empty when one could."""


class PartFrame(_Frame, frozen=True, tag="part"):
    """A piece of the JSON text of a frame that is too long for one line."""

    seq: int = 0
    last: bool = False
    data: str = ""


OutputFrame = DisplayFrame | ResultFrame | ClearFrame | ErrorFrame
ControlFrame = ReadyFrame | CheckpointedFrame | VariablesFrame | CompletedFrame | LoadedFrame
GuestFrame = ControlFrame | InputFrame | OutputFrame | DoneFrame | PartFrame

_decoder: msgspec.json.Decoder[GuestFrame] = msgspec.json.Decoder(GuestFrame)
_encoder = msgspec.json.Encoder()


def encode_request(request: dict[str, Any]) -> bytes:
    """One line for the guest. Lone surrogates, which UTF-8 cannot carry, become question marks."""
    try:
        return _encoder.encode(request) + b"\n"
    except UnicodeEncodeError:
        code = request["code"].encode("utf-8", "replace").decode("utf-8")
        return _encoder.encode({**request, "code": code}) + b"\n"


class FrameDecoder:
    """Bytes in, frames out; puts parts together again and counts what it does not understand."""

    def __init__(self) -> None:
        self.malformed = 0
        self._rest = bytearray()
        self._parts: list[str] = []
        self._parts_size = 0

    def feed(self, data: bytes) -> list[GuestFrame]:
        """The frames that these bytes complete."""
        if not self._rest and data.count(b"\n") == 2 and data.startswith(b"\n") and data.endswith(b"\n"):
            lines = [data]  # One whole frame, as the guest writes it: by far the most common read.
        else:
            self._rest += data
            if b"\n" not in data:
                self._guard_length()
                return []
            complete, _, rest = self._rest.rpartition(b"\n")
            self._rest = bytearray(rest)
            lines = bytes(complete).split(b"\n")
        frames = [self._decode(line) for line in lines if line]
        return [frame for frame in frames if frame is not None]

    def _guard_length(self) -> None:
        if len(self._rest) > _LINE_LIMIT:
            self._rest.clear()
            self.malformed += 1

    def _decode(self, line: bytes) -> GuestFrame | None:
        try:
            frame = _decoder.decode(line)
        except (msgspec.DecodeError, msgspec.ValidationError, UnicodeDecodeError):
            self.malformed += 1
            return None
        return self._join(frame) if isinstance(frame, PartFrame) else frame

    def _join(self, part: PartFrame) -> GuestFrame | None:
        in_order = part.seq == len(self._parts)
        self._parts_size += len(part.data)
        if not in_order or self._parts_size > _PARTS_LIMIT:
            self._forget_parts()
            self.malformed += 1
            return None
        self._parts.append(part.data)
        if not part.last:
            return None
        text = "".join(self._parts)
        self._forget_parts()
        return self._decode(text.encode("utf-8"))

    def _forget_parts(self) -> None:
        self._parts = []
        self._parts_size = 0
