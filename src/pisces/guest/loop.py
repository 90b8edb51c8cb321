"""The life of a kernel process: wait for a request inside the event loop, run the cell outside of it, report.

Waiting happens in the loop, so that the user's tasks go on between cells. A cell itself runs while the loop does not,
so that `asyncio.run()` works in a cell; a top-level await runs the loop until it is done.
"""

from __future__ import annotations

import asyncio
import faulthandler
import mmap
import os
import platform
import select
import selectors
import sys
from types import ModuleType

from . import stdin
from .channel import FrameWriter, RequestReader
from .interrupts import Interrupts
from .outcomes import outcome_of, without_our_frames
from .shell_contract import CellOutcome, Shell
from .streams import StandardStreams, private_duplicate
from .variables import NamespaceWatch

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Coroutine
    from typing import Any, NoReturn


class ShellChannel:
    """What a shell may say to the host while a cell runs."""

    def __init__(self, frames: FrameWriter, interrupts: Interrupts) -> None:
        self._frames = frames
        self._interrupts = interrupts

    def display(self, data: dict[str, Any], metadata: dict[str, Any], display_id: str | None, update: bool) -> None:
        """Show a MIME bundle."""
        self._frames.send_in_order("display", bundle=data, metadata=metadata, display_id=display_id, update=update)

    def result(self, data: dict[str, Any], metadata: dict[str, Any], execution_count: int) -> None:
        """Show the value of the cell's last expression."""
        self._frames.send_in_order("result", hold=True, bundle=data, metadata=metadata, execution_count=execution_count)

    def clear_output(self, wait: bool) -> None:
        """Take back the cell's output so far."""
        self._frames.send_in_order("clear", wait=wait)

    def run_async(self, coroutine: Coroutine[Any, Any, Any]) -> Any:
        """Run a top-level await to its end."""
        return self._interrupts.run(coroutine)


