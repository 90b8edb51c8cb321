"""Objects of threads and of event loops in a kernel that goes on from a checkpoint: they work again, or they are named.

Nothing may wait for a thread that is gone without a word about it.
"""

from pathlib import Path

import pytest

from pisces.kernels.native.kernel import NativeKernel
from tests.fakes.drive import ok, value
from tests.integration.native.conftest import StartKernel
from tests.integration.native.keeping import Keep, crash_and_come_back

HOLDER = "class Holder: pass\nholder = Holder()\n"
EXECUTOR = "from concurrent.futures import ThreadPoolExecutor\n"
BUSY = f"""{EXECUTOR}import threading
begun, gate = threading.Event(), threading.Event()
def work():
    begun.set()
    gate.wait()
"""
HELD = """import threading
taken, gate = threading.Event(), threading.Event()
def hold(*locks):
    for lock in locks:
        lock.acquire()
    taken.set()
    gate.wait()
def hold_in_thread(*locks):
    threading.Thread(target=hold, args=locks, name="holder", daemon=True).start()
    taken.wait()
"""


async def missing_after_a_crash(kernel: NativeKernel, keep: Keep) -> tuple[str, ...]:
    """What the kernel says is not back when it goes on from a checkpoint of now."""
    return (await crash_and_come_back(kernel, await keep(kernel))).missing


@pytest.mark.parametrize(
    ("make", "use"),
    [
        (f"{EXECUTOR}{HOLDER}holder.pool = ThreadPoolExecutor(2)", "holder.pool.submit(abs, -3).result(10)"),
        (
            f"{EXECUTOR}made = lambda pool: lambda x: pool.submit(abs, x).result(10)\nrun = made(ThreadPoolExecutor())",
            "run(-3)",
        ),
        (f"{EXECUTOR}import json\njson.pool = ThreadPoolExecutor(1)", "json.pool.submit(abs, -3).result(10)"),
        ("import asyncio", "await asyncio.wait_for(asyncio.to_thread(abs, -3), 10)"),
        (
            f"from multiprocessing.pool import ThreadPool\n{HOLDER}holder.pool = ThreadPool(2)",
            "holder.pool.apply_async(abs, [-3]).get(10)",
        ),
    ],
    ids=["attribute", "closure", "module", "asyncio", "ThreadPool"],
)
async def test_a_thread_pool_works_again_wherever_it_is(kernel: NativeKernel, keep: Keep, make: str, use: str) -> None:
    await ok(kernel, make)
    assert await value(kernel, use) == "3"
    for _ in range(2):
        assert await missing_after_a_crash(kernel, keep) == ()
        assert await value(kernel, use) == "3"


async def test_a_pool_of_a_class_of_its_own_keeps_its_queue(kernel: NativeKernel, keep: Keep) -> None:
    await ok(kernel, f"{EXECUTOR}import queue\nclass Bounded(ThreadPoolExecutor):\n    pass\npool = Bounded(1)")
    await ok(kernel, "pool._work_queue = queue.Queue(5)\npool.submit(abs, -1).result()")
    assert await missing_after_a_crash(kernel, keep) == ()
    assert await value(kernel, "pool.submit(abs, -3).result(10), pool._work_queue.maxsize") == "(3, 5)"


async def test_calls_that_a_pool_lost_are_named_with_its_owner_and_do_not_hang(
    kernel: NativeKernel, keep: Keep
) -> None:
    await ok(kernel, f"{BUSY}{HOLDER}holder.pool = ThreadPoolExecutor(1)\nholder.pool.submit(abs, -1).result()")
    await ok(kernel, "running, waiting = holder.pool.submit(work), holder.pool.submit(abs, -2)\nbegun.wait()")
    assert await missing_after_a_crash(kernel, keep) == (
        "holder (a thread pool that lost 1 running and 1 waiting calls: holder.pool)",
        "running (a call that was under way)",
    )
    assert (
        await value(kernel, "type(running.exception(10)).__name__, waiting.cancelled()") == "('BrokenExecutor', True)"
    )
    assert await value(kernel, "holder.pool.submit(abs, -3).result(10)") == "3"


async def test_a_pool_that_no_variable_holds_is_named_when_it_lost_a_call(kernel: NativeKernel, keep: Keep) -> None:
    await ok(kernel, f"{BUSY}_pool = ThreadPoolExecutor(1, 'hidden')\n_ = _pool.submit(work)\nbegun.wait()")
    assert await missing_after_a_crash(kernel, keep) == (
        "thread pool 'hidden' (a thread pool that lost 1 running call)",
    )


