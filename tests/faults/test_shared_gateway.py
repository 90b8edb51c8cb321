"""What goes wrong around a gateway that processes share: stale files, locks, pids, ports, descriptors, and deaths."""

import errno
import os
import re
import resource
import signal
import socket
import subprocess
import sys
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import anyio
import msgspec
import psutil
import pytest

from pisces.errors import DeadlineExceeded, KernelStartError, PiscesError
from pisces.kernels.deadline import Deadline
from pisces.kernels.gateway import coordinator, launch, lock, lock_file
from pisces.kernels.gateway.coordinator import acquire_shared_gateway, end_gateway
from pisces.kernels.gateway.record import GatewayRecord
from pisces.settings.recorded_process import RecordedProcess
from tests.fakes.drive import PATIENCE, begin, eventually, ok, run, value
from tests.fakes.local_gateways import LocalGateways, finished, gone, is_there, kernels_of, local_gateways, said
from tests.leftovers import descriptors_left

pytestmark = pytest.mark.anyio


@pytest.fixture
async def gateways(jupyter_python: str, own_home: Path, no_process_is_left: None) -> AsyncIterator[LocalGateways]:
    async with local_gateways(jupyter_python) as found:
        yield found


@pytest.fixture
def stranger() -> "subprocess.Popen[bytes]":
    """Another program, which ends when it is told to."""
    return subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)


async def acquire(gateways: LocalGateways, **changes: Any) -> GatewayRecord:
    return await acquire_shared_gateway(gateways.plan(**changes), gateways.folder, Deadline.after(PATIENCE))


async def test_a_record_that_cannot_be_read_is_replaced(gateways: LocalGateways) -> None:
    gateways.folder.make()
    for content in (b"{", b"\x00\xff", b""):
        gateways.folder.record_file.write_bytes(content)
        record = await acquire(gateways)
        await end_gateway(record)
    gateways.folder.record_file.write_bytes(b'{"pid": true}')
    kernel = await gateways.start()
    assert await value(kernel, "1 + 1") == "2"
    await kernel.shutdown()


async def test_a_record_of_a_gateway_that_has_ended_is_replaced(gateways: LocalGateways) -> None:
    old = await acquire(gateways)
    await end_gateway(old)
    assert gateways.record == old
    new = await acquire(gateways)
    assert new.pid != old.pid
    assert gateways.record == new


async def test_a_pid_that_belongs_to_another_program_is_neither_used_nor_ended(
    gateways: LocalGateways, stranger: "subprocess.Popen[bytes]"
) -> None:
    with stranger:
        old = await acquire(gateways)
        await end_gateway(old)
        changes = {"pid": stranger.pid, "keeper": RecordedProcess(stranger.pid, 5)}
        for start_time in (old.start_time, 0):
            gateways.folder.write(_changed(old, **changes, start_time=start_time))
            new = await acquire(gateways)
            assert new.pid != stranger.pid
            await end_gateway(new)
        assert is_there(stranger.pid)
        stranger.communicate(b"\n", timeout=PATIENCE)
    assert stranger.returncode == 0


