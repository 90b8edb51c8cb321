"""Extension modules that hang, end the process, or are in the way: a kernel comes up, and nothing stays behind."""

import time
from pathlib import Path

import anyio
import psutil
import pytest

from tests.fakes.drive import eventually
from tests.fakes.modules import Start, note, project_modules, write_modules
from tests.fakes.runtimes import begin, call, details, runtime_on
from tests.integration.native.processes import alive

LOOP = """
import os
with open("begun.part", "w", encoding="ascii") as file:
    file.write(str(os.getpid()))
os.rename("begun.part", "begun")
while True:
    pass
"""
DEAF = "import signal\nfor one in (signal.SIGINT, signal.SIGTERM):\n    signal.signal(one, signal.SIG_IGN)\n" + LOOP
TOO_LONG = "TimeoutError: it had not ended after 2 seconds"
QUICKLY = {"timeout": 2}


async def test_one_bad_module_does_not_stop_the_kernel_and_the_others_are_there(
    start_in_shell: Start, tmp_path: Path
) -> None:
    folder = write_modules(
        project_modules(tmp_path), {"a.py": "a = 1\n", "b.py": "raise RuntimeError('bad')\n", "c.py": "c = 3\n"}
    )
    async with start_in_shell() as runtime:
        found = await call(runtime, "a, c")
    assert found.text == f"(1, 3)\n\n{note(folder / 'b.py', 'RuntimeError: bad (line 1)')}"


async def test_a_module_that_binds_what_is_no_name_is_loaded_like_any_other(
    start_in_shell: Start, tmp_path: Path
) -> None:
    write_modules(project_modules(tmp_path), {"a.py": "globals()[5] = 1\ngood = 1\n"})
    async with start_in_shell() as runtime:
        first = await call(runtime, "good")
        after = await call(runtime, ["%reset -f", "good"])
    assert first.text == "1"
    assert after.text.endswith("1")


async def test_a_module_that_never_ends_is_stopped_after_a_while_and_the_kernel_comes_up_without_it(
    start_in_shell: Start, tmp_path: Path
) -> None:
    folder = write_modules(project_modules(tmp_path), {"a.py": "a = 1\n", "loop.py": LOOP, "z.py": "z = 3\n"})
    async with start_in_shell(modules=QUICKLY) as runtime:
        began = time.monotonic()
        found = await call(runtime, "a, z", timeout=28)
        assert 2 <= time.monotonic() - began < 25
    assert found.text.startswith(f"(1, 3)\n\n{note(folder / 'loop.py', TOO_LONG)}")


async def test_a_module_that_does_not_yield_costs_a_second_start_without_it(plain_python: str, tmp_path: Path) -> None:
    folder = write_modules(project_modules(tmp_path), {"a.py": "a = 1\n", "deaf.py": DEAF, "z.py": "z = 3\n"})
    async with runtime_on(plain_python, tmp_path, modules=QUICKLY) as runtime:
        found = await call(runtime, "a, z", timeout=28)
    assert found.text == f"(1, 3)\n\n{note(folder / 'deaf.py', f'{TOO_LONG}, and would not stop')}"


async def test_modules_that_end_the_process_cost_starts_without_them(start_in_shell: Start, tmp_path: Path) -> None:
    deadly = {
        "b.py": "import os\nos._exit(3)\n",
        "c.py": "import os, signal\nos.kill(os.getpid(), signal.SIGKILL)\n",
    }
    folder = write_modules(project_modules(tmp_path), {"a.py": "a = 1\n", **deadly, "d.py": "d = 4\n"})
    async with start_in_shell() as runtime:
        found = await call(runtime, "a, d")
        again = await call(runtime, "a, d")
    value, told = found.text.split("\n\n")
    assert value == again.text == "(1, 4)"
    assert told.splitlines() == [
        note(folder / "b.py", "the kernel exited with code 3 under it"),
        note(folder / "c.py", "the kernel was ended by SIGKILL under it"),
    ]
    assert details(found).kernel.generation == 1  # type: ignore[union-attr]  # There is one, or the text were another.