class KernelLoop:
    """One kernel process, from its first request to its last."""

    def __init__(self, *, control_fd: int, frames_fd: int, trace_fd: int, slate_fd: int, nonce: str) -> None:
        faulthandler.enable(file=private_duplicate(trace_fd), all_threads=False)
        self._slate = mmap.mmap(slate_fd, 8)
        self._streams = StandardStreams(nonce)
        self._streams.install()
        self._frames = FrameWriter(frames_fd, self._streams)
        self._requests = RequestReader(control_fd)
        self._open_loop()
        self._interrupts = Interrupts(self._loop, self._streams.order.guard)
        self._interrupts.install()
        stdin.install(lambda prompt, password: self._frames.send("input", prompt=prompt, password=password))
        self._waiting: list[dict[str, Any]] = []
        self._pid = os.getpid()
        self._shell, self._shell_note = _make_shell(ShellChannel(self._frames, self._interrupts))
        self._watch = NamespaceWatch(self._shell.namespace)
        self._watch.reset()
        self._shell.reserved = self._watch.reserved

    def run(self) -> None:
        """Say that we are ready, then serve requests until the host asks for the end or goes away."""
        self._frames.send("ready", shell=self._shell.name, version=platform.python_version(), note=self._shell_note)
        while True:
            while not self._waiting:
                self._wait()
            request = self._waiting.pop(0)
            if request["type"] == "exit":
                return
            if request["type"] == "execute":
                self._execute(request)

    def _open_loop(self) -> None:
        selector = selectors.DefaultSelector()
        self._loop = asyncio.SelectorEventLoop(selector)
        self._loop.add_reader(self._requests.fileno(), self._on_request)
        self._poll = select.poll()
        for fd in (self._requests.fileno(), selector.fileno()):
            self._poll.register(fd, select.POLLIN)

    def _wait(self) -> None:
        """Until a request has come; the user's tasks go on meanwhile."""
        if self._loop_is_idle():
            # Nothing of the user's waits: the loop need not be started, which halves the time to begin a cell.
            ready = [fd for fd, _ in self._poll.poll()]
            if self._requests.fileno() in ready:
                self._on_request()
                return
        try:
            self._loop.run_forever()
        except (KeyboardInterrupt, SystemExit) as error:
            # A task that the user left running ended so; that ends the task, not the kernel.
            print(f"A background task raised {type(error).__name__}.", file=self._streams.stderr)

    def _loop_is_idle(self) -> bool:
        """Whether the loop has nothing to do before one of its descriptors has; False when it cannot be told."""
        return not getattr(self._loop, "_ready", True) and not getattr(self._loop, "_scheduled", True)

    def _on_request(self) -> None:
        requests = self._requests.read()
        if requests is None:
            requests = [{"type": "exit"}]
        self._waiting += requests
        if self._waiting and self._loop.is_running():
            self._loop.stop()

    def _execute(self, request: dict[str, Any]) -> None:
        asyncio.set_event_loop(self._loop)  # The cell before may have unset it with asyncio.run().
        self._frames.cell = request["id"]
        self._streams.begin_cell()
        outcome = self._run_cell(request)
        if os.getpid() != self._pid:
            _end_forked_process(outcome)
        self._streams.reopen()
        if self._loop.is_closed():
            self._open_loop()  # A script that ends with `loop.close()` means its own work, not the cells to come.
            self._interrupts.loop = self._loop
        if outcome.status != "ok":
            self._frames.send_in_order("error", ename=outcome.ename, evalue=outcome.evalue, traceback=outcome.traceback)
        self._streams.end_cell()
        variables = self._watch.changes() if request.get("inspect") else None
        self._frames.send_in_order(
            "done",
            status=outcome.status,
            execution_count=None if request.get("silent") else self._shell.execution_count,
            exit_code=outcome.exit_code,
            variables=variables,
        )

    def _run_cell(self, request: dict[str, Any]) -> CellOutcome:
        outcome = None
        try:
            self._interrupts.begin_cell()
            try:
                # Memory that the host shares: it can tell a cell that has begun from one that has not, also after a
                # crash, without being woken for it (64 µs). From here on it may interrupt, and that is the cell's.
                self._slate[:] = request["id"].to_bytes(8, "little")
                outcome = self._prepare(request) or self._shell.run_cell(
                    request["code"],
                    silent=bool(request.get("silent")),
                    store_history=bool(request.get("store_history", True)),
                )
            finally:
                self._interrupts.end_cell()
        except KeyboardInterrupt:
            # It came when the cell was over, or before it had begun.
            self._interrupts.end_cell()
        if outcome is not None and outcome.ename == "CancelledError" and self._interrupts.came:
            # IPython reports how the task ended; it was an interrupt that cancelled it.
            return CellOutcome.interrupted([*outcome.traceback[:-1], "KeyboardInterrupt"])
        return outcome or CellOutcome.interrupted()

    def _prepare(self, request: dict[str, Any]) -> CellOutcome | None:
        """Set the variables and the folder that the request names; what cannot be set is the cell's error."""
        try:
            if request.get("env"):
                os.environ.update(request["env"])
            if request.get("cwd"):
                os.chdir(request["cwd"])
        except (OSError, ValueError) as error:
            without_our_frames(error.__traceback__)
            return outcome_of(error)
        return None


def _end_forked_process(outcome: CellOutcome) -> NoReturn:
    """A process that the cell forked has come to the cell's end: it ends as a script would, and answers nobody."""
    if outcome.status != "ok" and outcome.exit_code is None:
        print(*outcome.traceback, sep="\n", file=sys.stderr)
    sys.stdout.flush()
    os._exit(outcome.status != "ok" if outcome.exit_code is None else outcome.exit_code & 0xFF)


def _make_shell(channel: ShellChannel) -> tuple[Shell, str]:
    """IPython's shell where the user has IPython, else our own; and why not IPython's, when that is not plain."""
    main = ModuleType("__main__")
    main.__dict__["__builtins__"] = sys.modules["builtins"]
    sys.modules["__main__"] = main
    note = ""
    try:
        from .ipython_shell import IPythonShell

        return IPythonShell(main, channel), note
    except ModuleNotFoundError as error:
        if error.name != "IPython":
            note = f"IPython could not be imported: {error}"
    except Exception as error:  # A broken installation of the user's must not cost the kernel.
        note = f"IPython could not be started: {type(error).__name__}: {error}"
    from .builtin_shell import BuiltinShell

    return BuiltinShell(main.__dict__, channel), note