async def test_a_gateway_that_hangs_is_ended_and_replaced(
    gateways: LocalGateways, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(coordinator, "_HEALTH_CAP", 0.5)
    monkeypatch.setattr(coordinator, "_ORDERLY_CAP", 0.2)
    old = await acquire(gateways)
    psutil.Process(old.pid).suspend()  # As if it hung: one that is only stopped would be continued.
    monkeypatch.setattr(RecordedProcess, "continue_if_stopped", lambda process: False)
    new = await acquire(gateways)
    assert new.pid != old.pid
    await gone(old.pid, old.keeper.pid)


async def test_a_gateway_with_another_token_is_ended_and_replaced(gateways: LocalGateways) -> None:
    old = await acquire(gateways)
    gateways.folder.write(_changed(old, token="no"))
    new = await acquire(gateways)
    assert new.pid != old.pid
    assert not is_there(old.pid)


async def test_a_lock_whose_holder_died_is_free_at_once(gateways: LocalGateways) -> None:
    gateways.folder.make()
    holder = gateways.script(
        "lock = LockFile(gateways.folder.lock_file)\n"
        "assert lock.try_acquire()\n"
        "print(1, flush=True)\n"
        "os.kill(os.getpid(), signal.SIGKILL)"
    )
    await said(holder)
    with holder:
        holder.wait(PATIENCE)
    await acquire_shared_gateway(gateways.plan(), gateways.folder, Deadline.after(PATIENCE))


async def test_a_lock_whose_holder_hangs_is_taken_over_and_its_gateway_is_not_recorded(
    gateways: LocalGateways, monkeypatch: pytest.MonkeyPatch
) -> None:
    gateways.folder.make()
    holder = gateways.script(
        "from pisces.kernels.gateway import launch\n"
        "from pisces.kernels.gateway.coordinator import acquire_shared_gateway\n"
        "async def stop(*_):\n"
        "    print(os.getpid(), flush=True)\n"
        "    os.kill(os.getpid(), signal.SIGSTOP)\n"
        "launch._answers = stop\n"
        "try:\n"
        "    await acquire_shared_gateway(gateways.plan(), gateways.folder, Deadline.after(60))\n"
        "except Exception as error:\n"
        "    import json\n"
        "    print(json.dumps(str(error)), flush=True)"
    )
    pid = await said(holder)
    await eventually(lambda: psutil.Process(pid).status() == psutil.STATUS_STOPPED)
    with pytest.raises(DeadlineExceeded, match=f"by process {pid}"):
        await acquire_shared_gateway(gateways.plan(), gateways.folder, Deadline.after(0.5))
    monkeypatch.setattr(lock_file, "STALE_SECONDS", 0.5)
    record = await acquire(gateways)
    os.kill(pid, signal.SIGCONT)
    assert "another process has taken over" in await said(holder)
    await finished(holder)
    assert gateways.record == record
    assert await kernels_of(record) == []


async def test_a_lock_that_is_kept_is_waited_for_no_longer_than_its_cap(
    gateways: LocalGateways, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lock, "WAIT_CAP", 0.3)
    gateways.folder.make()
    holder = lock_file.LockFile(gateways.folder.lock_file)
    assert holder.try_acquire()
    with pytest.raises(KernelStartError, match=f"by process {os.getpid()}"):
        await gateways.start()
    holder.release()


async def test_the_port_cannot_be_taken_between_its_choice_and_its_use(
    gateways: LocalGateways, monkeypatch: pytest.MonkeyPatch
) -> None:
    spawn = launch._spawn
    connected: list[int] = []

    def take_port(plan: Any, folder: Any, order: Any, log: Any) -> Any:
        with socket.socket(fileno=os.dup(order["socket"])) as listening, socket.socket() as early:
            connected.append(early.connect_ex(listening.getsockname()))
            with pytest.raises(OSError, match="in use"):
                socket.create_server(listening.getsockname())
        return spawn(plan, folder, order, log)

    monkeypatch.setattr(launch, "_spawn", take_port)
    kernel = await gateways.start()
    assert connected == [0]
    assert await value(kernel, "1 + 1") == "2"
    await kernel.shutdown()


async def test_output_that_nobody_reads_does_not_stop_the_gateway_and_its_log_stays_small(
    gateways: LocalGateways,
) -> None:
    kernel = await gateways.start(kernelspec="bash")
    # What the kernel's process itself writes goes where the gateway's own output goes.
    await ok(kernel, "head -c 9000000 /dev/zero | tr '\\0' x > /proc/$PPID/fd/2; echo done")
    earlier = gateways.folder.log.with_suffix(".log.1")
    await eventually(lambda: earlier.exists() and gateways.folder.log.stat().st_size <= 4 << 20)
    assert earlier.stat().st_size <= 1 << 20
    assert (await ok(kernel, "echo still there")).stdout == "still there\n"
    await kernel.shutdown()


async def test_the_kernel_of_a_client_that_was_killed_ends_and_the_others_go_on(gateways: LocalGateways) -> None:
    kernel = await gateways.start()
    other = gateways.script(
        "kernel = await gateways.start()\n"
        "ran = await run(kernel, 'import os; print(os.getpid())')\n"
        "print(ran.stdout, flush=True)\n"
        "os.kill(os.getpid(), signal.SIGKILL)"
    )
    pid = await said(other)
    with other:
        other.wait(PATIENCE)
    await eventually(lambda: not is_there(pid), within=10.0)
    assert await value(kernel, "1 + 1") == "2"
    with anyio.fail_after(PATIENCE):
        while await kernels_of(gateways.record) != [kernel.transport.kernel_id]:  # noqa: ASYNC110 - nobody tells
            await anyio.sleep(0.02)
    await kernel.shutdown()


async def test_a_gateway_that_is_killed_ends_its_kernels_and_the_running_cell_says_so(
    gateways: LocalGateways,
) -> None:
    kernel = await gateways.start()
    ran = await ok(
        kernel,
        "import os, subprocess\n"
        "child = subprocess.Popen(['sleep', '1000'], start_new_session=True)\n"
        "print(os.getpid(), child.pid)",
    )
    record = gateways.record
    running = await begin(kernel, "print('begun'); __import__('time').sleep(1000)")
    await running.prints("begun")
    os.kill(record.pid, signal.SIGKILL)
    done = (await running.finish()).done
    assert done.status == "crashed"
    assert done.state == "lost"
    assert done.process_exit is not None
    assert f"the shared gateway (process {record.pid}) has ended" in done.process_exit.describe()
    await gone(record.keeper.pid, *map(int, ran.stdout.split()))
    assert not await kernel.is_alive()
    await kernel.shutdown()
    fresh = await gateways.start()
    assert "NameError" in (await run(fresh, "child")).error.ename
    await fresh.shutdown()


async def test_a_keeper_that_is_killed_ends_the_gateway_and_its_kernels(gateways: LocalGateways) -> None:
    kernel = await gateways.start()
    pid = int(await value(kernel, "import os; os.getpid()"))
    record = gateways.record
    os.kill(record.keeper.pid, signal.SIGKILL)
    await gone(record.pid, pid)
    await kernel.shutdown()


async def test_a_gateway_without_descriptors_is_restarted_and_its_other_kernels_say_why(
    gateways: LocalGateways,
) -> None:
    kernel = await gateways.start()
    running = await begin(kernel, "print('begun'); __import__('time').sleep(1000)")
    await running.prints("begun")
    old = gateways.record
    few = len(os.listdir(f"/proc/{old.pid}/fd")) + 10
    resource.prlimit(old.pid, resource.RLIMIT_NOFILE, (few, few))
    second = await gateways.start()
    assert await value(second, "1 + 1") == "2"
    assert gateways.record.pid != old.pid
    done = (await running.finish()).done
    assert (done.status, done.state) == ("crashed", "lost")
    assert done.process_exit is not None
    assert "restarted because it had too many open files" in done.process_exit.describe()
    await kernel.shutdown()
    await second.shutdown()


@pytest.mark.parametrize("left", [0, 1, 2, 3, 4])
async def test_a_host_without_descriptors_says_so_and_leaves_the_gateway_and_its_kernels_alone(
    gateways: LocalGateways, left: int
) -> None:
    kernel = await gateways.start()
    await ok(kernel, "x = 41")
    record = gateways.record
    another = gateways.backend.kernel(gateways.spec())
    refusal: PiscesError | OSError | None = None
    with descriptors_left(left):
        try:
            await another.start(Deadline.after(PATIENCE))
        except (PiscesError, OSError) as error:
            refusal = error
        assert await kernel.is_alive()
    assert refusal is not None or left > 1
    if isinstance(refusal, PiscesError):
        assert re.match(r"This process has all \d+ files open that it may have\. .*`ulimit -n`", refusal.hint), refusal
    elif refusal is not None:
        assert refusal.errno == errno.EMFILE
        another = await gateways.start()
    assert gateways.record == record
    assert await value(kernel, "x + 1") == "42"
    await kernel.shutdown()
    if not isinstance(refusal, PiscesError):
        await another.shutdown()


async def test_a_gateway_that_nobody_has_a_descriptor_to_ask_is_not_taken_for_ended(gateways: LocalGateways) -> None:
    kernel = await gateways.start()
    record = gateways.record
    for look in (record_of, running, healthy):
        with descriptors_left(0):
            answer = await look(gateways, record)
        assert answer in ("no descriptor", True), look
    assert await value(kernel, "1 + 1") == "2"
    await kernel.shutdown()


async def record_of(gateways: LocalGateways, record: GatewayRecord) -> object:
    try:
        return gateways.folder.record() == record
    except OSError:
        return "no descriptor"


async def running(_gateways: LocalGateways, record: GatewayRecord) -> object:
    try:
        return record.process.is_running
    except OSError:
        return "no descriptor"


async def healthy(_gateways: LocalGateways, record: GatewayRecord) -> object:
    try:
        return await coordinator.is_healthy(record, Deadline.after(PATIENCE))
    except (PiscesError, OSError):
        return "no descriptor"


async def test_a_start_that_is_given_up_leaves_nothing(
    gateways: LocalGateways, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun = anyio.Event()

    async def never(*_arguments: Any) -> None:
        begun.set()
        await anyio.sleep_forever()

    with monkeypatch.context() as patched:
        patched.setattr(launch, "_answers", never)
        async with anyio.create_task_group() as group:
            group.start_soon(gateways.start)
            await begun.wait()
            group.cancel_scope.cancel()
    assert not gateways.folder.record_file.exists()


async def test_an_interpreter_that_never_gets_there_ends_with_the_deadline(
    gateways: LocalGateways, tmp_path: Path
) -> None:
    script = tmp_path / "python"
    script.write_text("#!/bin/sh\nexec sleep 1000\n", encoding="utf-8")
    script.chmod(0o755)
    kernel = gateways.backend.kernel(gateways.spec(interpreter=str(script)))
    with pytest.raises(DeadlineExceeded):
        await kernel.start(Deadline.after(0.5))


async def test_an_interpreter_that_fails_is_told_with_its_last_words(gateways: LocalGateways, tmp_path: Path) -> None:
    script = tmp_path / "python"
    script.write_text("#!/bin/sh\necho out of order >&2; exit 3\n", encoding="utf-8")
    script.chmod(0o755)
    with pytest.raises(KernelStartError, match="out of order"):
        await gateways.start(interpreter=str(script))


def _changed(record: GatewayRecord, **changes: Any) -> GatewayRecord:
    return msgspec.structs.replace(record, **changes)
