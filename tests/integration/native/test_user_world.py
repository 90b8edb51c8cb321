"""A kernel is the user's interpreter: its modules, its processes and its files, with nothing of ours in the way."""

import shutil
import subprocess
from pathlib import Path

import pytest

import pisces
from pisces.kernels.native.kernel import NativeKernel
from tests.fakes.drive import begin, ok, run, stop, value
from tests.integration.native.conftest import StartKernel


def oldest_python() -> str | None:
    """Where Python 3.9 is, if there is one that starts: a name on the path may stand for nothing."""
    found = shutil.which("python3.9")
    started = found and subprocess.run([found, "-c", ""], capture_output=True, check=False).returncode == 0
    return found if started else None


OLDEST = oldest_python()


@pytest.fixture
async def kernel(start: StartKernel, either_python: str) -> NativeKernel:
    return await start(either_python)


@pytest.mark.parametrize("name", ["display", "streams", "shell", "loop", "kernel", "magics", "stdin", "channel"])
async def test_a_module_of_the_users_wins_over_ours_of_the_same_name(
    kernel: NativeKernel, tmp_path: Path, name: str
) -> None:
    (tmp_path / f"{name}.py").write_text("whose = 'mine'\n", encoding="utf-8")
    assert await value(kernel, f"import {name} as module\nmodule.whose") == "'mine'"


async def test_nothing_of_ours_is_on_the_search_path(kernel: NativeKernel) -> None:
    source = str(Path(pisces.__file__).parents[1])
    assert await value(kernel, f"import sys\n[place for place in sys.path if place.startswith({source!r})]") == "[]"
    assert await value(kernel, "sys.argv") == "['']"


async def test_main_is_the_users_module(kernel: NativeKernel) -> None:
    await ok(kernel, "answer = 42")
    assert await value(kernel, "import __main__\n(__name__, __main__.answer)") == "('__main__', 42)"


async def test_a_class_of_a_cell_can_be_pickled(kernel: NativeKernel) -> None:
    code = "import pickle\nclass Point:\n    x = 3\npickle.loads(pickle.dumps(Point())).x"
    assert await value(kernel, code) == "3"


async def test_a_function_of_a_cell_runs_in_a_pool_of_forked_processes(kernel: NativeKernel) -> None:
    code = """
import multiprocessing
def square(n): return n * n
with multiprocessing.get_context('fork').Pool(2) as pool:
    squares = pool.map(square, range(5))
squares
"""
    ran = await ok(kernel, code)
    assert (ran.result, ran.stderr, ran.done.notes) == ("[0, 1, 4, 9, 16]", "", ())


async def test_what_forked_workers_print_arrives(kernel: NativeKernel) -> None:
    code = """
import multiprocessing
def shout(n): print('worker', n)
workers = [multiprocessing.get_context('fork').Process(target=shout, args=(n,)) for n in range(3)]
for worker in workers: worker.start()
for worker in workers: worker.join()
"""
    ran = await ok(kernel, code)
    assert sorted(ran.stdout.splitlines()) == ["worker 0", "worker 1", "worker 2"]


async def test_forking_while_threads_print_does_not_hang(kernel: NativeKernel) -> None:
    code = """
import os, threading
stop = threading.Event()
def chatter():
    while not stop.is_set(): print('.', end='', flush=True)
threads = [threading.Thread(target=chatter) for _ in range(2)]
for thread in threads: thread.start()
for _ in range(50):
    pid = os.fork()
    if pid == 0: os._exit(0)
    os.waitpid(pid, 0)
stop.set()
for thread in threads: thread.join()
"""
    ran = await ok(kernel, code)
    assert set(ran.stdout) == {"."}


async def test_os_wait_finds_only_the_users_children(kernel: NativeKernel) -> None:
    ran = await run(kernel, "import os\nos.wait()")
    assert ran.error.ename == "ChildProcessError"


async def test_a_child_that_makes_the_pipe_non_blocking_loses_nothing(kernel: NativeKernel) -> None:
    code = """
import os, subprocess, sys
subprocess.run([sys.executable, '-c', 'import os; os.set_blocking(1, False)'])
for _ in range(2000): print('x' * 999)
os.set_blocking(1, True)
"""
    assert len((await ok(kernel, code)).stdout) == 2_000_000


