"""One kernel process as the host sees it: its descriptors, its identity, its end."""

import os
import secrets
import signal
from collections import deque
from collections.abc import Mapping
from typing import Any

import anyio

from pisces.errors import KernelStartError
from pisces.kernels.base import LaunchSpec
from pisces.kernels.deadline import Deadline
from pisces.kernels.native.channels import Channels
from pisces.kernels.native.checkpoint import NativeCheckpoint
from pisces.kernels.native.descriptors import open_files_limit
from pisces.kernels.native.frames import CheckpointedFrame, DoneFrame, FrameDecoder, GuestFrame, encode_request
from pisces.kernels.native.order import StreamOrder
from pisces.kernels.native.remains import end_remains
from pisces.kernels.native.sleepers import NO_PROCESSES, Sleeper
from pisces.kernels.native.zygote import NO_DESCRIPTORS, Zygote
from pisces.model.events import ProcessExit
from pisces.settings.recorded_process import RecordedProcess, process_start

_END_CAP = 5.0
_SIGNAL_CAP = 1.0
_FAULTS_OF_NOTE = 256
_WITHOUT_DIGITS = str.maketrans("", "", "0123456789")


class KernelProcess:
    """Made alive by `start` or `go_on_from`; `exit` is set when it has died, `cleared` when all it started is gone."""

    def __init__(self, zygote: Zygote, told: set[str]) -> None:
        """`told` has the reasons for which checkpoints failed, as far as somebody has been told."""
        nonce = secrets.token_hex(8)
        self._zygote = zygote
        self._told = told
        self._name = secrets.token_hex(8)
        self._nonce = nonce
        try:
            self.channels = Channels()
        except OSError as error:
            reason = f"Cannot open the channels of a kernel: {error.strerror or error}"
            raise KernelStartError(reason, hint=NO_DESCRIPTORS) from error
        self.frames = FrameDecoder()
        self.waiting_frames: deque[GuestFrame] = deque()
        """Frames that came after the end of a cell: they are for the next."""
        self.lists_under_way = 0
        """How many lists of its variables it has been asked for and has not sent yet."""
        self.completions_under_way = 0
        """The same for what could stand at a cursor."""
        self.order = StreamOrder(nonce)
        self.exit: ProcessExit | None = None
        self.hung_up = False
        self.cleared = anyio.Event()
        self._known = False
        """Whether the supervisor has been told of it."""
        self._pid = 0
        self._start_time = 0
        self._refusal = ""
        self._signals_under_way = 0
        self._signal_news = anyio.Event()
        self._checkpoints_under_way: deque[NativeCheckpoint] = deque()
        self._faults_in_all = 0
        self._faults_at_look = 0
        self._resident_mb = 0.0
        self.faults = 0
        """Page faults of the last cell."""
        self.obstacle = ""
        """Why no checkpoint can be made now; empty when one can."""
        self.notes: list[str] = []
        """What the next result should say."""

    @property
    def alive(self) -> bool:
        """Whether it has not been seen to end."""
        return self.exit is None

    @property
    def can_sleep(self) -> bool:
        """Whether checkpoints of it can be made."""
        return self._zygote.keeps_orphans

    async def start(self, spec: LaunchSpec, cwd: str, deadline: Deadline) -> None:
        """Have the process made, in this folder; what becomes of it wakes whoever waits on the channels."""
        request = self._request(spec, cwd)
        if not self._zygote.keeps_orphans:
            self._zygote.spawn(self._name, self, request, self.channels.guest_ends())
            self.channels.forget_guest_ends()
            self._known = True
            return
        try:
            template = await self._zygote.template(deadline)
            try:
                await self._wake(template, request, deadline, fresh=True)
            except KernelStartError:
                if template.usable:
                    raise
                # It had died, which nobody noticed before it was wanted.
                await self._wake(await self._zygote.template(deadline), request, deadline, fresh=True)
        finally:
            self.channels.forget_guest_ends()

    async def go_on_from(self, sleeper: Sleeper, spec: LaunchSpec, deadline: Deadline) -> None:
        """Have a checkpoint go on as this process."""
        try:
            await self._wake(sleeper, self._request(spec, cwd=None), deadline, fresh=False)
        finally:
            self.channels.forget_guest_ends()

    async def _wake(self, sleeper: Sleeper, request: Mapping[str, Any], deadline: Deadline, *, fresh: bool) -> None:
        await sleeper.asleep(deadline)
        copy = await sleeper.wake(request, self.channels.guest_ends())
        self.on_spawned(copy.pid, copy.start_time)
        self._zygote.adopt(self._name, self, copy, memory_limit_mb=request["memory_limit_mb"], fresh=fresh)
        self._known = True

    def _request(self, spec: LaunchSpec, cwd: str | None) -> dict[str, Any]:
        return {
            "cwd": cwd,
            "env": dict(spec.injected),
            "cookie": self._name,
            "nonce": self._nonce,
            "supervisor": self._zygote.pid,
            "open_files": open_files_limit(),
            "memory_limit_mb": spec.memory_limit_mb,
        }

    def checkpoint(self, *, wanted: bool) -> NativeCheckpoint:
        """Ask for a checkpoint, between cells.

        Raises `ConnectionError` when the process is gone, `KernelStartError` when no descriptor is left for it.
        """
        sleeper = self._zygote.open_checkpoint()
        checkpoint = NativeCheckpoint(self._zygote, sleeper)
        request = encode_request({"type": "checkpoint", "wanted": wanted})
        try:
            self.channels.send_with_descriptor(request, sleeper.guest_end())
        except ConnectionError:
            sleeper.close()
            raise
        sleeper.forget_guest_end()
        self._checkpoints_under_way.append(checkpoint)
        return checkpoint

    def on_checkpointed(self, frame: CheckpointedFrame) -> None:
        """The kernel goes on after a checkpoint that it was asked for."""
        checkpoint = self._checkpoints_under_way.popleft()
        checkpoint.made(frame.blocked_us / 1000)
        if frame.problem:
            checkpoint.sleeper.fail(frame.problem)
            cause = frame.problem.translate(_WITHOUT_DIGITS)
            if cause not in self._told:
                self._told.add(cause)
                self.notes.append(f"The last checkpoint could not be made: {frame.problem}. This is said once.")

    def on_done(self, frame: DoneFrame) -> None:
        """A cell has ended: what it means for the next checkpoint."""
        self.faults = frame.faults - self._faults_in_all
        self._faults_in_all = frame.faults
        self.obstacle = frame.obstacle

    def resident_mb(self) -> float:
        """How much memory it holds. Looked at again only when it may have changed much: that takes 30 µs."""
        if self._faults_in_all - self._faults_at_look > _FAULTS_OF_NOTE or not self._resident_mb:
            self._faults_at_look = self._faults_in_all
            self._resident_mb = _resident_mb(self._pid)
        return self._resident_mb

    def interrupt(self) -> None:
        """SIGINT to its process group."""
        if self.alive:
            self._note_if_stopped()  # The supervisor continues it.
            self._signals_under_way += 1
            self._zygote.signal(self._name, signal.SIGINT)

    def continue_if_stopped(self) -> None:
        """If a signal has stopped it, have it continue, and note that for the result."""
        self._note_if_stopped()
        self._process.continue_if_stopped()

    def _note_if_stopped(self) -> None:
        if self._process.is_stopped:
            self.notes.append("The kernel was stopped by a signal (SIGSTOP or the like); it was continued.")

    @property
    def _process(self) -> RecordedProcess:
        return RecordedProcess(self._pid, self._start_time)

    def lost_touch(self) -> None:
        """Its frames have ended: it is dying, which the supervisor reports unless it has been stopped itself."""
        self._zygote.continue_if_stopped()

    def hang_up(self) -> None:
        """Kill it because it cannot be talked to any more; its end is then told as any other."""
        if self.alive and not self.hung_up:
            # Where its process has ended, its status tells how.
            self.hung_up = not self._start_time or process_start(self._pid) == self._start_time
            self._zygote.kill(self._name)

    async def signals_arrived(self) -> None:
        """Wait until no signal is under way any more: one that is late must not reach the next cell."""
        if not self._signals_under_way:
            return
        with anyio.move_on_after(_SIGNAL_CAP):
            while self._signals_under_way and self.alive:
                self._signal_news = anyio.Event()
                await self._signal_news.wait()

    async def end(self) -> None:
        """Kill it and everything it started, and wait until that is done."""
        if not self._known:
            # The start was given up before the supervisor knew of it. Where there is a process, it ends with its pipes.
            self.channels.close()
            end_remains([self._name])
            self.on_exited(ProcessExit(signal=signal.SIGKILL))
            self.on_cleared()
        if not self.cleared.is_set():
            if self.alive:
                self._zygote.kill(self._name)
            with anyio.move_on_after(_END_CAP) as patience:
                await self.cleared.wait()
            if patience.cancelled_caught:  # The supervisor does not answer.
                end_remains([self._name])
                self.on_exited(self.exit or ProcessExit(signal=signal.SIGKILL))
                self.on_cleared()

    def start_error(self) -> KernelStartError:
        """Why it did not come up, in its own words where it had any."""
        if self._refusal:
            return KernelStartError(f"Cannot fork a kernel: {self._refusal}", hint=NO_PROCESSES)
        self.order.feed("stderr", self.channels.read("stderr"))
        self.order.finish()
        words = "".join(text for name, text in self.order.take() if name == "stderr").strip()
        ended = self.exit.describe() if self.exit else "did not answer"
        return KernelStartError(f"The kernel {ended} before it was ready: {words[-2000:] or 'it said nothing'}")

    def on_spawned(self, pid: int, start_time: int) -> None:
        self._pid, self._start_time = pid, start_time

    def on_signalled(self) -> None:
        self._signals_under_way -= 1
        self._signal_news.set()

    def on_refused(self, reason: str) -> None:
        self._refusal = reason
        self.on_exited(ProcessExit(code=1, detail=reason))
        self.on_cleared()

    def on_exited(self, ended: ProcessExit) -> None:
        self.exit = ended
        self._signal_news.set()
        self.channels.wake()

    def on_cleared(self) -> None:
        self._end_group()
        self.cleared.set()
        self.channels.wake()

    def _end_group(self) -> None:
        """Where the supervisor could not do it: end the group ourselves, if the pid is still that process."""
        if self._pid and self._start_time and process_start(self._pid) == self._start_time:
            try:
                os.killpg(self._pid, signal.SIGKILL)
            except ProcessLookupError:
                pass  # It ended in this moment, which is what we want.


def _resident_mb(pid: int) -> float:
    try:
        with open(f"/proc/{pid}/statm", encoding="ascii") as file:
            return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE") / (1 << 20)
    except OSError:
        return 0.0
