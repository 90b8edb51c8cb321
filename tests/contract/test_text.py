"""Any text arrives: every script, broken bytes, and more of it than memory should hold."""

import resource

import anyio
import pytest

from pisces.kernels.base import Kernel
from pisces.model.events import Done, Stream
from tests.fakes.drive import PATIENCE, begin, ok, run, value

MEGABYTE = 1 << 20


async def test_text_of_every_script_arrives(kernel: Kernel) -> None:
    text = "Grüße, 世界, שלום, 🐟🐠, e\u0301"
    ran = await ok(kernel, f"print({text!r})\n{text!r}")
    assert ran.stdout == text + "\n"
    assert ran.result == repr(text)


@pytest.mark.needs_process
async def test_a_character_that_is_written_in_pieces_arrives_whole(kernel: Kernel) -> None:
    code = "import os, time\nfor byte in '🐟\\n'.encode():\n    os.write(1, bytes([byte]))\n    time.sleep(0.005)"
    assert (await ok(kernel, code)).stdout == "🐟\n"


@pytest.mark.needs_process
async def test_bytes_that_are_no_text_are_replaced_one_by_one(kernel: Kernel) -> None:
    ran = await ok(kernel, "import os\nos.write(1, b'a\\xff\\xfeb\\n')\nprint('after');")
    assert ran.stdout == "a\ufffd\ufffdb\nafter\n"


@pytest.mark.needs_process
async def test_half_a_character_at_the_end_of_a_cell_does_not_swallow_the_next(kernel: Kernel) -> None:
    first = await ok(kernel, "import os\nos.write(1, b'\\xf0\\x9f');")
    second = await ok(kernel, "print('next')")
    assert (first.stdout + second.stdout).replace("\ufffd", "") == "next\n"


async def test_a_null_arrives(kernel: Kernel) -> None:
    assert (await ok(kernel, "print('a\\0b')")).stdout == "a\0b\n"


@pytest.mark.needs_process
async def test_a_lone_surrogate_is_printed_as_an_escape(kernel: Kernel) -> None:
    assert (await ok(kernel, "print('a\\ud800b')")).stdout == "a\\ud800b\n"


@pytest.mark.needs_process
async def test_code_with_a_lone_surrogate_fails_or_runs_and_the_kernel_lives(kernel: Kernel) -> None:
    ran = await run(kernel, "x = 'a\ud800b'\nlen(x)")
    assert (ran.done.status, ran.result) in {("ok", "3"), ("error", None)}
    assert await value(kernel, "1 + 1") == "2"


@pytest.mark.needs_process
@pytest.mark.needs_no_rate_limit
async def test_big_output_arrives_whole_and_the_host_does_not_grow(kernel: Kernel) -> None:
    running = await begin(kernel, "line = 'x' * 1023\nfor _ in range(10 * 1024): print(line)")
    received, largest, done = 0, 0, False
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    with anyio.fail_after(PATIENCE):
        while not done:
            events = await running.execution.receive()
            size = sum(len(event.text) for event in events if isinstance(event, Stream))
            received, largest = received + size, max(largest, size)
            done = isinstance(events[-1], Done)
    assert received == 10 * MEGABYTE
    assert largest < MEGABYTE
    assert (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) * 1024 < 8 * MEGABYTE


@pytest.mark.needs_process
@pytest.mark.needs_no_rate_limit
async def test_one_line_of_megabytes_arrives_whole(kernel: Kernel) -> None:
    ran = await ok(kernel, "print('y' * 5_000_000)")
    assert len(ran.stdout) == 5_000_001


@pytest.mark.needs_process
@pytest.mark.needs_no_rate_limit
async def test_both_streams_at_once_arrive_whole(kernel: Kernel) -> None:
    code = """
import subprocess
subprocess.run("yes out | head -c 2000000; yes err | head -c 2000000 >&2", shell=True);
"""
    ran = await ok(kernel, code)
    assert (len(ran.stdout), len(ran.stderr)) == (2_000_000, 2_000_000)


@pytest.mark.needs_process
async def test_a_cell_of_megabytes_runs(kernel: Kernel) -> None:
    ran = await ok(kernel, f"text = '{'z' * 3_000_000}'\nlen(text)")
    assert ran.result == "3000000"
