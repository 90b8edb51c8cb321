"""One execution, seen through the messages about it: messages in, events out. It sends and waits for nothing.

Above is `execution`, which feeds it and makes the end of the cell from what it saw.
"""

import re
from collections.abc import Mapping
from typing import Any

from pisces.kernels.jupyter.message import Message
from pisces.kernels.jupyter.numbering import Numbering
from pisces.model.events import (
    AnyEvent,
    ClearOutput,
    Display,
    DoneStatus,
    Error,
    InputRequested,
    ProcessExit,
    Result,
    Started,
    Status,
    Stream,
    StreamName,
)

STDIN_MIME = "application/x-pisces-stdin"
"""A display with which the code that we put into Python kernels says that input was asked for, and refused."""

ARTIFACT_PROMPT = "application/x-pisces-artifact:"
"""Begins a prompt that asks for a piece of a kept output, as JSON: the code that we put into kernels reads files so."""

_ANSI = re.compile(r"\x1b\[[0-9;:?]*[A-Za-z]")
_LIMITED = re.compile(r"\s*IOPub (data|message) rate exceeded", re.IGNORECASE)
_PIECE = 1 << 18
"""Text in one event; a message may carry as much as it likes."""

_INTERRUPTS = ("KeyboardInterrupt", "CancelledError")

_DEAD_STATES = {
    "restarting": "died, and the server put a fresh one in its place",
    "dead": "died",
    "starting": "was replaced by a fresh one under the same id",
}


