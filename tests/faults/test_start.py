"""A kernel that does not come up: the call's deadline, an abort and a cancellation are all seen, and nothing stays."""

import time
from collections.abc import Mapping
from pathlib import Path

import anyio
import pytest

from tests.fakes.drive import eventually
from tests.fakes.runtimes import begin, call, details, kernel_of, runtime_on


@pytest.fixture
def hanging_shell(tmp_path: Path) -> Mapping[str, str]:
    """An environment in which a kernel connects and then never gets ready: its IPython hangs when imported."""
    package = tmp_path / "lib" / "IPython"
    package.mkdir(parents=True)
    (package / "__init__.py").write_text(
        f"open({str(tmp_path / 'importing')!r}, 'w').close()\nimport time\ntime.sleep(3600)\n", encoding="utf-8"
    )
    return {"PYTHONPATH": str(tmp_path / "lib")}


# The start hangs after the channel is open: the cancel is not seen.
async def test_a_start_that_hangs_after_it_connected_can_be_aborted(
    plain_python: str, tmp_path: Path, hanging_shell: Mapping[str, str]
) -> None:
    abort = anyio.Event()
    async with (
        runtime_on(plain_python, tmp_path, environ=hanging_shell) as runtime,
        anyio.create_task_group() as group,
    ):
        running = begin(group, runtime, "1 + 1", abort=abort, timeout=10)
        await eventually((tmp_path / "importing").exists)
        asked = time.monotonic()
        abort.set()
        result = await running.finish()
        assert time.monotonic() - asked < 5
    assert details(result).outcome == "aborted"


# The start takes longer than the call's own deadline.
async def test_a_start_that_hangs_after_it_connected_ends_with_the_deadline(
    plain_python: str, tmp_path: Path, hanging_shell: Mapping[str, str]
) -> None:
    began = time.monotonic()
    async with runtime_on(plain_python, tmp_path, environ=hanging_shell) as runtime:
        result = await call(runtime, "1 + 1", timeout=1)
        assert time.monotonic() - began < 5
    assert details(result).outcome == "timeout"
    assert "Command timed out after 1 seconds" in result.text
    assert "did not start within 1 seconds" in result.text


async def test_an_interpreter_that_never_answers_ends_with_the_deadline(tmp_path: Path) -> None:
    silent = tmp_path / "python"
    silent.write_text("#!/bin/sh\nsleep 3600\n", encoding="utf-8")
    silent.chmod(0o755)
    began = time.monotonic()
    async with runtime_on(str(silent), tmp_path, environ={"PI_PYTHON_SKIP_CHECK": "1"}) as runtime:
        result = await call(runtime, "1 + 1", timeout=1)
        assert time.monotonic() - began < 5
    assert details(result).outcome == "timeout"


async def test_a_start_that_is_given_up_early_does_not_claim_that_the_time_ran_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("pisces.kernels.native.zygote._START_CAP", 0.2)
    silent = tmp_path / "python"
    silent.write_text("#!/bin/sh\nsleep 3600\n", encoding="utf-8")
    silent.chmod(0o755)
    async with runtime_on(str(silent), tmp_path, environ={"PI_PYTHON_SKIP_CHECK": "1"}) as runtime:
        result = await call(runtime, "1 + 1", timeout=600)
    assert result.text.startswith(f"Error: {silent} did not begin to run within 0.2 seconds\nTry another interpreter")


async def test_an_interpreter_that_ends_at_once_is_told_with_its_last_words(tmp_path: Path) -> None:
    broken = tmp_path / "python"
    broken.write_text("#!/bin/sh\necho 'libpython is missing' >&2\nexit 127\n", encoding="utf-8")
    broken.chmod(0o755)
    async with runtime_on(str(broken), tmp_path, environ={"PI_PYTHON_SKIP_CHECK": "1"}) as runtime:
        result = await call(runtime, "1 + 1")
    assert result.text.startswith(f"Error: {broken} could not run a kernel: libpython is missing")


# A clean exit (code 0) is taken for "not confirmed".
async def test_a_kernel_that_exits_with_0_is_seen_to_end(plain_python: str, tmp_path: Path) -> None:
    async with runtime_on(plain_python, tmp_path) as runtime:
        await call(runtime, "1")
        began = time.monotonic()
        result = await call(runtime, "import os\nos._exit(0)", timeout=10)
        assert time.monotonic() - began < 5
        after = await call(runtime, "1 + 1")
    assert details(result).outcome == "crashed"
    assert result.text.startswith("[State: restored] The kernel exited with code 0.")
    assert details(result).cells[0].exit_code == 1, "a cell that ended its kernel did not go well"
    assert (after.text, kernel_of(after).generation) == ("2", 2)
