"""What Python prints, what it displays and what a child wrote stand in the order in which they happened."""

import pytest

from pisces.kernels.base import Kernel
from tests.contract import cells
from tests.fakes.drive import begin, eventually, ok, run


async def test_prints_to_both_streams_stay_in_order(kernel: Kernel) -> None:
    code = "import sys\nfor i in range(3):\n    print('out', i)\n    print('err', i, file=sys.stderr)"
    ran = await ok(kernel, code)
    expected = [pair for i in range(3) for pair in (("stdout", f"out {i}\n"), ("stderr", f"err {i}\n"))]
    assert ran.outline == expected


async def test_a_display_stands_between_the_prints_around_it(kernel: Kernel) -> None:
    await ok(kernel, cells.DISPLAYS)
    ran = await ok(kernel, "print('before')\ndisplay({'text/plain': 'shown'}, raw=True)\nprint('after')\n'value'")
    assert ran.outline == [
        ("stdout", "before\n"),
        ("display", "shown"),
        ("stdout", "after\n"),
        ("result", "'value'"),
    ]


@pytest.mark.needs_process
async def test_a_child_that_was_waited_for_stands_between_the_prints_around_it(kernel: Kernel) -> None:
    code = """
import os, subprocess, sys
print('one')
os.system('echo two')
print('three')
print('four', file=sys.stderr)
subprocess.run(['sh', '-c', 'echo five >&2'])
print('six', file=sys.stderr)
subprocess.run(['echo', 'seven'])
print('eight')
"""
    ran = await ok(kernel, code)
    assert ran.outline == [
        ("stdout", "one\ntwo\nthree\n"),
        ("stderr", "four\nfive\nsix\n"),
        ("stdout", "seven\neight\n"),
    ]


@pytest.mark.needs_process
async def test_a_child_on_the_other_stream_keeps_its_place(kernel: Kernel) -> None:
    code = "import subprocess\nfor i in range(3):\n    print(i)\n    subprocess.run(f'echo child {i} >&2', shell=True)"
    ran = await ok(kernel, code)
    expected = [pair for i in range(3) for pair in (("stdout", f"{i}\n"), ("stderr", f"child {i}\n"))]
    assert ran.outline == expected


@pytest.mark.needs_process
async def test_what_a_child_wrote_last_comes_before_done(kernel: Kernel) -> None:
    ran = await ok(kernel, "import subprocess\nsubprocess.run(['sh', '-c', 'sleep 0.05; echo late; echo late >&2'])")
    assert (ran.stdout, ran.stderr) == ("late\n", "late\n")


@pytest.mark.needs_process
async def test_raw_writes_to_the_descriptors_arrive(kernel: Kernel) -> None:
    ran = await ok(kernel, "import os\nos.write(1, b'raw out\\n')\nos.write(2, b'raw err\\n');")
    assert (ran.stdout, ran.stderr) == ("raw out\n", "raw err\n")


@pytest.mark.needs_process
async def test_c_code_is_flushed_before_done(kernel: Kernel) -> None:
    ran = await ok(kernel, "import ctypes\nctypes.CDLL(None).printf(b'from C\\n');")
    assert ran.stdout == "from C\n"


async def test_the_error_stands_after_what_was_printed_before_it(kernel: Kernel) -> None:
    ran = await run(kernel, "print('before')\n1 / 0")
    assert ran.outline == [("stdout", "before\n"), ("error", "ZeroDivisionError")]


@pytest.mark.needs_process
async def test_a_thread_that_outlives_its_cell_is_heard_with_the_next(kernel: Kernel) -> None:
    code = """
import threading
go = threading.Event()
thread = threading.Thread(target=lambda: (go.wait(10), print('from the thread')))
thread.start()
"""
    first = await ok(kernel, code)
    second = await ok(kernel, "go.set()\nthread.join()")
    assert first.stdout + second.stdout == "from the thread\n"


@pytest.mark.needs_process
async def test_what_a_thread_prints_between_cells_is_kept_for_the_next(kernel: Kernel) -> None:
    code = """
import threading, tempfile, os
flag = os.path.join(tempfile.mkdtemp(), 'flag')
def later():
    threading.Event().wait(0.1)
    print('between cells', flush=True)
    open(flag, 'w').close()
threading.Thread(target=later).start()
"""
    first = await ok(kernel, code)
    second = await ok(kernel, "import time\nwhile not os.path.exists(flag): time.sleep(0.01)")
    assert first.stdout + second.stdout == "between cells\n"


@pytest.mark.needs_process
async def test_a_child_keeps_its_place_between_displays_when_the_reader_is_slow(
    kernel: Kernel, tmp_path_factory: pytest.TempPathFactory
) -> None:
    folder = tmp_path_factory.mktemp("slow")
    code = f"""
import os, subprocess, time
child = subprocess.Popen(['sh', '-c', 'read line; echo child'], stdin=subprocess.PIPE)
print('ready', flush=True)
while not os.path.exists({str(folder / "go")!r}): time.sleep(0.005)
display({{'text/plain': 'first'}}, raw=True)
child.communicate(b'now\\n')
display({{'text/plain': 'second'}}, raw=True)
open({str(folder / "over")!r}, 'w').close()
"""
    running = await begin(kernel, code)
    await running.prints("ready")
    (folder / "go").touch()
    await eventually((folder / "over").exists)  # Nobody reads meanwhile.
    ran = await running.finish()
    assert ran.outline == [("stdout", "ready\n"), ("display", "first"), ("stdout", "child\n"), ("display", "second")]


@pytest.mark.needs_process
async def test_a_child_of_an_earlier_cell_keeps_its_place_between_displays(
    kernel: Kernel, tmp_path_factory: pytest.TempPathFactory
) -> None:
    folder = tmp_path_factory.mktemp("earlier")
    await run(
        kernel,
        "import subprocess\nchild = subprocess.Popen(['sh', '-c', 'read line; echo child'], stdin=subprocess.PIPE)",
    )
    code = f"""
display({{'text/plain': 'first'}}, raw=True)
child.communicate(b'now\\n')
display({{'text/plain': 'second'}}, raw=True)
open({str(folder / "over")!r}, 'w').close()
"""
    running = await begin(kernel, code)
    await eventually((folder / "over").exists)  # Nobody reads meanwhile.
    ran = await running.finish()
    assert ran.outline == [("display", "first"), ("stdout", "child\n"), ("display", "second")]
