"""What a kernel finds when it goes on from a checkpoint: its world as it was, and the names of what could not come."""

from pathlib import Path

import pytest

from pisces.kernels.native.kernel import NativeKernel
from pisces.model.events import Display
from tests.contract import cells
from tests.fakes.drive import begin, ok, run, stop, value
from tests.integration.native.conftest import StartKernel
from tests.integration.native.keeping import Keep, crash_and_come_back, pid_of


@pytest.fixture
async def kernel(start: StartKernel, either_python: str) -> NativeKernel:
    return await start(either_python)


async def test_folder_environment_search_path_and_imports_are_back(
    kernel: NativeKernel, keep: Keep, tmp_path: Path
) -> None:
    (tmp_path / "mine.py").write_text("loaded = []\n", encoding="utf-8")
    (tmp_path / "below").mkdir()
    await ok(kernel, f"import os, sys\nsys.path.append({str(tmp_path)!r})\nimport mine\nmine.loaded.append(1)")
    await ok(kernel, "os.environ['MY_OWN'] = 'kept'\nos.chdir('below')")
    kept = await keep(kernel)
    await ok(kernel, "os.chdir('/'); del os.environ['MY_OWN']; sys.path.pop(); mine.loaded.clear()")
    await crash_and_come_back(kernel, kept)
    assert await value(kernel, "os.getcwd()") == repr(str(tmp_path / "below"))
    assert await value(kernel, "sys.path[-1]") == repr(str(tmp_path))
    assert await value(kernel, "os.environ['MY_OWN'], mine.loaded") == "('kept', [1])"


async def test_the_next_random_numbers_are_those_that_would_have_come(kernel: NativeKernel, keep: Keep) -> None:
    await ok(kernel, "import random\nrandom.random()")
    kept = await keep(kernel)
    expected = await value(kernel, "random.random(), random.randrange(10**9)")
    for _ in range(2):
        await crash_and_come_back(kernel, kept)
        assert await value(kernel, "random.random(), random.randrange(10**9)") == expected


async def test_a_file_is_read_on_from_where_it_was(kernel: NativeKernel, keep: Keep, tmp_path: Path) -> None:
    path = tmp_path / "numbers"
    path.write_text("".join(f"{number}\n" for number in range(100_000)), encoding="utf-8")
    await ok(kernel, f"file = open({str(path)!r}, encoding='utf-8')\nfor _ in range(5): file.readline()")
    kept = await keep(kernel)
    await ok(kernel, "file.read(); None")
    await crash_and_come_back(kernel, kept)
    assert await value(kernel, "file.readline()") == "'5\\n'"
    assert await value(kernel, "file.read().splitlines()[-1]") == "'99999'"


async def test_threads_tasks_children_and_sockets_are_named_as_missing(kernel: NativeKernel, keep: Keep) -> None:
    await ok(kernel, "import asyncio, socket, subprocess, threading\nstop = threading.Event()")
    await ok(kernel, "worker = threading.Thread(target=stop.wait, name='worker', daemon=True); worker.start()")
    await ok(
        kernel, "task = asyncio.get_event_loop().create_task(asyncio.sleep(60), name='ticker')\nawait asyncio.sleep(0)"
    )
    await ok(kernel, "child = subprocess.Popen(['sleep', '60'])\nserver = socket.create_server(('127.0.0.1', 0))")
    kept = await keep(kernel)
    missing = ", ".join((await crash_and_come_back(kernel, kept)).missing)
    for expected in ("thread 'worker'", "asyncio task 'ticker'", "child process 'sleep'", "server (a socket)"):
        assert expected in missing
    assert "child (" in missing
    assert await value(kernel, "server.fileno() >= 0") == "True"
    assert (await run(kernel, "server.accept()")).error.ename in {"OSError", "InvalidArgument"}