class ExecutionTracker:
    """Follows the message of this id, sent by the client of this session."""

    def __init__(self, request: str, client: str, *, numbering: Numbering | None = None) -> None:
        """`numbering` is for a kernel that drops messages when they are not read fast enough."""
        self._request = request
        self._numbering = numbering
        self._questions: set[str] = set()
        self._idles: set[str] = set()
        """What it was idle after, of what we asked."""
        self._client = client
        self._started = False
        self._idle = False
        self.reply: Mapping[str, Any] | None = None
        self.exit: ProcessExit | None = None
        """How it ended, once it has; our own gateway tells how the process did."""
        self.dropped = ""
        """`data` or `message` when the server left output out because it came too fast."""
        self.unanswered_input: list[Message] = []
        """Requests for input that the owner has to answer."""
        self.interrupted = False
        """Whether it has been interrupted, by us."""
        self._error: Error | None = None

    @property
    def finished(self) -> bool:
        """Whether the kernel has said all that it has to say: the reply has come and it is idle, in either order."""
        return self._idle and self.reply is not None

    @property
    def lost(self) -> int:
        """How many messages of the kernel are known to have been lost on the way."""
        return 0 if self._numbering is None else self._numbering.lost

    @property
    def begun(self) -> bool:
        """Whether the code may have begun to run."""
        return self._started

    @property
    def reply_without_idle(self) -> bool:
        """Whether the kernel has answered and has not said that it is idle: it will, or that message was lost."""
        return self.reply is not None and not self._idle

    @property
    def idle_without_reply(self) -> bool:
        """Whether the kernel is idle again and has not answered: the answer comes, or an interrupt has swallowed it."""
        return self._idle and self.reply is None

    def take(self, message: Message) -> list[AnyEvent]:
        """What the message says to this execution; nothing, if it is about something else."""
        if self._numbering is not None:
            self._numbering.take(message)
        if message.channel == "iopub":
            return self._published(message)
        if message.parent == self._request:
            if message.type == "execute_reply":
                self.reply = message.content
            elif message.type == "input_request":
                self.unanswered_input.append(message)
                content = message.content
                if str(content.get("prompt", "")).startswith(ARTIFACT_PROMPT):
                    return []
                return [InputRequested(str(content.get("prompt", "")), bool(content.get("password", False)))]
        return []

    def _published(self, message: Message) -> list[AnyEvent]:
        if message.type == "status":
            return self._status(message)
        if message.type == "shutdown_reply":
            self._died("was shut down by somebody else")
            return []
        ours = message.parent == self._request
        if not ours and message.parent_session not in ("", self._client):
            return []  # Another client's cell.
        if ours and message.type == "error":
            content = message.content
            lines = content.get("traceback") or ()
            return self._raised(str(content.get("ename", "")), str(content.get("evalue", "")), lines)
        # What a thread of an earlier cell writes is heard with the one that runs now.
        return self._output(message)

    def _status(self, message: Message) -> list[AnyEvent]:
        state = message.content.get("execution_state")
        if state in _DEAD_STATES:
            self._died(_DEAD_STATES[state], message.content.get("pisces_exit"))
        elif message.parent == self._request and state == "busy" and not self._started:
            self._started = True
            if self._numbering is not None:
                self._numbering.begin(message)
            return [Started()]
        elif state == "idle" and message.parent_session in ("", self._client):
            self._idles.add(message.parent)
            if message.parent == self._request or message.parent in self._questions:
                self._idle = True
                if self._numbering is not None:
                    self._numbering.end(message)
        return []

    def idle_after(self, question: str) -> None:
        """Also when it is idle after this, which it was asked later, the kernel has said all."""
        self._questions.add(question)
        self._idle |= question in self._idles

    def _died(self, how: str, told: Any = None) -> None:
        told = told if isinstance(told, dict) else {}
        code, signum, where = told.get("code"), told.get("signal"), str(told.get("detail", ""))
        known = isinstance(code, int) or isinstance(signum, int)
        self.exit = ProcessExit(code=code, signal=signum, detail=where) if known else ProcessExit(cause=how)

    def _output(self, message: Message) -> list[AnyEvent]:
        content = message.content
        match message.type:
            case "stream":
                return self._stream(message)
            case "display_data" | "update_display_data":
                return [self._display(content, update=message.type == "update_display_data")]
            case "execute_result":
                return [self._result(content)]
            case "clear_output":
                return [ClearOutput(bool(content.get("wait", False)))]
        return []

    def _stream(self, message: Message) -> list[AnyEvent]:
        text = str(message.content.get("text", ""))
        limited = _LIMITED.match(text)
        # A server writes this in the name of its client; a kernel's own messages carry the kernel's session.
        if limited and message.header.get("session") == self._client:
            self.dropped = limited[1].lower()
            return []
        name: StreamName = "stderr" if message.content.get("name") == "stderr" else "stdout"
        if len(text) <= _PIECE:
            return [Stream(name, text)] if text else []
        return [Stream(name, text[start : start + _PIECE]) for start in range(0, len(text), _PIECE)]

    def _display(self, content: Mapping[str, Any], *, update: bool) -> AnyEvent:
        bundle = _bundle(content, "data")
        asked = bundle.get(STDIN_MIME)
        if isinstance(asked, dict):
            return InputRequested(str(asked.get("prompt", "")), bool(asked.get("password", False)))
        shown = Display(bundle, _bundle(content, "metadata"), _display_id(content), update)
        return Status.from_bundle(bundle) or shown

    def _result(self, content: Mapping[str, Any]) -> Result:
        count = content.get("execution_count")
        return Result(_bundle(content, "data"), count, _bundle(content, "metadata"), _display_id(content))

    def _raised(self, ename: str, evalue: str, traceback: Any) -> list[AnyEvent]:
        if self.interrupted and ename == "CancelledError":
            ename = "KeyboardInterrupt"  # How an awaited task takes the same.
        lines = tuple(_ANSI.sub("", str(line)) for line in traceback) if isinstance(traceback, list | tuple) else ()
        self._error = Error(ename, evalue, lines or _in_short(ename, evalue))
        return [self._error]

    def closing_events(self) -> list[AnyEvent]:
        """At the end, what is in the reply only: help that is meant for a pager, errors that are not published."""
        reply = self.reply
        if reply is None:
            return []
        pages: list[AnyEvent] = [*_pages(reply)]
        if reply.get("status") != "error" or self._error is not None:
            return pages
        ename, evalue = str(reply.get("ename") or ""), str(reply.get("evalue") or "")
        return pages + (self._raised(ename, evalue, reply.get("traceback") or ()) if ename else [])

    def status(self, *, python: bool) -> DoneStatus:
        """How the execution ended."""
        reply = self.reply
        if reply is None:
            return "interrupted"
        if reply.get("status") == "ok":
            return "ok"
        if reply.get("status") in ("abort", "aborted"):
            return "interrupted" if self.interrupted else "aborted"
        stopped = self.interrupted and (not python or self._is_interrupt(reply))
        return "interrupted" if stopped else "error"

    def _is_interrupt(self, reply: Mapping[str, Any]) -> bool:
        """Whether the error came of the interrupt. One that strikes in the shell itself may go by another name."""
        names = {str(reply.get("ename") or "")} | ({self._error.ename} if self._error is not None else set())
        shown = self._error.traceback if self._error is not None else ()
        return not names.isdisjoint(_INTERRUPTS) or any("KeyboardInterrupt" in line for line in shown)

    def exit_code(self) -> int | None:
        """What the code chose as its exit code: that of SystemExit, or of a shell's last command."""
        reply = self.reply
        if reply is None or reply.get("status") != "error":
            return None
        ename, evalue = str(reply.get("ename") or ""), str(reply.get("evalue") or "").strip()
        if ename == "SystemExit":
            return 0 if evalue in ("", "None") else int(evalue) if _is_code(evalue) else 1
        return int(evalue) if not ename and _is_code(evalue) else None


def _pages(reply: Mapping[str, Any]) -> list[Display]:
    """What `name?` shows, which nobody here has a pager for."""
    payload = reply.get("payload")
    parts = [part for part in payload if isinstance(part, dict)] if isinstance(payload, list) else []
    return [Display(_bundle(part, "data")) for part in parts if part.get("source") == "page" and _bundle(part, "data")]


def _in_short(ename: str, evalue: str) -> tuple[str, ...]:
    """An error without a traceback, for a reader. The exit code of a shell's command is told by the result itself."""
    if ename:
        return (f"{ename}: {evalue}",)
    return () if _is_code(evalue.strip()) else (evalue,)


def _is_code(text: str) -> bool:
    return text.lstrip("-").isdecimal() and text.isascii() and len(text) < 12


def _display_id(content: Mapping[str, Any]) -> str | None:
    found = _bundle(content, "transient").get("display_id")
    return None if found is None else str(found)


def _bundle(content: Mapping[str, Any], key: str) -> Mapping[str, Any]:
    found = content.get(key)
    return found if isinstance(found, dict) else {}
