"""Starting a local gateway: the guest's start of it in the user's interpreter, in a session of its own.

Nobody can take the port between its choice and its use: the socket listens before the process is there, which gets it
handed over. The token goes over a pipe, so no list of processes and no kernel's environment has it.
"""

import logging
import os
import secrets
import signal
import socket
import subprocess
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any, BinaryIO, Final

import anyio
import msgspec

from pisces.errors import DeadlineExceeded, KernelStartError
from pisces.kernels.deadline import Deadline
from pisces.kernels.gateway.failure import GatewayError
from pisces.kernels.gateway.record import GatewayFolder, GatewayRecord
from pisces.kernels.gateway.rest import GatewayRest
from pisces.settings.recorded_process import RecordedProcess

GUEST: Final = Path(__file__).parents[2] / "guest" / "__main__.py"
READY_CAP: Final = 30.0
_POLL_SECONDS: Final = 0.1
_LOG_ROLLS_OVER: Final = 1024 * 1024
_WORDS: Final = 2000

_startup = logging.getLogger("pisces.startup")


class GatewayPlan(msgspec.Struct, frozen=True, kw_only=True):
    """Which gateway is wanted."""

    interpreter: str
    venv: str
    """The virtual environment of the interpreter; empty if it has none."""
    env: Mapping[str, str]
    """The environment that it starts with, already filtered."""
    idle: float = 300.0
    """It ends itself when it has had no kernel and no request for so many seconds."""
    cull: int = 86400
    """A kernel that nobody is connected to, and that does nothing, ends after so many seconds."""


class _Greeting(msgspec.Struct, frozen=True):
    """What the process says once it serves, or when it cannot."""

    pid: int = 0
    start_time: int = 0
    keeper: RecordedProcess = RecordedProcess(0)
    missing: tuple[str, ...] = ()
    error: str = ""


async def launch(plan: GatewayPlan, folder: GatewayFolder, deadline: Deadline) -> GatewayRecord:
    """Start a gateway and wait until it answers; it is not recorded yet. On any failure nothing is left of it.

    Raises `KernelStartError` or `DeadlineExceeded`.
    """
    token = secrets.token_hex(24)
    reading, writing = os.pipe()
    process: subprocess.Popen[bytes] | None = None
    try:
        try:
            listening = _listen()
            order = _order(plan, folder, token, listening.fileno(), writing)
            with listening, _open_log(folder) as log:
                url = f"http://127.0.0.1:{listening.getsockname()[1]}"
                process = _spawn(plan, folder, order, log)
        except OSError as error:
            raise KernelStartError(
                f"The shared gateway cannot be started with {plan.interpreter}: {error.strerror or error}"
            ) from error
        finally:
            os.close(writing)
        greeting = await _hear(reading, plan, folder, deadline)
        record = GatewayRecord(
            url=url,
            pid=greeting.pid,
            started_at=time.time(),
            python=plan.interpreter,
            venv=plan.venv,
            token=token,
            start_time=greeting.start_time,
            keeper=greeting.keeper,
        )
        await _answers(record, deadline)
        _startup.debug("gateway up")
    except BaseException:
        if process is not None:
            _kill_all(process)
        raise
    finally:
        os.close(reading)
        if process is not None:
            await _reap(process)
    return record


def not_installed(interpreter: str) -> KernelStartError:
    """What to say when the interpreter lacks the packages."""
    return KernelStartError(
        "kernel_gateway (jupyter-kernel-gateway) or ipykernel not installed. "
        f"Run: {interpreter} -m pip install jupyter_kernel_gateway ipykernel",
        hint="Or choose another backend: `python.backend` = native needs nothing to be installed.",
    )


def _listen() -> socket.socket:
    listening = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    try:
        listening.bind(("127.0.0.1", 0))
        listening.listen(128)
    except OSError:
        listening.close()
        raise
    return listening


def _order(plan: GatewayPlan, folder: GatewayFolder, token: str, listening: int, ready: int) -> dict[str, Any]:
    return {
        "token": token,
        "socket": listening,
        "ready": ready,
        "runtime": str(folder.runtime),
        "log": str(folder.log),
        "idle": plan.idle,
        "cull": plan.cull,
    }


