"""Files for a sink's overflow that a test can look into."""

from dataclasses import dataclass, field


@dataclass
class MemorySpill:
    """Keeps what it gets; `room` makes the disk full after that many bytes."""

    id: str = "1"
    data: bytearray = field(default_factory=bytearray)
    room: int | None = None
    closed: int = 0
    missing: str = ""
    limit: int = 0

    def write(self, data: bytes, /) -> None:
        if self.room is not None and len(self.data) + len(data) > self.room:
            raise OSError(28, "No space left on device")
        self.data += data

    def close(self) -> None:
        self.closed += 1
