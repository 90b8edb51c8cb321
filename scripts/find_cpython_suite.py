"""Find an interpreter that has a module of CPython's own tests; on Debian, and as root, install them if none has.

    python -m scripts.find_cpython_suite .envs/plain/bin/python test.test_concurrent_futures

prints the path of that interpreter: the one that was given, or else Debian's own Python.
"""

import os
import subprocess
import sys
from pathlib import Path
from typing import Final

from scripts.debian_packages import find_or_install
from scripts.make_environment import SetUpFailed

_DEBIANS: Final = Path("/usr/bin/python3")
_ASK: Final = "import importlib.util, sys; sys.exit(any(map(lambda n: not importlib.util.find_spec(n), sys.argv[1:])))"


def find_suite(interpreter: str, *modules: str) -> str:
    """This interpreter, or Debian's, whichever has the modules. Raises `SetUpFailed` if neither does."""
    if has_modules(interpreter, modules):
        return interpreter
    missing = f"{interpreter} was installed without {' and '.join(modules)} of CPython's own tests"
    if not _DEBIANS.exists():
        raise SetUpFailed(missing)
    debians = os.path.realpath(_DEBIANS)
    package = f"lib{Path(debians).name}-testsuite"
    return find_or_install(package, lambda: debians if has_modules(debians, modules) else None, missing)


def has_modules(interpreter: str, modules: tuple[str, ...]) -> bool:
    """Whether it would find all of them; none is imported, only the package `test` that they are in."""
    asked = subprocess.run(
        [interpreter, "-c", _ASK, *modules], stdin=subprocess.DEVNULL, capture_output=True, timeout=60, check=False
    )
    return asked.returncode == 0


if __name__ == "__main__":
    try:
        print(find_suite(sys.argv[1], *sys.argv[2:]))
    except SetUpFailed as error:
        sys.exit(str(error))
