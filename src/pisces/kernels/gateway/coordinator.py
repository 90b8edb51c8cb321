"""One gateway for all processes of a user and an interpreter: found, or started; ended when it is no good any more.

Above is `local`. Whatever looks at a gateway in order to start or to end one does so under the lock of its folder. A
process is ended only when it is certain that it is the one that was recorded.
"""

import logging
import signal
from typing import Final

import anyio

from pisces.errors import DeadlineExceeded, KernelStartError, PiscesError, without_descriptor
from pisces.kernels.deadline import Deadline
from pisces.kernels.gateway.failure import GatewayError
from pisces.kernels.gateway.launch import GatewayPlan, launch
from pisces.kernels.gateway.lock import HeldLock, hold
from pisces.kernels.gateway.record import GatewayFolder, GatewayRecord
from pisces.kernels.gateway.rest import GatewayRest
from pisces.settings.recorded_process import RecordedProcess

_HEALTH_CAP: Final = 5.0
_ORDERLY_CAP: Final = 3.0
_KILL_CAP: Final = 3.0
_POLL_SECONDS: Final = 0.02

_log = logging.getLogger(__name__)


async def acquire_shared_gateway(
    plan: GatewayPlan, folder: GatewayFolder, deadline: Deadline, *, instead_of: GatewayRecord | None = None
) -> GatewayRecord:
    """The gateway that is up and healthy, or one that is started in its place.

    With `instead_of`, that very one is ended whatever its health; one that another process has started since is taken.
    Raises `KernelStartError` or `DeadlineExceeded`.
    """

    async def work(held: HeldLock) -> GatewayRecord:
        record = folder.record()
        if record is not None and record != instead_of and await is_healthy(record, deadline):
            return record
        if record is not None:
            _log.info("the gateway at %s is ended, and another one started", record.url)
            await end_gateway(record)
        await held.commit(folder.forget)
        return await _start(plan, folder, held, deadline)

    _make(folder)
    return await hold(folder.lock_file, work, deadline)


async def _start(plan: GatewayPlan, folder: GatewayFolder, held: HeldLock, deadline: Deadline) -> GatewayRecord:
    record = await launch(plan, folder, deadline)
    try:
        await held.commit(lambda: folder.write(record))
    except BaseException as error:  # Nobody would find it: it must not stay.
        with anyio.CancelScope(shield=True):
            await end_gateway(record)
        if isinstance(error, OSError):
            raise _unwritable(folder, error) from error
        raise
    return record


def release_shared_gateway(_record: GatewayRecord) -> None:
    """Say that it is not needed here any more. Nothing is done: others may use it, and it ends when nobody does."""


async def shutdown_shared_gateway(folder: GatewayFolder, deadline: Deadline) -> bool:
    """End a gateway with all its kernels, and remove its record; False when there was none to end.

    Raises `KernelStartError` when its lock cannot be had, or `DeadlineExceeded`.
    """

    async def work(held: HeldLock) -> bool:
        record = folder.record()
        ended = record is not None and await end_gateway(record)
        await held.commit(folder.forget)
        return ended

    if not folder.record_file.exists():
        return False
    return await hold(folder.lock_file, work, deadline)


async def is_healthy(record: GatewayRecord, deadline: Deadline) -> bool:
    """Whether the recorded process is there and answers to its token. Raises when we have no descriptor to ask it."""
    process = record.process
    if process.start_time and not process.is_running:
        return False
    process.continue_if_stopped()  # It would not answer, and be replaced, with which all its kernels would end.
    rest = GatewayRest(record.url, record.token, label=f"The shared gateway at {record.url}")
    try:
        with deadline.scope(_HEALTH_CAP):
            await rest.check(deadline)
            return True
    except GatewayError as error:
        if without_descriptor(error) is not None:
            raise
        _log.info("%s", error)
    finally:
        await rest.aclose()
    if deadline.expired:
        raise DeadlineExceeded(f"The shared gateway did not answer within {deadline.seconds:g} seconds")
    return False


async def end_gateway(record: GatewayRecord) -> bool:
    """End the recorded process and all its kernels; False when it is not there, or not certainly that process."""
    process = record.process
    if not process.send(signal.SIGTERM):
        return False
    with anyio.CancelScope(shield=True):
        if not await gone(process, _ORDERLY_CAP):
            process.send(signal.SIGKILL)
            await gone(process, _KILL_CAP)
        # It ends what the other has started; only then it goes.
        if not await gone(record.keeper, _KILL_CAP):
            record.keeper.send(signal.SIGKILL)
    return True


async def gone(process: RecordedProcess, cap: float) -> bool:
    """Wait until a process has ended, at most so long; whether it has."""
    with anyio.move_on_after(cap):
        while process.is_running:  # noqa: ASYNC110 - it is not our child, so nobody tells
            await anyio.sleep(_POLL_SECONDS)
    return not process.is_running


def _make(folder: GatewayFolder) -> None:
    try:
        folder.make()
    except OSError as error:
        raise _unwritable(folder, error) from error


def _unwritable(folder: GatewayFolder, error: OSError) -> PiscesError:
    return KernelStartError(
        f"The shared gateway cannot be recorded in {folder.path}: {error.strerror or error}",
        hint="It needs a folder that can be written to and has some space left; PISCES_HOME names another one.",
    )
