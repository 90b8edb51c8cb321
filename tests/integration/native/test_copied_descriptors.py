"""Eventfds, timers, epoll sets and the like in a kernel that came back: its own, and in working order."""

from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path

import pytest

from pisces.kernels.base import LaunchSpec
from pisces.kernels.native.checkpoint import NativeCheckpoint
from pisces.kernels.native.kernel import NativeKernel
from tests.fakes.drive import ok, plain_environment, value
from tests.integration.native.conftest import StartKernel
from tests.integration.native.keeping import Keep, crash_and_come_back, soon

Branch = Callable[[NativeKernel, NativeCheckpoint], Awaitable[NativeKernel]]

C = """
import ctypes, os, select, struct, time
c = ctypes.CDLL(None, use_errno=True)
def information(fd, name):
    lines = open(f'/proc/self/fdinfo/{fd}').read().splitlines()
    return next(line.partition(':')[2].strip() for line in lines if line.startswith(name))
def read_number(fd):
    return struct.unpack('Q', os.read(fd, 8))[0]
def ready(fd, seconds=0.0):
    return bool(select.select([fd], [], [], seconds)[0])
"""
"""What the cells of these tests call: Python has no eventfd before 3.10, and no timerfd before 3.13."""
TIMER = """
def timer(clock, seconds, interval=0, flags=0):
    fd = c.timerfd_create(clock, os.O_NONBLOCK)
    c.timerfd_settime(fd, flags, (ctypes.c_long * 4)(interval, 0, seconds, 1), None)
    return fd
def seconds_left(fd):
    fields = (ctypes.c_long * 4)()
    c.timerfd_gettime(fd, fields)
    return fields[2]
"""


@pytest.fixture
async def kernel(start: StartKernel) -> NativeKernel:
    kernel = await start()
    await ok(kernel, C)
    return kernel


@pytest.fixture
async def branch(tmp_path: Path) -> AsyncIterator[Branch]:
    """Wakes a checkpoint as one more kernel, which ends with the test."""
    made: list[NativeKernel] = []

    async def wake(origin: NativeKernel, kept: NativeCheckpoint) -> NativeKernel:
        twin, _ = await origin.branch(kept, LaunchSpec(origin.interpreter, str(tmp_path), plain_environment()), soon())
        made.append(twin)
        return twin

    yield wake
    for twin in made:
        await twin.shutdown()


async def test_an_eventfd_comes_back_with_its_count(kernel: NativeKernel, keep: Keep) -> None:
    await ok(kernel, "counter = c.eventfd(41, os.O_NONBLOCK)\nos.write(counter, struct.pack('Q', 1))")
    kept = await keep(kernel)
    assert await value(kernel, "read_number(counter)") == "42"
    assert (await crash_and_come_back(kernel, kept)).missing == ()
    assert await value(kernel, "read_number(counter), ready(counter)") == "(42, False)"
    assert await value(kernel, "os.write(counter, struct.pack('Q', 7)), read_number(counter)") == "(8, 7)"


async def test_an_eventfd_that_is_a_semaphore_and_its_duplicate_stay_so(kernel: NativeKernel, keep: Keep) -> None:
    await ok(kernel, "counter = c.eventfd(3, os.O_NONBLOCK | 1)\nother = os.dup(counter)")
    kept = await keep(kernel)
    await crash_and_come_back(kernel, kept)
    assert await value(kernel, "[read_number(fd) for fd in (counter, other, counter)], ready(other)") == (
        "([1, 1, 1], False)"
    )


async def test_a_timer_runs_on_while_its_kernel_is_away(kernel: NativeKernel, keep: Keep) -> None:
    await ok(kernel, TIMER)
    await ok(kernel, "relative = timer(time.CLOCK_MONOTONIC, 1000, interval=50)")
    await ok(kernel, "absolute = timer(time.CLOCK_REALTIME, int(time.time()) + 2000, flags=1)")
    await ok(kernel, "expired = timer(time.CLOCK_MONOTONIC, 0)\nset_aside = timer(time.CLOCK_MONOTONIC, 0, 0)")
    await ok(kernel, "c.timerfd_settime(set_aside, 0, (ctypes.c_long * 4)(), None)\nready(expired, 30)")
    kept = await keep(kernel)
    await crash_and_come_back(kernel, kept)
    assert await value(kernel, "0 < seconds_left(relative) < 1000, 0 < seconds_left(absolute) < 2000") == "(True, True)"
    assert await value(kernel, "information(relative, 'it_interval'), information(absolute, 'clockid')") == (
        "('(50, 0)', '0')"
    )
    assert await value(kernel, "ready(expired, 30), read_number(expired), ready(expired)") == "(True, 1, False)"
    assert await value(kernel, "information(set_aside, 'it_value')") == "'(0, 0)'"