def _spawn(
    plan: GatewayPlan, folder: GatewayFolder, order: Mapping[str, Any], log: BinaryIO
) -> "subprocess.Popen[bytes]":
    process = subprocess.Popen(
        [plan.interpreter, str(GUEST), "gateway"],
        stdin=subprocess.PIPE,
        stdout=log,
        stderr=log,
        cwd=folder.path,
        env=dict(plan.env),
        pass_fds=[order["socket"], order["ready"]],
        start_new_session=True,
    )
    assert process.stdin is not None
    try:
        with process.stdin:
            process.stdin.write(msgspec.json.encode(order) + b"\n")
    except BrokenPipeError:
        pass  # It has ended already; its log says why.
    return process


async def _hear(reading: int, plan: GatewayPlan, folder: GatewayFolder, deadline: Deadline) -> _Greeting:
    """What the process says, or what its log says when it ends without a word."""
    with deadline.scope(READY_CAP) as scope:
        line = await _read_line(reading)
    if scope.cancelled_caught and deadline.expired:
        raise DeadlineExceeded(f"The shared gateway did not start within {deadline.seconds:g} seconds")
    if scope.cancelled_caught:
        raise KernelStartError(
            f"The shared gateway did not start within {READY_CAP:g} seconds: {_last_words(folder)}",
            hint=f"Its log may say why: {folder.log}",
        )
    greeting = msgspec.json.decode(line, type=_Greeting) if line else _Greeting(error=_last_words(folder))
    if greeting.missing:
        raise not_installed(plan.interpreter)
    if greeting.error:
        raise KernelStartError(
            f"The shared gateway could not start: {greeting.error}", hint=f"Its log says more: {folder.log}"
        )
    return greeting


async def _read_line(descriptor: int) -> bytes:
    """A line, or nothing when the other end was closed before."""
    line = b""
    while not line.endswith(b"\n"):
        await anyio.wait_readable(descriptor)
        received = os.read(descriptor, 65536)
        if not received:
            return b""
        line += received
    return line


async def _answers(record: GatewayRecord, deadline: Deadline) -> None:
    """Wait until it answers as it should."""
    rest = GatewayRest(record.url, record.token, label=f"The shared gateway at {record.url}")
    last: GatewayError | None = None
    try:
        with deadline.scope(READY_CAP):
            while True:
                try:
                    await rest.check(deadline)
                except GatewayError as error:
                    last = error
                    await anyio.sleep(_POLL_SECONDS)
                else:
                    return
        raise last or DeadlineExceeded(f"The shared gateway did not answer within {deadline.seconds:g} seconds")
    finally:
        await rest.aclose()


def _kill_all(process: "subprocess.Popen[bytes]") -> None:
    """Everything is in the group of the process that we started, which is ours to name until we have reaped it."""
    try:
        os.killpg(process.pid, signal.SIGKILL)
    except ProcessLookupError:
        pass


async def _reap(process: "subprocess.Popen[bytes]") -> None:
    """The process that we started only forks; what goes on is not our child."""
    with anyio.CancelScope(shield=True), anyio.move_on_after(READY_CAP):
        while process.poll() is None:  # noqa: ASYNC110 - it ends within milliseconds
            await anyio.sleep(0.002)


def _open_log(folder: GatewayFolder) -> BinaryIO:
    if folder.log.exists() and folder.log.stat().st_size > _LOG_ROLLS_OVER:
        folder.log.replace(folder.log.with_suffix(".log.1"))
    return open(folder.log, "ab", opener=lambda path, flags: os.open(path, flags | os.O_CLOEXEC, 0o600))


def _last_words(folder: GatewayFolder) -> str:
    try:
        with open(folder.log, "rb") as log:
            log.seek(max(0, os.fstat(log.fileno()).st_size - _WORDS))
            return log.read().decode("utf-8", "replace").strip() or "it said nothing"
    except OSError:
        return "it said nothing"
