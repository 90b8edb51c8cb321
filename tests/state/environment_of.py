"""Which interpreter has which libraries."""

import subprocess
from collections.abc import Iterable

from tests.environments import interpreter_of
from tests.state.catalogue import Library

_FOUND = "import importlib.util, sys; print(*(m for m in sys.argv[1:] if importlib.util.find_spec(m) is None))"


def interpreter_for(library: Library) -> str:
    """An interpreter of the environment that the library belongs to, which is made when it is first asked for."""
    environment = library.environment
    return interpreter_of(environment)


def missing_modules(modules: Iterable[str], interpreter: str) -> str:
    """Which of these cannot be imported there, for the reason of a skip: torch is not built for every system."""
    done = subprocess.run(
        [interpreter, "-I", "-c", _FOUND, *modules],
        capture_output=True,
        text=True,
        encoding="utf-8",
        check=True,
        timeout=60,
    )
    return done.stdout.strip()
