"""A cell that closes or replaces what the kernel lives on, or a system that allows little: the state is kept."""

import os
from pathlib import Path

import pytest

from pisces.errors import KernelStartError
from pisces.kernels.native import descriptors
from pisces.kernels.native.kernel import NativeKernel
from tests.fakes.drive import ok, run, value
from tests.integration.native.conftest import StartKernel
from tests.integration.native.keeping import Keep, crash_and_come_back, soon


@pytest.fixture
async def kernel(start: StartKernel, either_python: str) -> NativeKernel:
    return await start(either_python)


async def test_a_script_that_closes_the_event_loop_costs_no_state(kernel: NativeKernel) -> None:
    await ok(kernel, "import asyncio\nkept = 42\nloop = asyncio.get_event_loop()\nloop.close()")
    assert await value(kernel, "await asyncio.sleep(0)\nkept") == "42"
    await ok(kernel, "async def later():\n    return 43\ntask = asyncio.get_event_loop().create_task(later())")
    assert await value(kernel, "await task") == "43"


async def test_a_cell_that_closes_its_output_costs_no_state(kernel: NativeKernel) -> None:
    ran = await ok(kernel, "import os, sys\nkept = 42\nprint('before')\nos.close(1)\nos.close(2)\nprint('after')")
    assert "after" in ran.stdout
    ran = await ok(kernel, "print('out')\nprint('err', file=sys.stderr)\ncode = os.system('echo child')\nkept")
    assert (ran.stdout, ran.stderr, ran.result) == ("out\nchild\n", "err\n", "42")


async def test_what_flushes_the_output_survives_a_cell_that_closes_it(kernel: NativeKernel) -> None:
    await run(kernel, "import os, time\nprint('lost?')\nos.close(1)\ntime.sleep(0.1)")
    ran = await ok(kernel, "import threading\n[t.name for t in threading.enumerate() if t.name == 'pisces-flusher']")
    assert ran.result == "['pisces-flusher']"


@pytest.mark.parametrize("end", [100, 256])
async def test_a_cell_that_closes_all_descriptors_of_usual_numbers_costs_no_state(
    kernel: NativeKernel, keep: Keep, end: int
) -> None:
    await ok(kernel, f"import asyncio, gc, os\nkept = 42\nos.closerange(3, {end})")
    assert await value(kernel, "await asyncio.sleep(0.001)\nkept") == "42"
    state = await keep(kernel)
    for _ in range(2):
        await crash_and_come_back(kernel, state)
        mine = await value(kernel, "await asyncio.sleep(0.001)\ngc.collect()\nmine = os.pipe()\nmine")
        used = await value(kernel, "await asyncio.sleep(0.001)\nos.write(mine[1], b'x'), mine, kept")
        assert used == f"(1, {mine}, 42)"


