"""An error that nobody foresaw: one sentence for the person, the traceback for the log."""

import logging
import os

import click

from pisces.cli.logs import MaskingFormatter, open_log
from pisces.environment.mask import SecretMask
from pisces.settings.paths import Paths
from pisces.settings.switches import read_switches

_EXIT_CODE = 1


def tell_mishap(error: Exception) -> int:
    """Say that Pisces itself went wrong, keep the traceback in the log, and return the exit code."""
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


def _record(error: Exception) -> logging.LogRecord:
    exc_info = (type(error), error, error.__traceback__)
    return logging.LogRecord("pisces.cli", logging.ERROR, __file__, 0, "unforeseen error", (), exc_info)
