"""What can be said of the local gateways without starting or ending any."""

from collections.abc import Sequence
from typing import Final, Literal

import anyio
import msgspec

from pisces.errors import DeadlineExceeded
from pisces.kernels.deadline import Deadline
from pisces.kernels.gateway.failure import GatewayError
from pisces.kernels.gateway.lock_file import Beat, LockFile
from pisces.kernels.gateway.record import GatewayFolder, GatewayRecord
from pisces.kernels.gateway.rest import GatewayRest

State = Literal["running", "silent", "ended", "unreadable", "none"]
"""`silent`: its process is there and does not answer; `ended`: a record of one that is no more; `none`: no record."""

_LOOK_CAP: Final = 5.0


class GatewayStatus(msgspec.Struct, frozen=True, kw_only=True):
    """One gateway; the token is not among it."""

    id: str
    """The name of its folder."""
    state: State
    url: str = ""
    pid: int = 0
    python: str = ""
    venv: str = ""
    since: float = 0.0
    """Seconds since the epoch."""
    kernels: int = 0
    why: str = ""
    """Why it does not answer."""
    log: str = ""


async def look_at(folder: GatewayFolder, deadline: Deadline) -> GatewayStatus:
    """See how a gateway is."""
    record = folder.record()
    name, log = folder.path.name, str(folder.log)
    if record is None:
        state: State = "unreadable" if folder.record_file.exists() else "none"
        return GatewayStatus(id=name, state=state, log=log)
    kernels, why = 0, ""
    state = "ended"
    if not record.start_time or record.process.is_running:
        kernels, why = await _ask(record, deadline)
        state = "silent" if why else "running"
    return GatewayStatus(
        id=name,
        state=state,
        url=record.url,
        pid=record.pid,
        python=record.python,
        venv=record.venv,
        since=record.started_at,
        kernels=kernels,
        why=why,
        log=log,
    )


async def look_at_all(folders: Sequence[GatewayFolder], deadline: Deadline) -> list[GatewayStatus]:
    """See how each is, all at once: one that hangs holds up none of the others."""
    found: dict[int, GatewayStatus] = {}

    async def look(place: int, folder: GatewayFolder) -> None:
        found[place] = await look_at(folder, deadline)

    async with anyio.create_task_group() as group:
        for place, folder in enumerate(folders):
            group.start_soon(look, place, folder)
    return [found[place] for place in sorted(found)]


def lock_holder(folder: GatewayFolder) -> Beat | None:
    """Who starts or ends the gateway right now, if anybody does."""
    return LockFile(folder.lock_file).holder()


async def _ask(record: GatewayRecord, deadline: Deadline) -> tuple[int, str]:
    """How many kernels it has, or why it does not say."""
    rest = GatewayRest(record.url, record.token, label=f"The shared gateway at {record.url}")
    try:
        with deadline.scope(_LOOK_CAP):
            return len(await rest.list(deadline)), ""
    except (GatewayError, DeadlineExceeded) as error:
        return 0, str(error)
    finally:
        await rest.aclose()
    return 0, f"it did not answer within {_LOOK_CAP:g} seconds"