async def test_a_loop_that_was_left_running_does_not_run_in_a_restored_kernel(kernel: NativeKernel, keep: Keep) -> None:
    await ok(kernel, "import asyncio, threading\nleft = asyncio.new_event_loop()")
    await ok(kernel, "left._thread_id = threading.get_ident()\nasyncio._set_running_loop(left)")
    kept = await keep(kernel)
    assert await value(kernel, "asyncio.get_running_loop() is left") == "True"
    await crash_and_come_back(kernel, kept)
    assert await value(kernel, "asyncio.get_running_loop() is left") == "False"
    assert await value(kernel, "await asyncio.create_task(asyncio.sleep(0, 'runs'))") == "'runs'"


async def test_what_needs_nothing_from_outside_is_not_named(kernel: NativeKernel, keep: Keep) -> None:
    await ok(kernel, "import threading, queue, subprocess\nlock, q = threading.Lock(), queue.Queue()")
    await ok(kernel, "done = subprocess.Popen(['true']); done.wait()")
    await ok(kernel, "ended = threading.Thread(target=int); ended.start(); ended.join()")
    kept = await keep(kernel)
    assert (await crash_and_come_back(kernel, kept)).missing == ()


async def test_a_thread_pool_can_be_used_again(kernel: NativeKernel, keep: Keep) -> None:
    code = (
        "from concurrent.futures import ThreadPoolExecutor\npool = ThreadPoolExecutor(2)\nlist(pool.map(abs, [-1, -2]))"
    )
    assert await value(kernel, code) == "[1, 2]"
    kept = await keep(kernel)
    await crash_and_come_back(kernel, kept)
    assert await value(kernel, "pool.submit(abs, -3).result(timeout=10)") == "3"


async def test_a_script_can_run_after_one_of_before(start: StartKernel, ipython_python: str, keep: Keep) -> None:
    kernel = await start(ipython_python)
    assert (await ok(kernel, "%%bash\necho first")).stdout == "first\n"
    kept = await keep(kernel)
    for _ in range(2):
        assert (await crash_and_come_back(kernel, kept)).missing == ()
        assert (await ok(kernel, "%%bash\necho second")).stdout == "second\n"


async def test_a_child_process_of_asyncio_is_named_once(kernel: NativeKernel, keep: Keep) -> None:
    await ok(kernel, "import asyncio\nawait asyncio.create_subprocess_exec('sleep', '600')")
    kept = await keep(kernel)
    missing = (await crash_and_come_back(kernel, kept)).missing
    assert [text.partition(" (")[0] for text in missing] == ["child process 'sleep'"]


async def test_awaiting_works_and_new_tasks_go_on_between_cells(kernel: NativeKernel, keep: Keep) -> None:
    await ok(kernel, "import asyncio\nawait asyncio.sleep(0)")
    kept = await keep(kernel)
    await crash_and_come_back(kernel, kept)
    assert await value(kernel, "await asyncio.sleep(0.001, 'slept')") == "'slept'"
    await ok(
        kernel, "went = asyncio.Event()\nasync def go(): went.set()\ntask = asyncio.get_event_loop().create_task(go())"
    )
    assert await value(kernel, "await asyncio.wait_for(went.wait(), 10)") == "True"
    assert await value(kernel, "asyncio.run(asyncio.sleep(0, 'own loop'))") == "'own loop'"


async def test_the_count_of_cells_goes_on(kernel: NativeKernel, keep: Keep) -> None:
    before = (await ok(kernel, "1")).done.execution_count
    assert before is not None
    kept = await keep(kernel)
    await ok(kernel, "2")
    await ok(kernel, "3")
    await crash_and_come_back(kernel, kept)
    assert (await ok(kernel, "4")).done.execution_count == before + 1


async def test_inputs_and_outputs_of_before_are_back(start: StartKernel, ipython_python: str, keep: Keep) -> None:
    kernel = await start(ipython_python)
    await ok(kernel, "'first'")
    kept = await keep(kernel)
    await ok(kernel, "'second'")
    await crash_and_come_back(kernel, kept)
    assert await value(kernel, "Out[1], In[1], _") == '("first", "\'first\'", "first")'.replace('"first"', "'first'")
    assert await value(kernel, "sorted(Out)") == "[1, 2]"


