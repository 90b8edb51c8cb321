"""What gRPC's C code says about a fork is nobody's output; what other code says at that moment is."""

import pytest

from pisces.kernels.native.kernel import NativeKernel
from tests.fakes.drive import ok
from tests.integration.native.keeping import Keep, crash_and_come_back

GRPC_SAYS = (
    "I1119 23:19:36.090044   18495 fork_posix.cc:71] Other threads are calling into gRPC, skipping fork() handlers"
)
C = f"""
import ctypes, os, sys, threading
c = ctypes.CDLL(None)
c.fputs.argtypes = c.fprintf.argtypes = [ctypes.c_char_p, ctypes.c_void_p]
def say(text):
    c.fputs(text + b'\\n', ctypes.c_void_p.in_dll(c, 'stderr').value)
def at_fork():
    say({GRPC_SAYS!r}.encode())
    say(b'a line of the user at the fork')
os.register_at_fork(before=at_fork, after_in_parent=at_fork)
"""
LOADED = "sys.modules['grpc._cython.cygrpc'] = object()"
"""What tells that gRPC is loaded; what it does at a fork is done by the code above."""


@pytest.fixture
async def talkative(kernel: NativeKernel) -> NativeKernel:
    await ok(kernel, C)
    return kernel


async def test_lines_of_grpc_about_a_fork_are_left_out_and_others_are_shown(
    talkative: NativeKernel, keep: Keep
) -> None:
    await ok(talkative, LOADED)
    kept = await keep(talkative)
    assert (await ok(talkative, "say(b'in a cell')")).stderr == (
        "a line of the user at the fork\na line of the user at the fork\nin a cell\n"
    )
    for _ in range(2):
        await crash_and_come_back(talkative, kept)
        assert (await ok(talkative, "say(b'after a restore')")).stderr == "after a restore\n"
        await keep(talkative)
        assert (await ok(talkative, "pass")).stderr == "a line of the user at the fork\n" * 2


async def test_without_grpc_nothing_is_left_out(talkative: NativeKernel, keep: Keep) -> None:
    await keep(talkative)
    assert GRPC_SAYS in (await ok(talkative, "pass")).stderr


async def test_nothing_that_a_thread_prints_during_checkpoints_is_lost(talkative: NativeKernel, keep: Keep) -> None:
    await ok(talkative, LOADED)
    begun = await ok(
        talkative,
        "printed, stop = 0, threading.Event()\n"
        "def print_on():\n"
        "    global printed\n"
        "    while not stop.is_set():\n"
        "        say(b'C line')\n"
        "        os.write(2, b'raw line\\n')\n"
        "        printed += 1\n"
        "worker = threading.Thread(target=print_on, daemon=True)\n"
        "worker.start()",
    )
    shown = begun.stderr
    for _ in range(5):
        await keep(talkative)
        shown += (await ok(talkative, "pass")).stderr
    last = await ok(talkative, "stop.set()\nworker.join()\nprint(printed)")
    await keep(talkative)  # A line that was on its way at the end of one checkpoint comes with the next.
    shown += last.stderr + (await ok(talkative, "pass")).stderr
    printed = int(last.stdout)
    # Long pieces of one may stand within a line of the other, so letters are counted that only one has.
    assert (shown.count("C"), shown.count("w")) == (printed, printed)
