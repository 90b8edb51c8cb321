"""Small files that are written whole, and that only their owner can read."""

import os
from pathlib import Path


def write_whole(path: Path, content: bytes) -> None:
    """Put a small file in its place, private, in one step: whoever reads it reads the old one or the new one."""
    beside = path.with_name(f"{path.name}.{os.getpid()}")
    descriptor = os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o600)
    try:
        with open(descriptor, "wb") as file:
            file.write(content)
        beside.replace(path)
    except OSError:
        beside.unlink(missing_ok=True)
        raise
