"""What goes over the bridge: a request, and what it is answered with. Checked here, and typed inside."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

import msgspec


class ToolRequest(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One call of a tool, as a cell asks for it."""

    session: str
    name: str
    args: dict[str, Any] = {}
    run: str | None = None
    """Which cell it is of; None if the caller does not know, as a process that a cell started."""


class Picture(msgspec.Struct, frozen=True):
    """A picture that the cell shows, base64."""

    mime_type: str
    data: str


class Answer(msgspec.Struct, frozen=True, kw_only=True):
    """What became of a call: a value, or an error."""

    value: Any = None
    error: str | None = None
    images: Sequence[Picture] = ()
    details: Any = msgspec.UNSET
    """What a tool has to tell besides its text. A value that has none is handed over as it is."""

    def to_json(self) -> bytes:
        """As the cell gets it. Raises `TypeError` or `ValueError` for a value that is no JSON."""
        answer: dict[str, Any] = {"ok": self.error is None}
        if self.error is None:
            answer["value"] = self.value
        else:
            answer["error"] = self.error
        if self.images:
            answer["images"] = self.images
        if self.details is not msgspec.UNSET:
            answer["details"] = self.details
        try:
            return msgspec.json.encode(answer)
        except UnicodeEncodeError:
            # A name or a source may have half of a surrogate pair, which only the standard library writes down.
            return json.dumps(msgspec.to_builtins(answer)).encode("ascii")


class Reply(msgspec.Struct, frozen=True):
    """An answer by HTTP."""

    status: int
    body: bytes

    @classmethod
    def refusal(cls, status: int, why: str) -> "Reply":
        """The answer to what was not understood, or not allowed."""
        return cls(status, Answer(error=why).to_json())

    @classmethod
    def of(cls, answer: Answer) -> "Reply":
        """The answer of a tool, whatever became of the call."""
        try:
            return cls(200, answer.to_json())
        except (TypeError, ValueError, RecursionError) as error:
            return cls(200, Answer(error=f"Its value cannot be sent as JSON: {error}").to_json())

    @classmethod
    def listing(cls, tools: Mapping[str, str]) -> "Reply":
        """The tools there are, with a line about each."""
        return cls(200, msgspec.json.encode({"ok": True, "tools": tools}))


def parse_request(body: bytes) -> ToolRequest:
    """The call that a body asks for. Raises `ValueError` with what is wrong."""
    try:
        return msgspec.json.decode(body, type=ToolRequest)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise ValueError(f"The body is no call of a tool: {error}") from None
