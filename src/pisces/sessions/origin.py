"""Where a session comes from that began as a branch."""

import msgspec

from pisces.model.events import Restore


class Origin(msgspec.Struct, frozen=True):
    """Where a branch comes from."""

    session: str
    position: int
    restore: Restore
    """How the state came along, and what did not."""