async def test_a_signalfd_comes_back_with_its_signals(kernel: NativeKernel, keep: Keep) -> None:
    await ok(kernel, "import signal\nsignal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGUSR2})")
    await ok(kernel, "fd = c.signalfd(-1, (ctypes.c_uint64 * 16)(1 << signal.SIGUSR2 - 1), os.O_NONBLOCK)")
    kept = await keep(kernel)
    await crash_and_come_back(kernel, kept)
    await ok(kernel, "os.kill(os.getpid(), signal.SIGUSR2)")
    assert await value(kernel, "struct.unpack_from('I', os.read(fd, 128))[0] == signal.SIGUSR2") == "True"


async def test_an_epoll_set_comes_back_with_what_was_registered(kernel: NativeKernel, keep: Keep) -> None:
    await ok(
        kernel, "counter = c.eventfd(1, 0)\nidle = c.eventfd(0, 0)\ninner = select.epoll()\nouter = select.epoll()"
    )
    await ok(kernel, "inner.register(counter, select.EPOLLIN)\ninner.register(idle, select.EPOLLIN)")
    await ok(kernel, "outer.register(inner.fileno(), select.EPOLLIN)")
    kept = await keep(kernel)
    await crash_and_come_back(kernel, kept)
    assert await value(kernel, "inner.poll(0) == [(counter, 1)], outer.poll(0) == [(inner.fileno(), 1)]") == (
        "(True, True)"
    )
    assert await value(kernel, "os.write(idle, struct.pack('Q', 1)), len(inner.poll(0))") == "(8, 2)"
    await ok(kernel, "inner.modify(idle, select.EPOLLOUT)\ninner.unregister(counter)")
    assert await value(kernel, "inner.poll(0) == [(idle, 4)]") == "True"


async def test_an_epoll_set_comes_back_with_the_data_that_c_code_gave_it(kernel: NativeKernel, keep: Keep) -> None:
    await ok(kernel, "import platform\nlayout = '=IQ' if platform.machine() == 'x86_64' else '@IQ'")
    await ok(kernel, "counter = c.eventfd(1, 0)\nevents = c.epoll_create1(0)")
    await ok(kernel, "c.epoll_ctl(events, 1, counter, struct.pack(layout, 1, 0xFEDCBA9876543210))")
    kept = await keep(kernel)
    await crash_and_come_back(kernel, kept)
    await ok(kernel, "room = ctypes.create_string_buffer(64)\nfound = c.epoll_wait(events, room, 4, 0)")
    assert await value(kernel, "found, hex(struct.unpack_from(layout, room)[1])") == "(1, '0xfedcba9876543210')"


async def test_who_waits_for_a_lost_connection_is_told_of_its_end(kernel: NativeKernel, keep: Keep) -> None:
    await ok(kernel, "import socket\nleft, right = socket.socketpair()\nevents = select.epoll()")
    await ok(kernel, "events.register(left, select.EPOLLIN)\nquiet = events.poll(0)")
    kept = await keep(kernel)
    await crash_and_come_back(kernel, kept)
    assert await value(kernel, "quiet, events.poll(30)[0][1] & select.EPOLLHUP > 0, left.recv(9)") == (
        "([], True, b'')"
    )


async def test_a_descriptor_that_was_closed_is_not_registered_for_the_one_that_has_its_number_now(
    kernel: NativeKernel, keep: Keep
) -> None:
    await ok(kernel, "import socket\nleft, right = socket.socketpair()\nevents = select.epoll()")
    await ok(kernel, "events.register(left, select.EPOLLIN)\nother = left.dup()\nnumber = left.fileno()\nleft.close()")
    await ok(kernel, "third, fourth = socket.socketpair()\nsame = third.fileno() == number")
    kept = await keep(kernel)
    await crash_and_come_back(kernel, kept)
    assert await value(kernel, "same, events.poll(0)") == "(True, [])"


