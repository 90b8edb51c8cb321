"""The log of a command: nothing unless a switch asks for it, and never a secret."""

import logging
import os
from collections.abc import Mapping
from typing import Final, TextIO

import click

from pisces.environment.mask import SecretMask
from pisces.settings.paths import Paths, make_private
from pisces.settings.switches import Switches

_ROLL_OVER: Final = 32 * 1024 * 1024
"""A log that has grown to this is put aside, in the place of the one that was put aside before."""


def write_log(switches: Switches, environ: Mapping[str, str]) -> None:
    """Write what the loggers of Pisces say to the log file, frames and messages only with `PI_PYTHON_IPC_TRACE`.

    A log that cannot be written is told once, and the command goes on without it.
    """
    file = open_log(environ)
    if file is None:
        return
    handler = logging.StreamHandler(file)
    handler.setFormatter(MaskingFormatter(SecretMask(environ)))
    ours = logging.getLogger("pisces")
    ours.addHandler(handler)
    ours.setLevel(logging.DEBUG)
    ours.propagate = False
    if not switches.ipc_trace:
        logging.getLogger("pisces.ipc").setLevel(logging.INFO)


def open_log(environ: Mapping[str, str]) -> TextIO | None:
    """The log file, to append to; only its owner can read it."""
    path = Paths.locate(environ).log_file
    try:
        make_private(path.parent)
        if path.exists() and path.stat().st_size > _ROLL_OVER:
            path.replace(path.with_suffix(".log.1"))
        return open(path, "a", encoding="utf-8", errors="backslashreplace", opener=_private)
    except OSError as error:
        click.echo(f"No log is written: {path}: {error.strerror or error}", err=True)
        return None


class MaskingFormatter(logging.Formatter):
    """One line per record with time, process and logger; secrets are masked, also in tracebacks."""

    def __init__(self, mask: SecretMask) -> None:
        super().__init__("%(asctime)s %(process)d %(name)s %(levelname)s %(message)s")
        self._mask = mask

    def format(self, record: logging.LogRecord) -> str:
        return self._mask.text(super().format(record))


def _private(path: str, flags: int) -> int:
    return os.open(path, flags | os.O_CLOEXEC, 0o600)
