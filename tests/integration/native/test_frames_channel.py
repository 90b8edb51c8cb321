"""Whatever is written to the channel of frames, by accident or by malice, the host counts it and goes on."""

from pathlib import Path

import pytest

from pisces.kernels.native.kernel import NativeKernel
from tests.fakes.drive import ok, run, value

FIND = """
import os
def is_private_pipe(fd):
    place = f'/proc/self/fd/{fd}'
    known = [os.readlink(f'/proc/self/fd/{fd}') for fd in (1, 2)]
    return int(fd) >= 100 and os.path.lexists(place) and os.readlink(place).startswith('pipe:') \\
        and os.readlink(place) not in known
frames = max(int(fd) for fd in os.listdir('/proc/self/fd') if is_private_pipe(fd))
def write(data):
    view = memoryview(data)
    while view: view = view[os.write(frames, view):]
"""
"""Finds the descriptor of the frames: the last of the private pipes that is not a copy of fd 1 or fd 2."""


@pytest.mark.parametrize(
    "garbage",
    [
        b"garbage\n",
        b"\xff\xfe\x00\n",
        b"{}\n",
        b'{"type":"nonsense"}\n',
        b'{"type":"done"}\n',
        b'{"type":"display","id":1,"mark":"x","bundle":{}}\n',
        b'{"type":"done","id":999999,"mark":1,"status":"ok"}\n',
        b'{"type":"result","id":999999,"mark":0,"bundle":{"text/plain":"forged"}}\n',
        b'{"type":"part","id":1,"seq":7,"last":true,"data":"x"}\n',
        b"[1, 2, 3]\n" * 3,
        b"without a newline",
        b'{"type":"display","id":1,"ma',
        b"x" * (2 << 20),
        b"[" * 100_000 + b"\n",
    ],
    ids=lambda data: repr(data[:32]),
)
async def test_what_is_no_frame_is_counted_and_named(kernel: NativeKernel, tmp_path: Path, garbage: bytes) -> None:
    source = tmp_path / "garbage"
    await ok(kernel, FIND)
    source.write_bytes(garbage)
    ran = await run(kernel, f"write(open({str(source)!r}, 'rb').read())\nprint('after')\n'value'")
    assert ran.done.status == "ok"
    assert (ran.stdout, ran.result) == ("after\n", "'value'")
    (note,) = ran.done.notes
    assert "could not be understood" in note
    clean = await ok(kernel, "1 + 1")
    assert (clean.result, clean.done.notes) == ("2", ())


async def test_a_closed_channel_costs_the_kernel_and_not_the_host(kernel: NativeKernel) -> None:
    await ok(kernel, FIND)
    ran = await run(kernel, "os.close(frames)")
    assert ran.done.status == "crashed"
    assert not await kernel.is_alive()


async def test_a_forked_child_never_writes_frames(kernel: NativeKernel) -> None:
    code = """
import os
pid = os.fork()
if pid == 0:
    try:
        display({'text/plain': 'from the child'}, raw=True)
        print('text of the child')
    finally:
        os._exit(0)
os.waitpid(pid, 0)
display({'text/plain': 'from the parent'}, raw=True)
"""
    ran = await ok(kernel, code)
    assert ran.outline == [("stdout", "text of the child\n"), ("display", "from the parent")]
    assert ran.done.notes == ()


async def test_a_child_that_falls_out_of_the_cell_does_not_answer_for_it(kernel: NativeKernel) -> None:
    ran = await run(
        kernel, "import os\npid = os.fork()\nif pid: os.waitpid(pid, 0)\nelse: raise SystemExit\nprint('parent')"
    )
    assert ran.done.status == "ok"
    assert ran.stdout == "parent\n"
    assert await value(kernel, "1 + 1") == "2"
