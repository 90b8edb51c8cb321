"""Which tests share a worker: those of one file, and of the contract suite those of one backend.

What the cases of a backend share, a server among them, is then started once.
"""

import pytest
from xdist.scheduler import LoadFileScheduling

from tests.contract.backends import BACKENDS


class FilesAndBackends(LoadFileScheduling):  # type: ignore[misc]  # xdist has no types
    """As `--dist loadfile`, but for the contract suite."""

    def _split_scope(self, nodeid: str) -> str:
        return unit_of(nodeid)


def unit_of(nodeid: str) -> str:
    """The name of what a test has to stay together with."""
    file, _, test = nodeid.partition("::")
    _, _, parameters = test.partition("[")
    if file.startswith("tests/contract/"):
        for backend in BACKENDS:
            if parameters.startswith((f"{backend}-", f"{backend}]")):
                return f"contract of {backend}"
    return file


def scheduler(config: pytest.Config, log: object) -> FilesAndBackends | None:
    """What hands out the tests of this run; None for xdist's own."""
    return FilesAndBackends(config, log) if config.getoption("dist") == "loadfile" else None
