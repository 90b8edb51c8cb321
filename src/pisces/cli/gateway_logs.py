"""Printing the end of a log, and what is added to it."""

import os
import time
from pathlib import Path
from typing import BinaryIO, Final

import click

from pisces.cli.main import FAILED

_MOST: Final = 4 * 1024 * 1024
"""Bytes of a log that are looked through for its last lines."""
_LOOK_SECONDS: Final = 0.2


def show_log(path: Path, *, lines: int, follow: bool) -> int:
    """Print the last lines; the exit code is 1 when there is no log."""
    if not path.is_file():
        click.echo(f"There is no log: {path}", err=True)
        return FAILED
    with open(path, "rb") as file:
        _print_end(file, lines)
        while follow:
            _print_new(file)
            time.sleep(_LOOK_SECONDS)
    return 0


def _print_end(file: BinaryIO, lines: int) -> None:
    size = os.fstat(file.fileno()).st_size
    file.seek(max(0, size - _MOST))
    kept = file.read().splitlines(keepends=True)[-lines:] if lines else []
    file.seek(0, os.SEEK_END)
    click.echo(b"".join(kept).decode("utf-8", "replace"), nl=False)


def _print_new(file: BinaryIO) -> None:
    if os.fstat(file.fileno()).st_size < file.tell():
        file.seek(0)  # It had grown too long, and begins anew.
    new = file.read()
    if new:
        click.echo(new.decode("utf-8", "replace"), nl=False)
