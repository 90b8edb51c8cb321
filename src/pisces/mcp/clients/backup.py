"""A copy of a file beside it, from before it is changed."""

import os
import stat
from itertools import count
from pathlib import Path
from typing import Final

from pisces.files.failures import explained

_SUFFIX: Final = ".pisces-backup"
_NEW: Final = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC


def keep_backup(path: Path, data: bytes) -> Path:
    """Keep the content of a file; returns where. No earlier copy is lost, and none is made twice.

    Nobody can read the copy who cannot read the file. Raises `FileError`.
    """
    for number in count(1):
        place = path.with_name(f"{path.name}{_SUFFIX}{'' if number == 1 else f'-{number}'}")
        with explained(place, "written"):
            try:
                descriptor = os.open(place, _NEW, 0o600)
            except FileExistsError:
                if _has(place, data):
                    return place
                continue
            _fill(descriptor, place, data, mode=stat.S_IMODE(os.stat(path).st_mode))
            return place
    raise AssertionError


def _has(place: Path, data: bytes) -> bool:
    try:
        return place.is_file() and place.stat().st_size == len(data) and place.read_bytes() == data
    except OSError:
        return False


def _fill(descriptor: int, place: Path, data: bytes, *, mode: int) -> None:
    try:
        with open(descriptor, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(descriptor)
            os.fchmod(descriptor, mode & 0o666)
    except BaseException:
        place.unlink(missing_ok=True)
        raise
