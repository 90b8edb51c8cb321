"""One kernel process as the host sees it: its descriptors, its identity, its end."""

import os
import secrets
import signal
from collections import deque
from collections.abc import Mapping

import anyio

from pisces.errors import KernelStartError
from pisces.kernels.native.channels import Channels
from pisces.kernels.native.frames import FrameDecoder, GuestFrame
from pisces.kernels.native.order import StreamOrder
from pisces.kernels.native.remains import end_remains
from pisces.kernels.native.zygote import NO_DESCRIPTORS, Zygote
from pisces.model.events import ProcessExit

_END_CAP = 5.0
_SIGNAL_CAP = 1.0


class KernelProcess:
    """Made alive by `spawn`; `exit` is set when it has died, `cleared` when all it had started is gone too."""

    def __init__(self, zygote: Zygote) -> None:
        nonce = secrets.token_hex(8)
        self._zygote = zygote
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
        self.order = StreamOrder(nonce)
        self.exit: ProcessExit | None = None
        self.hung_up = False
        self.cleared = anyio.Event()
        self._pid = 0
        self._start_time = 0
        self._refusal = ""
        self._signals_under_way = 0
        self._signal_news = anyio.Event()

    @property
    def alive(self) -> bool:
        """Whether it has not been seen to end."""
        return self.exit is None

    def spawn(self, cwd: str, env: Mapping[str, str]) -> None:
        """Ask the supervisor for the process; what becomes of it wakes whoever waits on the channels."""
        request = {"cwd": cwd, "env": dict(env), "cookie": self._name, "nonce": self._nonce}
        self._zygote.spawn(self._name, self, request, self.channels.guest_ends())
        self.channels.forget_guest_ends()

    def interrupt(self) -> None:
        """SIGINT to its process group."""
        if self.alive:
            self._signals_under_way += 1
            self._zygote.signal(self._name, signal.SIGINT)

    def hang_up(self) -> None:
        """Kill it because it cannot be talked to any more; its end is then told as any other."""
        if self.alive and not self.hung_up:
            self.hung_up = True
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
            return KernelStartError(
                f"Cannot fork a kernel: {self._refusal}", hint="End some programs, or raise the limits on processes."
            )
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
        if self._pid and self._start_time and _start_time(self._pid) == self._start_time:
            try:
                os.killpg(self._pid, signal.SIGKILL)
            except ProcessLookupError:
                pass  # It ended in this moment, which is what we want.


def _start_time(pid: int) -> int:
    try:
        with open(f"/proc/{pid}/stat", encoding="utf-8", errors="replace") as file:
            return int(file.read().rpartition(")")[2].split()[19])
    except OSError:
        return 0
