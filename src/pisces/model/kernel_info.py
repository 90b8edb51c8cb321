"""The kernel behind a result, for its reader."""

from typing import Literal

import msgspec

from pisces.model.events import KernelState, Restore

Phase = Literal["provisioning", "ready", "executing", "interrupted", "shutdown"]


class KernelInfo(msgspec.Struct, frozen=True):
    """The kernel behind a result. `generation` counts the processes this session has had."""

    backend: str
    interpreter: str
    generation: int
    phase: Phase
    state: KernelState
    restore: Restore | None = None