@pytest.mark.parametrize("python", ["plain_python", "ipython_python"])
async def test_the_deadline_of_the_call_counts_while_a_module_runs_and_the_module_is_named(
    python: str, request: pytest.FixtureRequest, tmp_path: Path
) -> None:
    folder = write_modules(project_modules(tmp_path), {"loop.py": LOOP})
    async with runtime_on(request.getfixturevalue(python), tmp_path) as runtime:
        began = time.monotonic()
        found = await call(runtime, "1", timeout=3)
        assert time.monotonic() - began < 15
        assert details(found).outcome == "timeout"
        assert (
            f"Nothing was run: The kernel did not start within 3 seconds: "
            f"the extension module {folder / 'loop.py'} had not ended."
        ) in found.text
        (folder / "loop.py").write_text("x = 1\n", encoding="utf-8")
        assert (await call(runtime, "x")).text == "1"


@pytest.mark.parametrize("way", ["abort", "cancel"])
async def test_a_call_can_be_stopped_while_a_module_runs_and_no_process_stays(
    way: str, start_in_shell: Start, tmp_path: Path
) -> None:
    folder = write_modules(project_modules(tmp_path), {"loop.py": LOOP})
    abort = anyio.Event()
    async with start_in_shell() as runtime, anyio.create_task_group() as group:
        running = begin(group, runtime, "1", abort=abort)
        await eventually((tmp_path / "begun").exists)
        process = psutil.Process(int((tmp_path / "begun").read_text(encoding="ascii")))
        asked = time.monotonic()
        if way == "abort":
            abort.set()
            assert details(await running.finish()).outcome == "aborted"
        else:
            running.scope.cancel()
            await running.ended.wait()
        assert time.monotonic() - asked < 9  # It did not take the 10 seconds that a module may.
        await eventually(lambda: alive([process.pid]) == [])
        (folder / "loop.py").write_text("x = 1\n", encoding="utf-8")
        assert (await call(runtime, "x")).text == "1"


async def test_in_strict_mode_a_module_that_hangs_or_ends_the_process_is_fatal(
    plain_python: str, tmp_path: Path
) -> None:
    folder = write_modules(project_modules(tmp_path), {"a.py": "import os\nos._exit(3)\n"})
    async with runtime_on(plain_python, tmp_path, modules={"strict": True, **QUICKLY}) as runtime:
        ended = await call(runtime, "1")
        (folder / "a.py").write_text(LOOP, encoding="utf-8")
        hanging = await call(runtime, "1")
    failed = f"Error: Failed to load Python module {folder / 'a.py'}: "
    assert ended.text.startswith(f"{failed}the kernel exited with code 3 under it\n")
    assert hanging.text.startswith(f"{failed}{TOO_LONG}\nIt failed at line ")


async def test_many_modules_of_the_largest_size_are_loaded(start_in_shell: Start, tmp_path: Path) -> None:
    # One line of a megabyte, quotes of every kind and no ASCII: what is sent is a text inside a text.
    text = "'\"\\\\é\N{SNOWMAN}\\n" * 1000
    sources = {f"m{number}.py": f'# {"x" * 900_000}\nv{number} = """{text}"""\n' for number in range(3)}
    write_modules(project_modules(tmp_path), sources)
    async with start_in_shell() as runtime:
        found = await call(runtime, "len({v0, v1, v2}), v0[:6]")
    assert found.text == repr((1, "'\"\\é\N{SNOWMAN}\n"))


async def test_what_the_kernel_has_to_tell_is_not_lost_on_the_modules(plain_python: str, tmp_path: Path) -> None:
    write_modules(project_modules(tmp_path), {"a.py": "a = 1\n"})
    async with runtime_on(plain_python, tmp_path, preload=["missing_of_mine"]) as runtime:
        found = await call(runtime, "a")
    assert found.text.startswith("1\n\npython.preload: missing_of_mine could not be imported")
