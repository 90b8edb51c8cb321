"""One message of the Jupyter protocol, and the making of those that we send."""

import os
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any, Final, Literal
from uuid import uuid4

import msgspec

Channel = Literal["shell", "iopub", "stdin", "control"]
PROTOCOL_VERSION: Final = "5.3"
_USERNAME: Final = "pisces"


class Message(msgspec.Struct, frozen=True):
    """As it stands on every wire; what a wire adds (signature, framing) has been taken off."""

    channel: Channel
    header: Mapping[str, Any]
    parent_header: Mapping[str, Any]
    content: Mapping[str, Any]
    metadata: Mapping[str, Any] = {}
    buffers: tuple[bytes, ...] = ()

    @property
    def id(self) -> str:
        """What answers to it name as their parent."""
        return str(self.header.get("msg_id", ""))

    @property
    def type(self) -> str:
        """`execute_request`, `stream`, and so on."""
        return str(self.header.get("msg_type", ""))

    @property
    def parent(self) -> str:
        """The id of the message that this one answers; empty if it answers none."""
        return str(self.parent_header.get("msg_id") or "")

    @property
    def parent_session(self) -> str:
        """Whose message this one answers; empty if it answers none."""
        return str(self.parent_header.get("session") or "")


class MessageMaker:
    """Makes the messages of one client, which is known to the kernel by its session."""

    def __init__(self, session: str | None = None) -> None:
        self.session = session or uuid4().hex
        # Ids are random once: a message costs no system call.
        self._prefix = f"{uuid4().hex}_{os.getpid()}"
        self._made = 0

    def make(
        self, channel: Channel, kind: str, content: Mapping[str, Any], *, parent: Mapping[str, Any] | None = None
    ) -> Message:
        """A message of that kind."""
        self._made += 1
        header = {
            "msg_id": f"{self._prefix}_{self._made}",
            "msg_type": kind,
            "session": self.session,
            "username": _USERNAME,
            "date": datetime.now(UTC).isoformat(),
            "version": PROTOCOL_VERSION,
        }
        return Message(channel, header, parent or {}, content)

    def execute(
        self,
        code: str,
        *,
        silent: bool = False,
        store_history: bool = True,
        expressions: Mapping[str, str] | None = None,
        stdin: bool = True,
    ) -> Message:
        """Run some code; `expressions` are evaluated after it and come with the reply."""
        content = {
            "code": code,
            "silent": silent,
            "store_history": store_history and not silent,
            "user_expressions": dict(expressions or {}),
            "allow_stdin": stdin,
            "stop_on_error": False,
        }
        return self.make("shell", "execute_request", content)

    def complete(self, code: str, cursor: int) -> Message:
        """Ask what could stand at a cursor, which is counted in characters."""
        return self.make("shell", "complete_request", {"code": code, "cursor_pos": cursor})

    def kernel_info(self, channel: Channel = "shell") -> Message:
        """Ask what kernel this is; also wakes one that waits."""
        return self.make(channel, "kernel_info_request", {})

    def interrupt(self) -> Message:
        """Ask for the running cell to be interrupted."""
        return self.make("control", "interrupt_request", {})

    def shutdown(self) -> Message:
        """Ask the kernel to end."""
        return self.make("control", "shutdown_request", {"restart": False})

    def input_reply(self, request: Message, value: str = "") -> Message:
        """Answer a prompt, by default with nothing."""
        return self.make("stdin", "input_reply", {"value": value, "status": "ok"}, parent=request.header)
