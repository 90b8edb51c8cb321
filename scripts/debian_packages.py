"""Install a package of Debian for a test that needs one, as root; elsewhere say why that is not done.

Any number of tests may ask at once: one installs, the others wait for it.
"""

import os
import shutil
import subprocess
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Final

from scripts.make_environment import SetUpFailed, locked, report

_QUIET: Final = {"DEBIAN_FRONTEND": "noninteractive"}


def find_or_install(package: str, find: Callable[[], str | None], missing: str) -> str:
    """What `find` finds, after an installation of the package if need be.

    Raises `SetUpFailed`, which begins with the clause `missing`, when it cannot be had.
    """
    if found := find():
        return found
    apt = shutil.which("apt-get")
    if apt is None or os.geteuid() != 0:
        raise SetUpFailed(f"{missing}: install {package} (as root on Debian, this is done by itself)")
    with locked(Path(tempfile.gettempdir()) / f"pisces-{package}.lock"):
        if found := find():
            return found
        report(f"installing {package}; this is done once")
        _run([apt, "update"])
        _run([apt, "install", "--yes", "--no-install-recommends", package])
    if found := find():
        return found
    raise SetUpFailed(f"{missing}, although {package} was installed")


def _run(command: list[str]) -> None:
    """Run a command of the package manager to its end."""
    done = subprocess.run(
        command,
        env={**os.environ, **_QUIET},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        encoding="utf-8",
        errors="replace",
        check=False,
    )
    if done.returncode != 0:
        raise SetUpFailed(f"`{' '.join(command)}` failed: {done.stderr.strip()[-500:]}")
