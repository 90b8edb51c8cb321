"""Errors that nobody foresaw: a sentence for the person, the traceback for a log that only they can read."""

import os
import time
import traceback
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from pisces.environment.mask import SecretMask
from pisces.settings.paths import Paths, make_private

_ROLL_OVER: Final = 1024 * 1024
"""Bytes. A log that has grown to this is put aside, in the place of the one that was put aside before."""


def told(error: BaseException, paths: Paths, environ: Mapping[str, str]) -> str:
    """Keep the error in the log, and say that it was; where that is impossible, why."""
    mask = SecretMask(environ)
    what = mask.text(f"Pisces itself went wrong: {type(error).__name__}: {error}")
    try:
        file = _keep(mask.text("".join(traceback.format_exception(error))), paths)
    except OSError as problem:
        return f"{what}\nNo log of it could be written: {problem}"
    return f"{what}\nThe details are in {file}; PI_DEBUG=1 shows them. Please report it."


def _keep(text: str, paths: Paths) -> Path:
    file = make_private(paths.agent) / "ui.log"
    if file.exists() and file.stat().st_size > _ROLL_OVER:
        file.replace(file.with_suffix(".log.1"))
    moment = time.strftime("%Y-%m-%d %H:%M:%S")
    with open(file, "a", encoding="utf-8", errors="backslashreplace", opener=_private) as log:
        log.write(f"{moment} {os.getpid()}\n{text}\n")
    return file


def _private(path: str, flags: int) -> int:
    return os.open(path, flags | os.O_CLOEXEC, 0o600)
