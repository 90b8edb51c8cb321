"""What tells one state of a file from another, without reading it."""

import os

import msgspec


class FileVersion(msgspec.Struct, frozen=True):
    """A state of a file: which one it is, how long, and when its content was last changed.

    The time of its last change of status is left out: a `chmod` or one more hard link changes nothing that was read.
    """

    device: int
    inode: int
    mtime_ns: int
    size: int

    @classmethod
    def of(cls, status: os.stat_result) -> "FileVersion":
        """The version that the operating system describes."""
        return cls(status.st_dev, status.st_ino, status.st_mtime_ns, status.st_size)

    def same_file(self, other: "FileVersion | None") -> bool:
        """Whether it is a state of the same file, changed or not."""
        return other is not None and (self.device, self.inode) == (other.device, other.inode)
