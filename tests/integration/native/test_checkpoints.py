"""A checkpoint is a process that sleeps, and the code that goes on beside it cannot tell that it is there."""

import os
from pathlib import Path

import anyio
import pytest

from pisces.kernels.native.kernel import NativeKernel
from tests.fakes.drive import eventually, ok, run, value
from tests.fakes.sleepers import checkpoints_below, newly, supervisor_of
from tests.integration.native.conftest import StartKernel
from tests.integration.native.keeping import THE_KERNELS_OS, Keep, crash, crash_and_come_back, pid_of, soon


@pytest.fixture
async def kernel(start: StartKernel, either_python: str) -> NativeKernel:
    return await start(either_python)


async def test_waiting_for_any_child_finds_only_the_users(kernel: NativeKernel, keep: Keep) -> None:
    await ok(kernel, "import os, subprocess")
    for _ in range(20):
        await keep(kernel)
        code = "child = subprocess.Popen(['true'])\npid, status = os.wait()\npid == child.pid"
        assert await value(kernel, code) == "True"
    assert (await run(kernel, "os.wait()")).error.ename == "ChildProcessError"


async def test_a_process_that_is_slow_to_make_a_checkpoint_is_not_waited_for_by_the_user(
    kernel: NativeKernel, keep: Keep
) -> None:
    await ok(kernel, "import os, subprocess, time\nos.register_at_fork(after_in_child=lambda: time.sleep(0.2))")
    await keep(kernel)
    code = "child = subprocess.Popen(['true'])\nfound = [os.wait()[0]]\n"
    code += "try:\n    found.append(os.wait()[0])\nexcept ChildProcessError:\n    pass\n"
    assert await value(kernel, code + "found == [child.pid]") == "True"


async def test_a_handler_for_the_end_of_children_hears_only_of_the_users(kernel: NativeKernel, keep: Keep) -> None:
    await ok(kernel, "import signal, subprocess, time\nheard = []")
    await ok(kernel, "signal.signal(signal.SIGCHLD, lambda signum, frame: heard.append(signum))")
    for _ in range(5):
        await keep(kernel)
        await ok(kernel, "time.sleep(0.02)")
    assert await value(kernel, "len(heard)") == "0"
    assert await value(kernel, "subprocess.run(['true']); len(heard)") == "1"


async def test_a_child_sees_the_end_of_its_input_when_the_user_closes_it(kernel: NativeKernel, keep: Keep) -> None:
    await ok(kernel, "import subprocess\nchild = subprocess.Popen(['cat'], stdin=subprocess.PIPE)")
    await keep(kernel)
    assert await value(kernel, "child.stdin.close()\nchild.wait(timeout=10)") == "0"


async def test_a_reader_sees_the_end_of_a_pipe_that_the_user_closes(kernel: NativeKernel, keep: Keep) -> None:
    await ok(kernel, "import os, select\nread, write = os.pipe()")
    await keep(kernel)
    code = "os.close(write)\nbool(select.select([read], [], [], 10)[0]) and os.read(read, 1)"
    assert await value(kernel, code) == "b''"


async def test_the_port_of_a_closed_server_can_be_bound_again(kernel: NativeKernel, keep: Keep) -> None:
    await ok(kernel, "import socket\nserver = socket.create_server(('127.0.0.1', 0))\nport = server.getsockname()[1]")
    kept = await keep(kernel)
    await kept.settled(soon())
    code = "server.close()\nagain = socket.socket()\nagain.bind(('127.0.0.1', port))\nagain.listen()"
    await ok(kernel, code)


async def test_a_copy_that_is_slow_to_let_go_is_not_noticed_either(kernel: NativeKernel, keep: Keep) -> None:
    slow = "import os, time\nos.register_at_fork(after_in_child=lambda: time.sleep(0.2))\n"
    await ok(kernel, slow + "import socket\nserver = socket.create_server(('127.0.0.1', 0))")
    await keep(kernel)
    code = "port = server.getsockname()[1]\nserver.close()\n"
    await ok(kernel, code + "again = socket.socket()\nagain.bind(('127.0.0.1', port))\nagain.listen()")


async def test_a_file_that_both_read_has_two_positions(kernel: NativeKernel, keep: Keep, tmp_path: Path) -> None:
    path = tmp_path / "lines"
    path.write_text("one\ntwo\nthree\n", encoding="utf-8")
    await ok(
        kernel, f"file = open({str(path)!r}, encoding='utf-8', buffering=1)\nfd = __import__('os').open(file.name, 0)"
    )
    await ok(kernel, "import os; first = os.read(fd, 4)")
    kept = await keep(kernel)
    assert await value(kernel, "os.read(fd, 4)") == "b'two\\n'"
    await crash_and_come_back(kernel, kept)
    assert await value(kernel, "os.read(fd, 4)") == "b'two\\n'"


async def test_a_temporary_folder_outlives_every_checkpoint(kernel: NativeKernel, keep: Keep) -> None:
    await ok(kernel, "import os, tempfile\nfolder = tempfile.TemporaryDirectory()")
    pid = await pid_of(kernel)
    for _ in range(3):
        (await keep(kernel)).drop()
    await ok(kernel, "pass")
    await eventually(lambda: not checkpoints_below(supervisor_of(pid)))
    assert await value(kernel, "os.path.isdir(folder.name)") == "True"


