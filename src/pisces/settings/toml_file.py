"""A settings file as a table, or the reason why it cannot be read."""

import stat
from pathlib import Path
from typing import Any, Final

from pisces.errors import SettingsError

MAX_BYTES: Final = 1024 * 1024
"""More than any settings file has; what is bigger is not one."""


def read_toml(file: Path) -> dict[str, Any]:
    """Read a TOML file; one that is not there is an empty table. Raises `SettingsError`, naming file and line."""
    try:
        status = file.stat()
        if not stat.S_ISREG(status.st_mode):
            raise SettingsError(f"Settings file {file} is not a regular file.", hint="Put a TOML file in its place.")
        if status.st_size > MAX_BYTES:
            raise SettingsError(
                f"Settings file {file} has {status.st_size} bytes.", hint=f"At most {MAX_BYTES} bytes are read."
            )
        data = file.read_bytes()
    except (FileNotFoundError, NotADirectoryError):
        return {}
    except OSError as error:
        raise SettingsError(
            f"Settings file {file} cannot be read: {error.strerror or error}.",
            hint="Make it readable for you, or move it away.",
        ) from error
    return _parse(file, data)


def _parse(file: Path, data: bytes) -> dict[str, Any]:
    import tomllib  # most starts have no settings file, and so do not pay for the parser

    try:
        return tomllib.loads(data.decode("utf-8-sig"))
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise SettingsError(
            f"Settings file {file}, line {line}: not UTF-8 (byte 0x{data[error.start]:02x}).",
            hint="Save the file as UTF-8.",
        ) from error
    except tomllib.TOMLDecodeError as error:
        raise SettingsError(
            f"Settings file {file} is not valid TOML: {error}.",
            hint='A setting looks like `kernelMode = "per-call"` below a line `[python]`; texts need quotes.',
        ) from error
    except RecursionError as error:
        raise SettingsError(f"Settings file {file} is nested too deeply.", hint="Settings need two levels.") from error