async def test_a_lost_thread_is_named_with_what_holds_it(kernel: NativeKernel, keep: Keep) -> None:
    await ok(kernel, f"import threading\ngate = threading.Event()\n{HOLDER}holder.parts = [Holder()]")
    await ok(kernel, "holder.parts[0].worker = threading.Thread(target=gate.wait, name='worker', daemon=True)")
    await ok(kernel, "holder.parts[0].worker.start()")
    assert await missing_after_a_crash(kernel, keep) == (
        "thread 'worker'",
        "holder (a thread: holder.parts[0].worker)",
    )


async def test_locks_in_attributes_that_a_lost_thread_holds_are_named(kernel: NativeKernel, keep: Keep) -> None:
    await ok(
        kernel, f"{HELD}{HOLDER}holder.lock, holder.own = threading.Lock(), threading.RLock()\nholder.own.acquire()"
    )
    await ok(
        kernel, "class Slots:\n    __slots__ = ('guard', 'empty')\nslots = Slots(); slots.guard = threading.RLock()"
    )
    await ok(kernel, "hold_in_thread(holder.lock, slots.guard)")
    assert await missing_after_a_crash(kernel, keep) == (
        "thread 'holder'",
        "holder (a lock that is held, perhaps by a lost thread: holder.lock)",
        "slots (a lock that a lost thread holds: slots.guard)",
    )


async def test_locks_of_modules_that_a_lost_thread_holds_are_named(
    kernel: NativeKernel, keep: Keep, tmp_path: Path
) -> None:
    (tmp_path / "mine.py").write_text("import threading\nlock = threading.Lock()\nfree = threading.Lock()\n", "utf-8")
    await ok(kernel, f"{HELD}import sys, json\nsys.path.append({str(tmp_path)!r})\nimport mine")
    await ok(kernel, "json.lock = threading.RLock()\nhold_in_thread(mine.lock, json.lock)")
    assert await missing_after_a_crash(kernel, keep) == (
        "thread 'holder'",
        "json.lock (a lock that a lost thread holds)",
        "mine.lock (a lock that is held, perhaps by a lost thread)",
    )


async def test_a_lock_that_a_cell_holds_is_not_named_where_no_thread_is_lost(kernel: NativeKernel, keep: Keep) -> None:
    await ok(kernel, f"{HOLDER}import threading\nholder.lock = threading.Lock()\nholder.lock.acquire()")
    await ok(kernel, f"{EXECUTOR}pool = ThreadPoolExecutor(1)\npool.submit(abs, -1).result()")
    assert await missing_after_a_crash(kernel, keep) == ()


async def test_a_queue_wakes_a_new_consumer_and_not_the_lost_one(kernel: NativeKernel, keep: Keep) -> None:
    consume = (
        "def consume():\n    threading.Thread(target=lambda: got.put(items.get()), daemon=True).start()\n"
        "    while not items.not_empty._waiters: pass"
    )
    await ok(kernel, f"import queue, threading\nitems, got = queue.Queue(), queue.Queue()\n{consume}\nconsume()")
    await missing_after_a_crash(kernel, keep)
    await ok(kernel, "consume()\nitems.put(5)")
    assert await value(kernel, "got.get(timeout=10)") == "5"


async def test_a_listener_of_logging_goes_on(kernel: NativeKernel, keep: Keep) -> None:
    await ok(kernel, "import logging, logging.handlers, queue\nrecords, seen = queue.Queue(), queue.Queue()")
    await ok(kernel, "class Handler(logging.Handler):\n    def emit(self, record): seen.put(record.msg)")
    await ok(kernel, "listener = logging.handlers.QueueListener(records, Handler())\nlistener.start()")
    await ok(kernel, "log = logging.getLogger('mine')\nlog.addHandler(logging.handlers.QueueHandler(records))")
    await ok(kernel, "while not records.not_empty._waiters: pass")
    assert await missing_after_a_crash(kernel, keep) == ()
    assert await value(kernel, "log.error('said'); seen.get(timeout=10)") == "'said'"
    await ok(kernel, "listener.stop()")


async def test_a_file_that_a_lost_thread_was_writing_to_is_named(kernel: NativeKernel, keep: Keep) -> None:
    await ok(kernel, f"{BUSY}import io\nclass Raw(io.RawIOBase):\n    writable = lambda self: True")
    await ok(kernel, "Raw.write = lambda self, data: work() or len(data)\nfile = io.BufferedWriter(Raw())")
    await ok(kernel, "other = io.BufferedWriter(io.BytesIO())")
    await ok(kernel, "threading.Thread(target=file.write, args=[bytes(99_999)], daemon=True, name='writer').start()")
    await ok(kernel, "begun.wait()")
    assert await missing_after_a_crash(kernel, keep) == (
        "thread 'writer'",
        "file (a file that a lost thread was writing to)",
    )