async def test_a_dropped_checkpoint_is_no_process_any_more(kernel: NativeKernel, keep: Keep) -> None:
    pid = await pid_of(kernel)
    kept = await keep(kernel)
    await newly(lambda: checkpoints_below(supervisor_of(pid)), set())
    kept.drop()
    await eventually(lambda: not checkpoints_below(supervisor_of(pid)))
    assert await value(kernel, "1 + 1") == "2"


async def test_text_that_was_not_flushed_is_shown_once(kernel: NativeKernel, keep: Keep) -> None:
    await ok(kernel, "import sys, threading")
    kept = await keep(kernel)
    ran = await ok(kernel, "sys.stdout.write('once'); None")
    await crash_and_come_back(kernel, kept)
    again = await ok(kernel, "print('later')")
    assert (ran.stdout, again.stdout) == ("once", "later\n")


async def test_a_kernel_whose_folder_was_removed_is_kept(kernel: NativeKernel, keep: Keep, tmp_path: Path) -> None:
    folder = tmp_path / "gone"
    folder.mkdir()
    await ok(kernel, f"import os\nx = 1\nos.chdir({str(folder)!r})\nos.rmdir({str(folder)!r})")
    kept = await keep(kernel)
    await crash_and_come_back(kernel, kept)
    assert await value(kernel, "x") == "1"


async def test_a_kernel_with_busy_threads_is_kept(kernel: NativeKernel, keep: Keep) -> None:
    code = """
import threading, time
x, running = 1, True
def work():
    while running:
        sum(range(100)); print(end=''); time.sleep(0.0005)
threads = [threading.Thread(target=work, name=f'worker {n}', daemon=True) for n in range(4)]
for thread in threads: thread.start()
"""
    await ok(kernel, code)
    for _ in range(9):
        await keep(kernel)
        await ok(kernel, "pass")
    kept = await keep(kernel)
    revival = await crash_and_come_back(kernel, kept)
    assert {f"thread 'worker {number}'" for number in range(4)} <= set(revival.missing)
    assert await value(kernel, "x") == "1"
    if revival.how == "exact":  # At a moment when all of them slept.
        assert await value(kernel, "[thread.is_alive() for thread in threads]") == "[False, False, False, False]"
    else:
        assert any(text.startswith("threads (") for text in revival.missing)


async def test_a_crash_right_after_a_checkpoint_was_asked_for_comes_back_to_it(start: StartKernel, keep: Keep) -> None:
    async def crash_often(kernel: NativeKernel) -> None:
        for number in range(50):
            await ok(kernel, f"x = {number}")
            kept = await kernel.checkpoint()
            await crash(kernel)
            await kernel.restore(kept, soon())
            assert await value(kernel, "x") == str(number)
            kept.drop()

    kernels = [await start() for _ in range(4)]
    async with anyio.create_task_group() as group:
        for kernel in kernels:
            group.start_soon(crash_often, kernel)


async def test_a_fork_that_fails_is_told_and_the_kernel_goes_on(kernel: NativeKernel, keep: Keep) -> None:
    await ok(
        kernel, f"{THE_KERNELS_OS}\nx, fork = 1, os.fork\ndef refuse(): raise BlockingIOError(11, 'no more processes')"
    )
    older = await keep(kernel)
    await ok(kernel, "os.fork = refuse; x = 2")
    failed = await keep(kernel)
    ran = await ok(kernel, "os.fork = fork; x = 3")
    assert "no more processes" in "".join(ran.done.notes)
    assert not failed.usable
    again = await keep(kernel)
    await ok(kernel, "x = 4")
    assert again.usable
    await crash_and_come_back(kernel, older)
    assert await value(kernel, "x") == "1"


async def test_a_checkpoint_that_was_killed_is_known_to_be_unusable(kernel: NativeKernel, keep: Keep) -> None:
    await ok(kernel, "x = 1")
    supervisor = supervisor_of(await pid_of(kernel))
    kept = await keep(kernel)
    os.kill(await newly(lambda: checkpoints_below(supervisor), set()), 9)
    await eventually(lambda: not kept.usable)
    assert await value(kernel, "x") == "1"


async def test_the_memory_of_ten_checkpoints_is_mostly_shared(kernel: NativeKernel, keep: Keep) -> None:
    supervisor = supervisor_of(await pid_of(kernel))
    for _ in range(10):
        await keep(kernel)
        await ok(kernel, "pass")
    await eventually(lambda: len(checkpoints_below(supervisor)) == 10)
    own = [_private_mb(pid) for pid in checkpoints_below(supervisor)]
    assert max(own) < 8, own


def _private_mb(pid: int) -> float:
    lines = Path(f"/proc/{pid}/smaps_rollup").read_text(encoding="ascii").splitlines()
    return sum(int(line.split()[1]) for line in lines if line.startswith("Private")) / 1024
