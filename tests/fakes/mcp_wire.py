"""A client of `pisces mcp` that puts its lines together itself: for what no SDK would send, and to see each answer."""

import json
import os
import select
import subprocess
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, Final, Literal, Self

import psutil
import pytest

from tests.fakes.drive import PATIENCE
from tests.frontends.command import Command

Era = Literal["handshake", "modern"]
ERAS: Final[tuple[Era, ...]] = ("handshake", "modern")
EACH_ERA: Final = ["handshake", pytest.param("modern", marks=pytest.mark.heavy)]
"""Parameters of a test that `make test` runs in one era and `make test-heavy` in the other."""
_NO_ROOM: Final = 3.0
_KEY: Final = "io.modelcontextprotocol/"


class Wire:
    """The client's ends of the pipes, and all that has come so far. A thread reads, so that nothing waits for us."""

    def __init__(self, process: "subprocess.Popen[bytes]", errors: Any, era: Era, name: str) -> None:
        self.process = process
        self.era = era
        self.received: list[dict[str, Any]] = []
        self.times: list[float] = []
        self.ended = False
        self._errors = errors
        self._name = name
        self._next = 0
        self._changed = threading.Condition()
        self._reader = threading.Thread(target=self._read, daemon=True)

    def open(self, *, reading: bool = True) -> Self:
        """Begin to read, and shake hands if that is how this client speaks."""
        if reading:
            self.read_on()
        if self.era == "handshake":
            self.shake_hands()
        return self

    def shake_hands(self) -> None:
        """Send what begins a connection of the protocol as it was."""
        info = {"name": self._name, "version": "1"}
        params = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": info}
        self.send({"jsonrpc": "2.0", "id": "init", "method": "initialize", "params": params})
        self.send({"jsonrpc": "2.0", "method": "notifications/initialized"})

    def read_on(self) -> None:
        """Begin to read, after all."""
        self._reader.start()

    def send(self, message: Any) -> None:
        """One message, as a line."""
        self.send_bytes(json.dumps(message).encode() + b"\n")

    def send_bytes(self, data: bytes) -> None:
        """Anything at all."""
        assert self.process.stdin is not None
        self.process.stdin.write(data)
        self.process.stdin.flush()

    def send_while_there_is_room(self, data: bytes, *, at_most: int) -> int:
        """The same bytes again and again, until the server has taken none for a while; how many times."""
        assert self.process.stdin is not None
        pipe = self.process.stdin.fileno()
        os.set_blocking(pipe, False)
        left = b""
        for times in range(at_most):
            left += data
            while left:
                if not select.select([], [pipe], [], _NO_ROOM)[1]:
                    return times
                left = left[os.write(pipe, left[: select.PIPE_BUF]) :]
        return at_most

    def request(self, method: str, params: Mapping[str, Any] | None = None, *, number: Any = None, **meta: Any) -> Any:
        """Send a request; its id."""
        if number is None:
            self._next += 1
            number = self._next
        if self.era == "modern":
            info = {"name": self._name, "version": "1"}
            meta = {f"{_KEY}protocolVersion": "2026-07-28", f"{_KEY}clientInfo": info, **meta}
            meta[f"{_KEY}clientCapabilities"] = {}
        sent = {**(params or {}), **({"_meta": meta} if meta else {})}
        self.send({"jsonrpc": "2.0", "id": number, "method": method, "params": sent})
        return number

    def call(self, tool: str, arguments: Any, *, number: Any = None, **meta: Any) -> Any:
        """Send a call of a tool; its id."""
        return self.request("tools/call", {"name": tool, "arguments": arguments}, number=number, **meta)

    def python(self, code: str, *, number: Any = None, meta: Mapping[str, Any] | None = None, **params: Any) -> Any:
        """Send one cell; its id."""
        return self.call("python", {"cells": [{"code": code}], **params}, number=number, **(meta or {}))

    def run(self, code: str, **params: Any) -> dict[str, Any]:
        """Send one cell; its result."""
        return self.result(self.python(code, **params))

    def cancel(self, number: Any) -> None:
        """Say that a request is not waited for any more."""
        self.send(
            {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": number, "reason": "no"}}
        )

    def answer(self, number: Any, *, within: float = PATIENCE) -> dict[str, Any]:
        """What came back for a request, result or error."""
        return self.first(lambda message: "method" not in message and message.get("id") == number, within=within)

    def result(self, number: Any, *, within: float = PATIENCE) -> dict[str, Any]:
        """The result of a request that must have one."""
        found: dict[str, Any] = self.answer(number, within=within)["result"]
        return found

    def first(self, wanted: Callable[[dict[str, Any]], bool], *, within: float = PATIENCE) -> dict[str, Any]:
        """The first message of this kind, whether it has come or is to come."""
        self.until(lambda: any(wanted(each) for each in self.received), within=within)
        return next(each for each in self.received if wanted(each))

    def until(self, condition: Callable[[], bool], *, within: float = PATIENCE) -> None:
        """Wait for something that has to do with what was received."""
        with self._changed:
            happened = self._changed.wait_for(lambda: condition() or self.ended, timeout=within)
        assert happened, f"it did not happen in time; last: {self.received[-3:]}; errors: {self.errors}"
        assert condition(), f"the server ended; last: {self.received[-3:]}; errors: {self.errors}"

    def progress(self) -> list[dict[str, Any]]:
        """The parameters of the notifications of progress."""
        return [each["params"] for each in self.received if each.get("method") == "notifications/progress"]

    def hang_up(self) -> None:
        """Close the server's standard input, as a client does that is done."""
        assert self.process.stdin is not None
        self.process.stdin.close()

    def wait(self, *, within: float = PATIENCE) -> int:
        """Wait for the end of the server; its exit code."""
        return self.process.wait(timeout=within)

    @property
    def errors(self) -> str:
        """What the server has said on standard error."""
        self._errors.seek(0)
        text: str = self._errors.read().decode("utf-8", "replace")
        return text

    def _read(self) -> None:
        assert self.process.stdout is not None
        try:
            for line in self.process.stdout:
                message = json.loads(line)
                with self._changed:
                    self.received.append(message)
                    self.times.append(time.monotonic())
                    self._changed.notify_all()
        finally:
            with self._changed:
                self.ended = True
                self._changed.notify_all()

    def close(self) -> None:
        """End the server, if it is there yet, and let go of the pipes."""
        self.process.kill()
        self.process.wait()
        if self._reader.is_alive():
            self._reader.join()
        for pipe in (self.process.stdin, self.process.stdout):
            assert pipe is not None
            try:
                pipe.close()
            except BrokenPipeError:
                continue


@contextmanager
def wired(
    pisces: Command, *options: str, era: Era = "handshake", name: str = "tester", reading: bool = True, **more: Any
) -> Iterator[Wire]:
    """A client and its server, `pisces mcp` with these options."""
    with tempfile.TemporaryFile() as errors:
        process = pisces.start("mcp", *options, stdin=subprocess.PIPE, stderr=errors, **more)
        wire = Wire(process, errors, era, name)
        try:
            yield wire.open(reading=reading)
        finally:
            wire.close()


def text_of(result: Mapping[str, Any]) -> str:
    """All text of a result."""
    return "\n".join(block["text"] for block in result["content"] if block["type"] == "text")


def below(pid: int) -> list[psutil.Process]:
    """The processes that this one started, and those that they did."""
    return psutil.Process(pid).children(recursive=True)


def gone(pids: list[int]) -> bool:
    """Whether none of them is there; one that nobody has waited for is not there."""
    return not any(_lives(pid) for pid in pids)


def _lives(pid: int) -> bool:
    try:
        return psutil.Process(pid).status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False
