"""What to run for a kernel: the interpreter's own ipykernel, or what a kernelspec says."""

import os
import re
from collections.abc import Mapping
from typing import Final

import msgspec

from pisces.errors import KernelStartError
from pisces.kernels.base import LaunchSpec
from pisces.kernels.zmq.kernelspecs import KernelSpecInfo, find

_LAUNCHER: Final = "ipykernel_launcher"
_QUIET: Final = {"PYDEVD_DISABLE_FILE_VALIDATION": "1"}
"""Or ipykernel's debugger, which nobody uses here, complains to the user about how Python was started."""
_MISSING: Final = re.compile(r"No module named '?(ipykernel_launcher|ipykernel)'?\b")
_TAKEN: Final = re.compile(r"address (is )?already in use|EADDRINUSE", re.IGNORECASE)


class Recipe(msgspec.Struct, frozen=True):
    """How a kernel is run, but for its connection file."""

    spec: LaunchSpec
    kernelspec: KernelSpecInfo | None

    @property
    def listens_on_files(self) -> bool:
        """Whether the kernel surely can listen on socket files: what is written in Python is built on ipykernel.

        Others may only know ports, which is all that Jupyter itself asks of them by default.
        """
        return self.kernelspec is None or os.path.basename(self.kernelspec.argv[0]).startswith("python")

    @property
    def wants_message(self) -> bool:
        """Whether it is to be interrupted by a message, not by a signal."""
        return self.kernelspec is not None and self.kernelspec.interrupt_mode == "message"

    @property
    def name(self) -> str:
        """For the reader of a result."""
        return self.kernelspec.name if self.kernelspec is not None else self.spec.interpreter

    def command(self, connection_file: str) -> tuple[str, ...]:
        """What to run."""
        if self.kernelspec is not None:
            return self.kernelspec.command(connection_file, self.spec.interpreter)
        return (self.spec.interpreter, "-m", _LAUNCHER, "-f", connection_file)

    def environment(self) -> dict[str, str]:
        """With which environment."""
        env = dict(self.spec.env) if self.kernelspec is None else self.kernelspec.environment(self.spec.env)
        if self.kernelspec is None or _LAUNCHER in self.kernelspec.argv:
            env = {**_QUIET, **env}
        return {**env, **self.spec.injected}


def recipe_for(spec: LaunchSpec, environ: Mapping[str, str]) -> Recipe:
    """How to run this kernel; kernelspecs are looked for as this environment says. Raises `KernelStartError`."""
    kernelspec = find(spec.kernelspec, spec.interpreter, environ) if spec.kernelspec else None
    return Recipe(spec, kernelspec)


def start_error(python: str, ended: str, words: str) -> KernelStartError:
    """Why a kernel did not come up: what it wrote, or what to do about it where that is known."""
    if _MISSING.search(words):
        return not_installed(python)
    return KernelStartError(f"The kernel {ended} before it was ready: {words[-2000:] or 'it said nothing'}")


def not_installed(python: str) -> KernelStartError:
    """What to say when the interpreter lacks the package."""
    remedy = f"{python} -m pip install ipykernel"
    return KernelStartError(f"ipykernel not installed. Run: {remedy}", hint="Or use the native kernel, without it.")


def lost_its_port(words: str) -> bool:
    """Whether the kernel ended because somebody else had taken a port that was meant for it."""
    return _TAKEN.search(words) is not None
