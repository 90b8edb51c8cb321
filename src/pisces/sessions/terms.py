"""On what terms a session has its kernels: from which backend, begun how, and what is kept of their states."""

from collections.abc import Callable

import msgspec

from pisces.bridge.server import Bridge
from pisces.kernels.base import Backend, LaunchSpec
from pisces.sessions.checkpoint_policy import CheckpointRule
from pisces.sessions.kernel_modules import KernelModules

Launch = Callable[[str], LaunchSpec]
"""What a kernel needs that begins in this folder."""


class Terms(msgspec.Struct, frozen=True):
    """Settled by the call that makes the session."""

    backend: Backend
    launch: Launch
    rule: CheckpointRule = CheckpointRule()
    durable: bool = False
    """Whether its kernel may outlive the process that has the session, where the backend can have that."""
    modules: KernelModules | None = None
    """The extension modules that a fresh kernel loads; None for none."""
    bridge: Bridge | None = None
    """Over which its cells call tools of the host; None where they cannot."""