async def test_watches_for_files_are_named_as_missing(kernel: NativeKernel, keep: Keep, tmp_path: Path) -> None:
    await ok(kernel, "idle = c.inotify_init1(os.O_NONBLOCK)\nwatching = c.inotify_init1(os.O_NONBLOCK)")
    await ok(kernel, f"number = c.inotify_add_watch(watching, {str(tmp_path)!r}.encode(), 0x100)")
    kept = await keep(kernel)
    number = await value(kernel, "watching")
    for _ in range(2):
        revival = await crash_and_come_back(kernel, kept)
        assert revival.missing == (f"what descriptor {number} watched for changes of files (inotify)",)
    await ok(kernel, f"c.inotify_add_watch(watching, {str(tmp_path)!r}.encode(), 0x100)")
    (tmp_path / "new").touch()
    assert await value(kernel, "ready(watching, 30), ready(idle)") == "(True, False)"


async def test_two_kernels_of_one_checkpoint_share_nothing(
    kernel: NativeKernel, keep: Keep, branch: Branch, tmp_path: Path
) -> None:
    (tmp_path / "lines").write_text("one\ntwo\n", encoding="utf-8")
    await ok(kernel, "counter = c.eventfd(5, os.O_NONBLOCK)\nevents = select.epoll()\nfile = os.open('lines', 0)")
    await ok(kernel, "events.register(counter, select.EPOLLIN)")
    kept = await keep(kernel)
    first, second = await branch(kernel, kept), await branch(kernel, kept)
    for each in (kernel, first, second, await branch(kernel, kept)):
        assert await value(each, "len(events.poll(0)), read_number(counter), os.read(file, 4)") == "(1, 5, b'one\\n')"
        await ok(each, "events.unregister(counter)\nos.write(counter, struct.pack('Q', 9))")


async def test_what_a_library_opens_again_at_a_fork_stays_its_own(
    kernel: NativeKernel, keep: Keep, branch: Branch
) -> None:
    await ok(
        kernel,
        "def renew():\n"
        "    global counter, events, reader, writer\n"
        "    for fd in (counter, events, reader, writer): os.close(fd)\n"
        "    counter, events, (reader, writer) = c.eventfd(77, 0), c.epoll_create1(0), os.pipe()\n"
        "    os.write(writer, b'of its own')\n"
        "counter, events, (reader, writer) = c.eventfd(0, 0), c.epoll_create1(0), os.pipe()\n"
        "os.register_at_fork(after_in_child=renew)",
    )
    kept = await keep(kernel)
    twin = await branch(kernel, kept)
    assert await value(twin, "read_number(counter), os.read(reader, 99)") == "(77, b'of its own')"
    assert await value(kernel, "os.write(counter, struct.pack('Q', 1)), read_number(counter)") == "(8, 1)"


async def test_a_half_read_file_about_a_process_that_has_ended_costs_no_checkpoint(
    kernel: NativeKernel, keep: Keep
) -> None:
    await ok(kernel, "import subprocess\nchild = subprocess.Popen(['cat'], stdin=subprocess.PIPE)")
    await ok(kernel, "file = os.open(f'/proc/{child.pid}/stat', 0)\nbegun = os.read(file, 5)\nchild.communicate()")
    kept = await keep(kernel)
    await crash_and_come_back(kernel, kept)
    assert await value(kernel, "len(begun), child.returncode") == "(5, 0)"


async def test_a_kernel_that_may_not_call_the_c_library_is_kept_all_the_same(start: StartKernel, keep: Keep) -> None:
    kernel = await start()
    await ok(kernel, "import os, select\nevents = select.epoll()\nlibrary = __import__('sys').modules")
    await ok(
        kernel,
        "def refuse(*arguments): raise ImportError('no ctypes')\nlibrary['_pisces_guest.processes'].c_library = refuse",
    )
    kept = await keep(kernel)
    await crash_and_come_back(kernel, kept)
    assert await value(kernel, "events.fileno() > 2") == "True"
