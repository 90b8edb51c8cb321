"""Find a browser for the tests that need a real one; on Debian, and as root, install it if there is none.

    python -m scripts.find_browser

prints its path. Any number of these may run at once: one installs, the others wait for it.
"""

import shutil
import sys
from typing import Final

from scripts.debian_packages import find_or_install
from scripts.make_environment import SetUpFailed

_NAMES: Final = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")


def find_browser() -> str:
    """The path of a browser of the Chromium family. Raises `SetUpFailed` with the reason why there is none."""
    return find_or_install("chromium", installed, "there is no browser")


def installed() -> str | None:
    """The first one on the path."""
    return next((path for name in _NAMES if (path := shutil.which(name))), None)


if __name__ == "__main__":
    try:
        print(find_browser())
    except SetUpFailed as error:
        sys.exit(str(error))
