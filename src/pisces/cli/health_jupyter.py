"""The part of the examination that starts a kernel of Jupyter's, where the settings have code run on one."""

from collections.abc import Mapping
from typing import Final

import anyio
import msgspec

from pisces.cli.findings import Finding
from pisces.cli.health_kernel import broken, try_kernel
from pisces.errors import PiscesError
from pisces.kernels.base import LaunchSpec
from pisces.kernels.deadline import Deadline
from pisces.kernels.registry import BackendChoice, Backends
from pisces.settings.load import LoadedSettings
from pisces.settings.paths import Paths

_STATE: Final = "Its state is lost if it dies: only native kernels have checkpoints."


async def examine_jupyter_kernel(
    choice: BackendChoice,
    spec: LaunchSpec,
    environ: Mapping[str, str],
    *,
    loaded: LoadedSettings,
    deadline: Deadline,
) -> Finding:
    """Start a kernel as a call would, and run 1+1 in it.

    The kernel is ended afterwards. A local gateway that had to be started for it ends by itself when it is idle.
    """
    python = loaded.settings.python
    backends = Backends(Paths.locate(environ), idle=python.idle_timeout, cull=python.named_idle_timeout)
    try:
        return await _try(backends, choice, spec, deadline)
    except PiscesError as error:
        return broken(str(error), error.hint)
    finally:
        with anyio.CancelScope(shield=True):
            await backends.aclose()


async def _try(backends: Backends, choice: BackendChoice, spec: LaunchSpec, deadline: Deadline) -> Finding:
    kernel = backends.get(choice).kernel(spec)
    try:
        with deadline.scope():
            works = await try_kernel(kernel, deadline)
            return msgspec.structs.replace(works, details=(_STATE,)) if works.status == "ok" else works
        return broken("It did not answer in time", "")
    finally:
        with anyio.CancelScope(shield=True):
            await kernel.shutdown()
