"""The way from the cells of one session to the tools of its host, open while one of them runs."""

import msgspec

from pisces.bridge.lease import Caller, HostTools, Lease
from pisces.bridge.server import Bridge
from pisces.kernels.base import LaunchSpec
from pisces.sessions.key import SessionKey


class ToolDoor:
    """One session's. Without a bridge it leads nowhere, and never opens."""

    def __init__(self, bridge: Bridge | None) -> None:
        self._bridge = bridge
        self._caller: Caller | None = None

    @property
    def owner(self) -> str:
        """Whom the sessions belong to that cells of this one make; empty if they cannot have made any."""
        return "" if self._caller is None else self._caller.owner

    def shown_in(self, spec: LaunchSpec) -> LaunchSpec:
        """The same spec, with the variables by which code in the kernel finds the door."""
        if self._bridge is None:
            return spec
        caller = self._caller = self._caller or self._bridge.admit()
        return msgspec.structs.replace(
            spec,
            injected={**spec.injected, **self._bridge.environment(caller)},
            injected_elsewhere={**spec.injected_elsewhere, **self._bridge.environment_elsewhere(caller)},
        )

    def open(self, session: SessionKey, tools: HostTools | None, callers: tuple[Lease, ...]) -> Lease | None:
        """A cell begins, which may call these tools until its lease is closed; None where there is no way.

        `callers` are the leases of the cells that wait for this one.
        """
        if self._caller is None or tools is None:
            return None
        return self._caller.open(session, tools, callers)

    def close(self) -> None:
        """The session has ended."""
        if self._bridge is not None and self._caller is not None:
            self._bridge.dismiss(self._caller)