async def test_a_stream_that_somebody_held_still_prints(kernel: NativeKernel, keep: Keep) -> None:
    await ok(kernel, "import logging, sys\nhandler = logging.StreamHandler(sys.stdout)\nheld = sys.stderr")
    await ok(kernel, "log = logging.getLogger('mine'); log.addHandler(handler)")
    kept = await keep(kernel)
    await crash_and_come_back(kernel, kept)
    ran = await ok(
        kernel, "log.error('logged')\nprint('printed')\nheld.write('held\\n')\n_ = sys.__stdout__.write('under\\n')"
    )
    assert (ran.stdout, ran.stderr) == ("logged\nprinted\nunder\n", "held\n")


async def test_a_child_of_a_kernel_that_came_back_is_heard(kernel: NativeKernel, keep: Keep) -> None:
    kept = await keep(kernel)
    await crash_and_come_back(kernel, kept)
    ran = await ok(kernel, "import os\nprint('before', flush=True)\n_ = os.system('echo between')\nprint('after')")
    assert ran.stdout == "before\nbetween\nafter\n"


async def test_a_figure_that_was_open_is_shown(start: StartKernel, ipython_python: str, keep: Keep) -> None:
    kernel = await start(ipython_python)
    ran = await ok(kernel, "import matplotlib.pyplot as plt\nfigure = plt.figure()\nplt.plot([1, 2])\nNone")
    assert [list(shown.bundle) for shown in ran.of(Display)]
    kept = await keep(kernel)
    await crash_and_come_back(kernel, kept)
    again = await ok(kernel, "figure.gca().plot([3, 4])\nplt.figure(figure)\nplt.plot([5])\nNone")
    assert any("image/png" in shown.bundle for shown in again.of(Display))


async def test_handlers_of_the_users_for_signals_are_back(kernel: NativeKernel, keep: Keep) -> None:
    await ok(kernel, "import os, signal\nheard = []\nsignal.signal(signal.SIGUSR1, lambda *args: heard.append('usr1'))")
    kept = await keep(kernel)
    await ok(kernel, "signal.signal(signal.SIGUSR1, signal.SIG_IGN)")
    await crash_and_come_back(kernel, kept)
    assert await value(kernel, "os.kill(os.getpid(), signal.SIGUSR1); heard") == "['usr1']"


@pytest.mark.parametrize("code", [cells.SPIN, cells.SLEEP, cells.AWAIT, cells.CHILD_SLEEPS])
async def test_whatever_runs_after_a_restore_can_be_interrupted(kernel: NativeKernel, keep: Keep, code: str) -> None:
    kept = await keep(kernel)
    await crash_and_come_back(kernel, kept)
    running = await begin(kernel, code)
    await running.prints("ready")
    assert (await stop(kernel, running)).done.status in {"interrupted", "ok"}
    assert await value(kernel, "1 + 1") == "2"


async def test_the_line_of_the_second_crash_is_named_too(kernel: NativeKernel, keep: Keep) -> None:
    kept = await keep(kernel)
    await crash_and_come_back(kernel, kept)
    ran = await run(kernel, "import ctypes\ndef touch():\n    ctypes.string_at(0)\ntouch()")
    assert ran.done.process_exit is not None
    assert "touch" in ran.done.process_exit.detail


async def test_a_kernel_that_came_back_is_another_process_with_the_same_identity(
    kernel: NativeKernel, keep: Keep
) -> None:
    before = await pid_of(kernel)
    await ok(kernel, "import os\nclass Thing: pass\nthing = Thing()\nwhere = id(thing)")
    kept = await keep(kernel)
    await crash_and_come_back(kernel, kept)
    assert await pid_of(kernel) != before
    assert await value(kernel, "id(thing) == where, type(thing) is Thing") == "(True, True)"


async def test_descriptors_do_not_add_up_from_restore_to_restore(kernel: NativeKernel, keep: Keep) -> None:
    count = "import gc, os; gc.collect(); len(os.listdir('/proc/self/fd'))"
    counts = [int(await value(kernel, count))]
    for _ in range(6):
        await crash_and_come_back(kernel, await keep(kernel))
        counts.append(int(await value(kernel, count)))
    assert counts[-1] == counts[2], counts
