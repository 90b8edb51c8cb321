"""Making the managed environment from the command line, with progress on standard error."""

import os
from collections.abc import Sequence

import anyio
import click

from pisces.cli.signals import StopSignals, in_running_loop
from pisces.environment.managed_venv import create_managed_venv
from pisces.settings.paths import Paths


async def set_up_python(base: str | None, packages: Sequence[str]) -> int:
    """Make it and print its interpreter's path. A signal ends it cleanly; what is half made is made anew next time."""
    with anyio.CancelScope() as scope, StopSignals(in_running_loop(scope.cancel)) as signals:
        path = await create_managed_venv(
            Paths.locate(os.environ), os.environ, base=base, packages=packages, progress=_tell
        )
        click.echo(path)
        return 0
    _tell("Stopped. Run `pisces setup python` again to begin anew.")
    assert signals.exit_code is not None
    return signals.exit_code


def _tell(line: str) -> None:
    click.echo(line, err=True)