async def test_a_module_that_a_lost_thread_was_importing_can_be_imported(
    start: StartKernel, keep: Keep, tmp_path: Path, either_python: str
) -> None:
    kernel = await start(either_python)
    (tmp_path / "slow").mkdir()
    (tmp_path / "slow" / "__init__.py").write_text("from slow import part\nimport builtins\nbuiltins.wait()\n", "utf-8")
    (tmp_path / "slow" / "part.py").write_text("x = 5\n", encoding="utf-8")
    await ok(kernel, f"{BUSY}import builtins, sys\nsys.path.append({str(tmp_path)!r})\nbuiltins.wait = work")
    await ok(kernel, "threading.Thread(target=__import__, args=['slow'], daemon=True, name='importer').start()")
    await ok(kernel, "begun.wait()")
    assert await missing_after_a_crash(kernel, keep) == (
        "thread 'importer'",
        "module 'slow' (a lost thread was importing it)",
    )
    assert await value(kernel, "builtins.wait = int\nimport slow.part\nslow.part.x") == "5"


async def test_locks_and_queues_of_asyncio_work_with_the_new_loop(kernel: NativeKernel, keep: Keep) -> None:
    await ok(kernel, f"import asyncio\n{HOLDER}holder.event, holder.queue = asyncio.Event(), asyncio.Queue()")
    await ok(kernel, "waiting = [asyncio.ensure_future(part) for part in (holder.event.wait(), holder.queue.get())]")
    await ok(
        kernel, "await asyncio.sleep(0)\nasync def later(part, *args):\n    await asyncio.sleep(0)\n    part(*args)"
    )
    await ok(kernel, "waiting.clear()")
    missing = await missing_after_a_crash(kernel, keep)
    assert [text.partition(" '")[0] for text in missing] == ["asyncio task", "asyncio task"]
    get = "asyncio.gather(holder.queue.get(), later(holder.queue.put_nowait, 5))"
    assert await value(kernel, f"await asyncio.wait_for({get}, 10)") == "[5, None]"
    wait = "asyncio.gather(holder.event.wait(), later(holder.event.set))"
    assert await value(kernel, f"await asyncio.wait_for({wait}, 10)") == "[True, None]"


async def test_a_lock_of_asyncio_that_a_lost_task_holds_is_named(kernel: NativeKernel, keep: Keep) -> None:
    await ok(kernel, f"import asyncio\n{HOLDER}holder.lock, holder.free = asyncio.Lock(), asyncio.Lock()")
    await ok(
        kernel,
        "async def hold():\n    async with holder.free: pass\n    async with holder.lock: await asyncio.sleep(600)",
    )
    await ok(kernel, "_task = asyncio.ensure_future(hold())\nwhile not holder.lock.locked(): await asyncio.sleep(0)")
    assert (await missing_after_a_crash(kernel, keep))[1:] == (
        "holder (a lock of asyncio's that is held, perhaps by a lost task: holder.lock)",
    )


async def test_what_is_bound_to_the_old_loop_is_named(kernel: NativeKernel, keep: Keep) -> None:
    await ok(
        kernel, f"import asyncio\n{HOLDER}holder.session = Holder()\nholder.session._loop = asyncio.get_event_loop()"
    )
    assert await missing_after_a_crash(kernel, keep) == ("holder (an event loop: holder.session._loop)",)


async def test_looking_for_lost_objects_runs_no_code_of_theirs(kernel: NativeKernel, keep: Keep) -> None:
    await ok(
        kernel,
        "ran = []\ndef note(*args): ran.append(args)\n"
        "class Meta(type):\n    __eq__ = __hash__ = __instancecheck__ = __subclasscheck__ = __getattribute__ = note\n"
        "class Strange(metaclass=Meta):\n    __getattribute__ = __getattr__ = __eq__ = __iter__ = __len__ = note\n"
        "    __bool__ = note\n    lock = __class__ = property(note)\n    def __hash__(self): return note() or 1\n"
        "class Items(list):\n    __iter__ = __getitem__ = __len__ = __bool__ = note\n"
        "class Table(dict):\n    __iter__ = values = items = keys = get = __contains__ = __len__ = note\n",
    )
    await ok(kernel, f"{HELD}strange, items, table = Strange(), Items(), Table()\nlock = threading.Lock()")
    await ok(kernel, "list.append(items, lock)\ndict.__setitem__(table, 'lock', lock)\nhold_in_thread(lock)")
    await ok(kernel, "import sys\nwrapped = [strange, {'k': strange}]\nran.clear()\nseen = ran")
    held = "a lock that is held, perhaps by a lost thread"
    assert await missing_after_a_crash(kernel, keep) == (
        "thread 'holder'",
        f"items ({held}: items[0])",
        f"lock ({held})",
        f"table ({held}: table['lock'])",
    )
    assert await value(kernel, "ran") == "[]"
