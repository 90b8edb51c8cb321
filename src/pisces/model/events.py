"""What a kernel says while it runs a cell: one tagged union of frozen structs.

Kernels produce events, `sessions.run` consumes them, the journal writes them down, and nobody changes one
on the way. For every execution `Done` comes exactly once, and last.
"""

import signal
from collections.abc import Mapping
from typing import Any, Literal

import msgspec

from pisces.model.mime import STATUS_ALIASES

Bundle = Mapping[str, Any]
"""A MIME bundle: from MIME type to data, as Jupyter has it (binary data as base64 text)."""

StreamName = Literal["stdout", "stderr"]

KernelState = Literal["kept", "restored", "lost", "unknown"]
"""What became of the namespace: the same process, back from a checkpoint, a fresh kernel, or not known."""

DoneStatus = Literal["ok", "error", "interrupted", "crashed", "disconnected", "aborted"]


class Event(msgspec.Struct, frozen=True, tag=True):
    """The root of the union; only its subclasses are ever made."""


class Started(Event, frozen=True):
    """The code has begun to run: from here on it may have had side effects."""


class Stream(Event, frozen=True):
    """Text on standard output or standard error, decoded but not yet sanitized."""

    name: StreamName
    text: str


class Display(Event, frozen=True):
    """Something rich to show; with `update`, in place of the earlier one of the same `display_id`."""

    bundle: Bundle
    metadata: Bundle = {}
    display_id: str | None = None
    update: bool = False


class ClearOutput(Event, frozen=True):
    """Forget the cell's output so far; with `wait`, when the next output comes."""

    wait: bool = False


class Result(Event, frozen=True):
    """The value of the cell's last expression; updates of its `display_id` change it, as they do a display."""

    bundle: Bundle
    execution_count: int | None = None
    metadata: Bundle = {}
    display_id: str | None = None


class Error(Event, frozen=True):
    """The cell raised; `traceback` are the lines to show, first to last."""

    ename: str
    evalue: str
    traceback: tuple[str, ...] = ()


class Status(Event, frozen=True):
    """A helper says what it did: `op` names it, `data` has its fields."""

    op: str
    data: Bundle = {}

    @classmethod
    def from_bundle(cls, bundle: Bundle) -> "Status | None":
        """The status that a MIME bundle carries, by whichever name; None if there is none, or none with an `op`."""
        for name in STATUS_ALIASES:
            data = bundle.get(name)
            if isinstance(data, dict) and isinstance(data.get("op"), str):
                return cls(data["op"], {key: value for key, value in data.items() if key != "op"})
        return None


class InputRequested(Event, frozen=True):
    """The code asked for input, which nobody can give; the kernel has already refused it."""

    prompt: str = ""
    password: bool = False


class ProcessExit(msgspec.Struct, frozen=True):
    """How a kernel's process ended, as far as it is known."""

    code: int | None = None
    signal: int | None = None
    detail: str = ""
    """Where it happened, when something could tell (the lines that faulthandler wrote)."""
    cause: str = ""
    """Why it was ended, when it was not by itself: for a sentence whose subject is the kernel."""

    @property
    def exit_code(self) -> int:
        """The shell's convention: the code, or 128 + the signal's number; never 0, for no kernel ends by itself."""
        if self.signal is not None:
            return 128 + self.signal
        return self.code or 1

    def describe(self) -> str:
        """How it ended, for a sentence: `was ended by SIGSEGV`, `exited with code 3`, or its cause."""
        if self.cause:
            return self.cause
        if self.signal is None:
            return f"exited with code {self.code}"
        try:
            return f"was ended by {signal.Signals(self.signal).name}"
        except ValueError:
            return f"was ended by signal {self.signal}"


class Restore(msgspec.Struct, frozen=True):
    """How a state came back, and what did not."""

    how: Literal["exact", "by_value"]
    cells_lost: int = 0
    missing: tuple[str, ...] = ()
    because: str = ""
    """Why it could only come back by value, as a clause; empty when it came back exactly."""


class Variable(msgspec.Struct, frozen=True, omit_defaults=True):
    """One name of the namespace, described without showing its value."""

    name: str
    type: str
    size: str = ""
    """Its shape or length, as text: `(3, 4)`, `12`; empty when it has neither."""


class VariableChanges(msgspec.Struct, frozen=True):
    """What some code did to the namespace."""

    added: tuple[Variable, ...] = ()
    changed: tuple[Variable, ...] = ()
    removed: tuple[str, ...] = ()
    more: int = 0
    """How many more there were than are listed."""


class Done(Event, frozen=True):
    """The end of an execution, with the truth about the kernel."""

    status: DoneStatus
    execution_count: int | None = None
    state: KernelState = "kept"
    exit_code: int | None = None
    """What a cell's exit code is when the code itself chose one (SystemExit)."""
    process_exit: ProcessExit | None = None
    restore: Restore | None = None
    variables: VariableChanges | None = None
    notes: tuple[str, ...] = ()
    """Facts the reader must be told, each a sentence (frames that were not understood, threads that died…)."""


AnyEvent = Started | Stream | Display | ClearOutput | Result | Error | Status | InputRequested | Done
