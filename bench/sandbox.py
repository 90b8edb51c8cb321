"""A home folder, an environment and an interpreter without IPython, made for one run and removed after it."""

import os
import subprocess
import sys
import tempfile
from pathlib import Path
from types import TracebackType
from typing import Self

ROOT = Path(__file__).parents[1]
_WITH_NUMPY = ROOT / ".envs" / "ipython" / "bin" / "python"
_WITH_JUPYTER = ROOT / ".envs" / "jupyter" / "bin" / "python"
_WITH_NOTEBOOKS = ROOT / ".envs" / "notebooks" / "bin" / "python"
_WITH_KISHU = ROOT / ".envs" / "kishu" / "bin" / "python"
_KEPT_VARIABLES = ("PATH", "LANG", "LC_ALL", "TZ", "LD_LIBRARY_PATH")


class Sandbox:
    """Where the measurements run, so that they neither see the user's settings nor fill the user's folders."""

    def __init__(self) -> None:
        self._folder = tempfile.TemporaryDirectory(prefix="pisces-bench-")
        self.root = Path(self._folder.name)
        self.home = self.root / "home"
        self.ipython = sys.executable
        """The interpreter of this environment, which has IPython and ipykernel."""
        self.plain = str(self.root / "plain" / "bin" / "python")
        """The same Python without any package."""
        self.numpy = str(_WITH_NUMPY) if _WITH_NUMPY.exists() else None
        """A Python with IPython and numpy, where `make environments` has made it."""
        self.jupyter = str(_WITH_JUPYTER) if _WITH_JUPYTER.exists() else None
        """A Python with ipykernel and Kernel Gateway, where `make environments` has made it."""
        self.notebooks = str(_WITH_NOTEBOOKS) if _WITH_NOTEBOOKS.exists() else None
        """A Python with nbformat, nbclient and ipykernel, where `make environments` has made it."""
        self.kishu = str(_WITH_KISHU) if _WITH_KISHU.exists() else None
        """A Python with Kishu and libraries of the kinds that it keeps, where `make bench` has made it."""

    def __enter__(self) -> Self:
        self.home.mkdir()
        subprocess.run([sys.executable, "-m", "venv", "--without-pip", self.root / "plain"], check=True, timeout=60)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._folder.cleanup()

    @property
    def environ(self) -> dict[str, str]:
        """For every process that is measured: the same few variables, our sources, a home of its own."""
        kept = {name: os.environ[name] for name in _KEPT_VARIABLES if name in os.environ}
        return {**kept, "HOME": str(self.home), "PYTHONPATH": os.pathsep.join((str(ROOT / "src"), str(ROOT)))}