async def test_a_redirected_descriptor_stays_redirected_and_frames_still_come(
    kernel: NativeKernel, tmp_path: Path
) -> None:
    code = f"""
import os
saved = os.dup(1)
file = os.open({str(tmp_path / "captured")!r}, os.O_WRONLY | os.O_CREAT)
os.dup2(file, 1)
print('to the file', flush=True)
os.system('echo from a child')
os.dup2(saved, 1)
print('to the host')
"""
    ran = await ok(kernel, code + ";")
    assert ran.stdout == "to the host\n"
    assert (tmp_path / "captured").read_text(encoding="utf-8") == "to the file\nfrom a child\n"


async def test_closing_standard_output_does_not_end_the_kernel(kernel: NativeKernel) -> None:
    await run(kernel, "import sys\nsys.stdout.close()\nsys.stderr.close()")
    assert (await ok(kernel, "print('still here')")).stdout == "still here\n"


async def test_redirected_standard_output_comes_back(kernel: NativeKernel) -> None:
    code = "import contextlib, io\nwith contextlib.redirect_stdout(io.StringIO()) as kept:\n    print('hidden')\n"
    code += "kept.getvalue()"
    ran = await ok(kernel, code)
    assert (ran.stdout, ran.result) == ("", "'hidden\\n'")


async def test_a_million_short_prints_arrive(kernel: NativeKernel) -> None:
    ran = await ok(kernel, "for i in range(1_000_000): print(i)")
    assert ran.stdout.count("\n") == 1_000_000
    assert ran.stdout.endswith("\n999999\n")


async def test_an_interrupt_in_the_middle_of_printing_doubles_nothing(kernel: NativeKernel) -> None:
    running = await begin(kernel, "i = 0\nwhile True:\n    print(i, flush=True)\n    i += 1")
    await running.prints("\n1000\n")
    ran = await stop(kernel, running)
    assert ran.done.status == "interrupted"
    numbers = [int(line) for line in ran.stdout.split()]
    assert numbers == list(range(len(numbers)))


async def test_a_home_that_cannot_be_written_is_no_noise(start: StartKernel, either_python: str) -> None:
    kernel = await start(either_python, HOME="/nonexistent")
    assert (await ok(kernel, "print('hello')")).outline == [("stdout", "hello\n")]


async def test_core_dumps_are_off(kernel: NativeKernel) -> None:
    code = "import resource\nresource.getrlimit(resource.RLIMIT_CORE)[0]"
    assert await value(kernel, code) == "0"


@pytest.mark.skipif(OLDEST is None, reason="no python3.9 starts on this machine, the oldest that can be a guest")
async def test_the_oldest_python_can_be_a_guest(start: StartKernel) -> None:
    assert OLDEST is not None
    kernel = await start(OLDEST)
    assert await value(kernel, "import sys; sys.version_info[:2]") == "(3, 9)"
    ran = await run(kernel, "print('out')\ndisplay({'text/plain': 'shown'}, raw=True)\n!echo child\n1 / 0")
    assert ran.outline == [
        ("stdout", "out\n"),
        ("display", "shown"),
        ("stdout", "child\n"),
        ("error", "ZeroDivisionError"),
    ]


async def test_a_program_that_takes_the_place_of_the_kernel_ends_the_cell_at_once(kernel: NativeKernel) -> None:
    ran = await run(kernel, "import os\nos.execvp('sleep', ['sleep', '300'])")
    assert ran.done.status == "crashed"
    assert ran.done.process_exit is not None
    assert "closed its channel" in ran.done.process_exit.detail


async def test_a_cell_that_closes_every_descriptor_costs_the_kernel_and_shows_no_frame_of_ours(
    kernel: NativeKernel,
) -> None:
    ran = await run(kernel, "import os\nos.closerange(3, 1000)")
    assert ran.done.status == "crashed"
    assert "Traceback" not in ran.stderr
    assert ran.stderr.startswith("The kernel could not go on: OSError")


@pytest.mark.parametrize("own", ["", "glibc.malloc.arena_max=2:glibc.malloc.perturb=1"])
async def test_tunables_of_the_c_library_are_the_users(start: StartKernel, own: str) -> None:
    kernel = await start(**({"GLIBC_TUNABLES": own} if own else {}))
    assert await value(kernel, "__import__('os').environ.get('GLIBC_TUNABLES', '')") == repr(own)
