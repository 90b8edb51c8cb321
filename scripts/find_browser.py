"""Find a browser for the tests that need a real one; on Debian, and as root, install it if there is none.

    python -m scripts.find_browser

prints its path. Any number of these may run at once: one installs, the others wait for it.
"""

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Final

from scripts.make_environment import SetUpFailed, locked, report

_NAMES: Final = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
_PACKAGE: Final = "chromium"
_QUIET: Final = {"DEBIAN_FRONTEND": "noninteractive"}


def find_browser() -> str:
    """The path of a browser of the Chromium family. Raises `SetUpFailed` with the reason why there is none."""
    if found := installed():
        return found
    apt = shutil.which("apt-get")
    if apt is None or os.geteuid() != 0:
        raise SetUpFailed(f"there is no browser: install {_PACKAGE} (as root on Debian, this is done by itself)")
    with locked(Path(tempfile.gettempdir()) / "pisces-browser.lock"):
        if found := installed():
            return found
        report(f"installing {_PACKAGE}; this is done once")
        run([apt, "update"])
        run([apt, "install", "--yes", "--no-install-recommends", _PACKAGE])
    if found := installed():
        return found
    raise SetUpFailed(f"{_PACKAGE} was installed, and there is no program of that name")


def installed() -> str | None:
    """The first one on the path."""
    return next((path for name in _NAMES if (path := shutil.which(name))), None)


def run(command: list[str]) -> None:
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


if __name__ == "__main__":
    try:
        print(find_browser())
    except SetUpFailed as error:
        sys.exit(str(error))
