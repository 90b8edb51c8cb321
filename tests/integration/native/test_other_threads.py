"""A checkpoint harms no thread of the kernel, and says by value where a copy could not go on exactly."""

import pytest

from pisces.errors import CheckpointError
from pisces.kernels.native.kernel import NativeKernel
from tests.fakes.drive import ok, run, value
from tests.integration.native.conftest import StartKernel
from tests.integration.native.keeping import NATIVE_THREAD, Keep, crash_and_come_back, soon

WORK = """
import threading

def work_for_ever(work):
    began = threading.Event()
    def loop():
        while True:
            work()
            began.set()
    threading.Thread(target=loop, name="worker", daemon=True).start()
    assert began.wait(60)
"""
PRODUCTS = WORK + "import numpy as np\nsquare = np.ones((100, 100))\nwork_for_ever(lambda: square @ square)"


async def test_two_hundred_checkpoints_beside_a_loop_of_products_stop_neither_side(
    start: StartKernel, ipython_python: str
) -> None:
    kernel = await start(ipython_python)
    await ok(kernel, PRODUCTS)
    for number in range(200):
        kept = await kernel.checkpoint(wanted=True)
        await kept.settled(soon())
        assert await value(kernel, "float((square @ square)[0, 0])") == "100.0"
        if number % 20 == 0:
            branch, revival = await kernel.branch(kept, kernel._spec, soon())
            try:
                assert revival.how == "by_value"
                assert await value(branch, "float((square @ square)[0, 0])") == "100.0"
            finally:
                await branch.shutdown()
        kept.drop()


async def test_beside_a_thread_that_works_the_state_comes_back_by_value_and_the_thread_is_named(
    kernel: NativeKernel, keep: Keep
) -> None:
    await ok(kernel, WORK + "work_for_ever(lambda: sum(range(1000)))\nx = [1, 2]")
    revival = await crash_and_come_back(kernel, await keep(kernel))
    assert (revival.how, "thread 'worker'" in revival.missing) == ("by_value", True)
    assert revival.because == "thread 'worker' had not come to rest"
    assert await value(kernel, "x") == "[1, 2]"


@pytest.mark.parametrize(
    "rest", ["gate.acquire()", "time.sleep(600)", "pair[0].recv(1)", "select.select([pair[0]], [], [])", "queue.get()"]
)
async def test_beside_a_thread_that_waits_the_state_comes_back_exactly(
    kernel: NativeKernel, keep: Keep, rest: str
) -> None:
    setup = "import queue as q, select, socket, threading, time\ngate, queue, pair = threading.Lock(), q.Queue(), "
    setup += "socket.socketpair()\n_ = gate.acquire()\nbegun = threading.Event()\n"
    await ok(kernel, f"{setup}def rest():\n    begun.set()\n    {rest}\nnumbers = iter(range(9)); next(numbers)")
    await ok(kernel, "threading.Thread(target=rest, name='resting', daemon=True).start(); begun.wait(60)")
    revival = await crash_and_come_back(kernel, await keep(kernel))
    assert (revival.how, "thread 'resting'" in revival.missing) == ("exact", True), revival
    assert await value(kernel, "next(numbers)") == "1"


async def test_beside_native_code_that_never_ends_no_checkpoint_is_made_and_the_reason_is_said_once(
    kernel: NativeKernel,
) -> None:
    never = "import threading, hashlib\nbegun = threading.Event()\ndata = bytes(1 << 20)\n"
    never += "def dig():\n    begun.set()\n    hashlib.pbkdf2_hmac('sha256', b'a', b'b', 1 << 31 - 1)\n"
    await ok(kernel, never + "threading.Thread(target=dig, name='digger', daemon=True).start(); begun.wait(60)")
    reason = "thread 'digger' did not pause, and a fork could harm what it does"
    with pytest.raises(CheckpointError, match=reason):
        await (await kernel.checkpoint(wanted=True)).settled(soon())
    first = await run(kernel, "1")
    assert first.done.notes == (f"The last checkpoint could not be made: {reason}. This is said once.",)
    with pytest.raises(CheckpointError, match=reason):
        await (await kernel.checkpoint()).settled(soon())
    assert (await run(kernel, "1")).done.notes == ()


async def test_a_library_with_threads_that_nobody_knows_is_named_and_the_state_comes_back_by_value(
    kernel: NativeKernel, keep: Keep
) -> None:
    await ok(kernel, NATIVE_THREAD + "x = 5")
    revival = await crash_and_come_back(kernel, await keep(kernel))
    assert (revival.how, revival.because) == ("by_value", "libc has threads that a copy may not start again")
    assert await value(kernel, "x") == "5"


async def test_a_thread_that_python_does_not_list_is_looked_at_and_named(kernel: NativeKernel, keep: Keep) -> None:
    await ok(
        kernel,
        "import _thread\ngate = _thread.allocate_lock(); _ = gate.acquire()\nbegun = _thread.allocate_lock()\n"
        "_ = begun.acquire()\ndef rest():\n    begun.release()\n    gate.acquire()\n"
        "_ = _thread.start_new_thread(rest, ()); begun.acquire()",
    )
    revival = await crash_and_come_back(kernel, await keep(kernel))
    assert (revival.how, [text for text in revival.missing if "thread" in text][:1]) == (
        "exact",
        ["a thread that was started with _thread"],
    )


async def test_a_handler_at_the_fork_may_print_and_raise(kernel: NativeKernel, keep: Keep) -> None:
    handlers = """
import os, sys
def loud(where):
    def handler():
        print('printed', where)
        print('said', where, file=sys.stderr, flush=True)
        raise ValueError(where)
    return handler
os.register_at_fork(before=loud("before"), after_in_parent=loud("parent"), after_in_child=loud("child"))
x = 3
"""
    await ok(kernel, handlers)
    kept = await keep(kernel)
    await kept.settled(soon())
    ran = await run(kernel, "print('mine')")
    assert (ran.stdout, ran.stderr) == ("mine\n", "")
    revival = await crash_and_come_back(kernel, kept)
    assert revival.how == "exact"
    ran = await run(kernel, "print(x)")
    assert (ran.stdout, ran.stderr) == ("3\n", "")


async def test_a_fork_of_the_users_own_is_heard_as_ever(kernel: NativeKernel) -> None:
    code = "import os\nos.register_at_fork(before=lambda: print('before'))\npid = os.fork()\n"
    code += "if not pid: os._exit(0)\n_ = os.waitpid(pid, 0)"
    assert (await run(kernel, code)).stdout == "before\n"


async def test_text_that_threads_print_while_checkpoints_are_made_is_all_there(
    kernel: NativeKernel, keep: Keep
) -> None:
    lines = 20_000
    await ok(
        kernel,
        "import threading\ndef speak():\n"
        f"    for number in range({lines}): print(number)\nspeaker = threading.Thread(target=speak)\n",
    )
    said = (await run(kernel, "speaker.start()")).stdout
    for _ in range(5):
        await keep(kernel)
        said += (await run(kernel, "None")).stdout
    said += (await run(kernel, "speaker.join()")).stdout
    assert said.split() == [str(number) for number in range(lines)]
