"""The machine class, the versions and the load: what figures mean nothing without. No name of a machine is kept."""

import os
import platform
from datetime import UTC, datetime
from importlib.metadata import version

from bench.report import Facts

_PACKAGES = ("anyio", "ipykernel", "ipython", "jupyter-client", "msgspec", "pyzmq")


def gather_facts() -> Facts:
    return Facts(
        date=f"{datetime.now(UTC):%Y-%m-%d}",
        cores=_usable_cores(),
        system=f"{platform.system()} {platform.machine()}",
        python=platform.python_version(),
        versions={name: version(name) for name in _PACKAGES},
        load_before=round(os.getloadavg()[0], 2),
    )


def _usable_cores() -> int:
    try:
        return len(os.sched_getaffinity(0))
    except AttributeError:  # macOS has no affinity.
        return os.cpu_count() or 1
