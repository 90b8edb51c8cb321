"""What a session makes of kernels that live elsewhere: emptied by somebody else, or out of reach."""

from pathlib import Path

import pytest

from pisces.kernels.memory import MemoryBackend
from pisces.model.events import Done
from tests.fakes.runtimes import call, details, kernel_of, scripted_runtime

EMPTIED = Done("ok", state="lost")
CUT = Done("disconnected", state="unknown", notes=("The connection is gone.",))


async def test_a_cell_that_found_an_emptied_kernel_says_so_and_every_owner_hears_of_it(tmp_path: Path) -> None:
    async with scripted_runtime({"x": [], "found": [EMPTIED]}, tmp_path) as runtime:
        await call(runtime, "x", owner="parent")
        await call(runtime, "x", owner="helper")
        found = await call(runtime, "found", owner="helper")
        later = await call(runtime, "x", owner="helper")
        other = await call(runtime, "x", owner="parent")
    assert [kernel_of(result).state for result in (found, later, other)] == ["lost", "kept", "lost"]
    assert [kernel_of(result).generation for result in (found, later, other)] == [2, 2, 2]
    for result in (found, other):
        assert result.text.startswith("[State: lost] Somebody had restarted the kernel before this cell ran")


@pytest.mark.parametrize("retry", ["never", "safe", "once"])
async def test_a_cell_whose_fate_is_not_known_is_not_run_again(tmp_path: Path, retry: str) -> None:
    backend = MemoryBackend({"x": [], "cut": [CUT]})
    async with scripted_runtime(backend, tmp_path, retry_on_crash=retry) as runtime:
        await call(runtime, "x")
        cut = await call(runtime, "cut")
        later = await call(runtime, "x")
    assert (details(cut).outcome, kernel_of(cut).state) == ("disconnected", "unknown")
    assert cut.text.startswith("[State: unknown] The connection to the kernel was lost.")
    assert "The connection is gone." in cut.text
    (kernel,) = backend.kernels
    assert [request.code for request in kernel.requests] == ["x", "cut", "x"]
    assert kernel_of(later).state == "kept"
