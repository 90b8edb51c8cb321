"""An error that nobody foresaw: one sentence for the person, the traceback for the log.

Two of them are no fault of ours and can come from any command: a folder that is gone, and an output that is full.
"""

import errno
import logging
import os

import click

from pisces.cli.logs import MaskingFormatter, open_log
from pisces.cli.terminal import unwritable
from pisces.environment.mask import SecretMask
from pisces.errors import InvalidCall, PiscesError
from pisces.settings.paths import Paths
from pisces.settings.switches import read_switches

_EXIT_CODE = 1
_OUTPUT_FULL = frozenset((errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO))


def tell_mishap(error: Exception) -> int:
    """Say that Pisces itself went wrong, keep the traceback in the log, and return the exit code."""
    cause = _cause_outside(error)
    if cause is not None:
        click.echo(f"Error: {cause.explain()}", err=True)
        return _EXIT_CODE
    if read_switches(os.environ).debug:
        import traceback

        traceback.print_exception(error)
        return _EXIT_CODE
    file = open_log(os.environ)
    if file is not None:
        handler = logging.StreamHandler(file)
        handler.setFormatter(MaskingFormatter(SecretMask(os.environ)))
        handler.handle(_record(error))
        file.close()
    click.echo(f"Error: Pisces itself went wrong: {type(error).__name__}: {error}", err=True)
    kept = f"The details are in {Paths.locate(os.environ).log_file}; " if file is not None else ""
    click.echo(f"{kept}PI_DEBUG=1 shows them here. Please report it.", err=True)
    return _EXIT_CODE


def _cause_outside(error: Exception) -> PiscesError | None:
    """What the world around us lacks, where that is all there is to it."""
    if not isinstance(error, OSError):
        return None
    try:
        os.getcwd()
    except FileNotFoundError:
        return InvalidCall("The current folder has been removed.", hint="Go to one that is there: cd")
    if error.errno not in _OUTPUT_FULL or error.filename is not None:
        return None
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 1)  # What is still buffered will not be written when Python ends, either.
    os.close(nowhere)
    return unwritable(error)


def _record(error: Exception) -> logging.LogRecord:
    exc_info = (type(error), error, error.__traceback__)
    return logging.LogRecord("pisces.cli", logging.ERROR, __file__, 0, "unforeseen error", (), exc_info)