async def test_a_kernel_has_the_limit_on_descriptors_of_its_host_however_low(
    start: StartKernel, keep: Keep, either_python: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(descriptors, "_before", [48])
    kernel = await start(either_python)
    await ok(kernel, "import resource\nkept = 42")
    await crash_and_come_back(kernel, await keep(kernel))
    assert await value(kernel, "kept, resource.getrlimit(resource.RLIMIT_NOFILE)[0]") == "(42, 48)"


async def test_a_kernel_runs_where_few_descriptors_are_allowed(
    start: StartKernel, either_python: str, tmp_path: Path
) -> None:
    limited = tmp_path / "python"
    limited.write_text(f'#!/bin/sh\nulimit -n 64\nexec {either_python} "$@"\n', encoding="utf-8")
    limited.chmod(0o755)
    kernel = await start(str(limited))
    assert await value(kernel, "6 * 7") == "42"


async def test_a_host_without_descriptors_says_so_and_leaves_none_open(
    start: StartKernel, monkeypatch: pytest.MonkeyPatch
) -> None:
    await start()
    before = len(os.listdir("/proc/self/fd"))
    pipe = os.pipe
    left = iter(range(2))

    def scarce() -> tuple[int, int]:
        if next(left, None) is None:
            raise OSError(24, "Too many open files")
        return pipe()

    monkeypatch.setattr(os, "pipe", scarce)
    with pytest.raises(KernelStartError, match="channels of a kernel: Too many open files") as refused:
        await start()
    assert "ulimit -n" in refused.value.hint
    assert len(os.listdir("/proc/self/fd")) <= before


REPLACED = {
    "the process id": "from unittest import mock\nmock.patch('os.getpid').start()",
    "files": """
import builtins, io, os, sys
def missing(*args, **options): raise FileNotFoundError(2, 'not in the fake file system')
builtins.open = io.open = missing
names = "open read write close dup dup2 fstat stat lstat listdir scandir readlink lseek getcwd chdir pipe memfd_create"
for name in names.split():
    setattr(os, name, missing)
""",
    "time": """
import time
for name in ("time", "monotonic", "perf_counter", "sleep"):
    setattr(time, name, lambda *args: 0.0)
""",
    "processes and signals": """
import os, resource, signal
def refuse(*args, **options): raise AssertionError('not in this test')
for name in "fork waitpid waitid kill killpg setsid register_at_fork sched_yield".split():
    setattr(os, name, refuse)
for name in "signal getsignal setitimer pthread_sigmask pthread_kill set_wakeup_fd".split():
    setattr(signal, name, refuse)
resource.getrusage = resource.getrlimit = resource.setrlimit = refuse
""",
    "connections": """
import array, fcntl, json, mmap, select, socket, struct
def refuse(*args, **options): raise AssertionError('not in this test')
json.dumps = json.loads = fcntl.fcntl = fcntl.ioctl = select.select = select.poll = refuse
array.array = mmap.mmap = struct.Struct = refuse
guarded = socket.socket
socket.socket = type('Guarded', (guarded,), {'connect': refuse})
""",
    "the timeout of sockets": "import socket\nsocket.setdefaulttimeout(0)",
    "threads": """
import threading
def refuse(*args, **options): raise AssertionError('not in this test')
threading.Thread = threading.active_count = threading.enumerate = refuse
""",
    "classes and their methods": """
import json, socket, weakref
from unittest import mock
mock.patch.object(socket.socket, 'recvmsg', create=True).start()
mock.patch.object(json.JSONDecoder, 'decode').start()
mock.patch.object(json.JSONEncoder, 'encode').start()
mock.patch('socket.socket').start()
mock.patch('weakref.ref').start()
""",
    "event loops": """
import asyncio
def refuse(*args, **options): raise AssertionError('not in this test')
names = "set_event_loop get_event_loop new_event_loop get_running_loop all_tasks SelectorEventLoop run create_task"
for name in names.split():
    setattr(asyncio, name, refuse)
""",
    "the policy of event loops": """
import asyncio
class Policy(asyncio.AbstractEventLoopPolicy): pass
asyncio.set_event_loop_policy(Policy())
""",
    "builtins": """
import builtins
def refuse(*args, **options): raise AssertionError('not in this test')
for name in "sorted sum zip".split():
    setattr(builtins, name, refuse)
""",
    "the name of a thread": """
import threading
class Worker(threading.Thread):
    named = threading.Event()
    @property
    def name(self):
        if Worker.named.is_set(): raise SystemExit
        return "worker"
worker = Worker(target=threading.Event().wait, daemon=True)
worker.start()
Worker.named.set()
""",
    "small modules": """
import platform, selectors, stat
def refuse(*args, **options): raise AssertionError('not in this test')
stat.S_ISREG = stat.S_ISDIR = stat.S_ISCHR = platform.python_version = selectors.DefaultSelector = refuse
""",
    "the modules": "from unittest import mock\nmock.patch('sys.modules').start()",
    "a name by a number": "globals()[3] = 4",
    "print": "import builtins\ndef refuse(*args): raise AssertionError('not in this test')\nbuiltins.print = refuse",
}
"""What tests and mocks put into the place of parts of the standard library, and may leave there."""


@pytest.mark.parametrize("what", REPLACED)
async def test_a_cell_that_replaces_parts_of_the_standard_library_costs_no_state(
    kernel: NativeKernel, keep: Keep, what: str
) -> None:
    await ok(kernel, "kept = 42")
    await ok(kernel, REPLACED[what], inspect=True)
    assert (await ok(kernel, "kept", inspect=True)).result == "42"
    assert "kept" in {one.name for one in await kernel.variables(soon())}
    await kernel.complete("kep", 3, soon())
    assert (await run(kernel, "1 / 0", inspect=True)).error.ename == "ZeroDivisionError"
    checkpoint = await keep(kernel)
    await crash_and_come_back(kernel, checkpoint)
    assert (await ok(kernel, "kept", inspect=True)).result == "42"
