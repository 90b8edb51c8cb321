"""Which packages of Jupyter an interpreter has: asked of the interpreter itself, before anything is started."""

from collections.abc import Sequence
from typing import Final

from pisces.environment.captured_process import CapturedProcess
from pisces.errors import DeadlineExceeded, KernelStartError
from pisces.kernels.base import LaunchSpec
from pisces.kernels.deadline import Deadline

_CAP: Final = 5.0
_MARK: Final = b"missing:"
# The empty entry of sys.path goes first: it is the current folder, whose `contextlib.py` would be run.
_QUESTION: Final = (
    "import sys; sys.path[:] = [p for p in sys.path if p]; import importlib.util as u; "
    "print('\\nmissing:' + ','.join(n for n in sys.argv[1:] if u.find_spec(n) is None) + ';')"
)


async def missing_packages(spec: LaunchSpec, names: Sequence[str], deadline: Deadline) -> list[str]:
    """Those that its interpreter cannot import. Raises `KernelStartError` or `DeadlineExceeded`."""
    output = bytearray()
    try:
        process = CapturedProcess([spec.interpreter, "-c", _QUESTION, *names], cwd=spec.cwd, env=spec.env)
    except (OSError, ValueError) as error:
        raise KernelStartError(f"Cannot run {spec.interpreter}: {getattr(error, 'strerror', None) or error}") from error
    async with process:
        with deadline.scope(_CAP) as scope:
            while chunk := await process.read():
                output += chunk
    if scope.cancelled_caught:
        raise DeadlineExceeded(f"{spec.interpreter} did not say in time which packages it has")
    _, marked, answer = bytes(output).rpartition(_MARK)
    if not marked:
        words = bytes(output).decode("utf-8", "replace").strip()[-500:] or "it said nothing"
        raise KernelStartError(f"{spec.interpreter} could not be asked which packages it has: {words}")
    return [name for name in answer.partition(b";")[0].decode("ascii").split(",") if name]
