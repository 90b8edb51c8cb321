"""The guest's streams: everything in order, nothing twice, and no interrupt in the wrong moment.

The streams take over the process they are in, so each test has one of its own.
"""

import subprocess
import sys

import pytest

from pisces.kernels.native.order import Piece, StreamOrder
from tests.source_tree import ROOT

NONCE = "00112233445566ff"

PREFACE = f"""
import os, signal, sys, threading
sys.path.insert(0, {str(ROOT / "src")!r})
from pisces.guest.flusher import InterruptGuard
from pisces.guest.streams import StandardStreams
streams = StandardStreams()
streams.order.begin({NONCE!r})
streams.install()
"""


def said_by(code: str) -> list[Piece]:
    """Run code behind the guest's streams; what both pipes hold, put in order."""
    done = subprocess.run(
        [sys.executable, "-c", PREFACE + code + "\nstreams.flush()"], capture_output=True, timeout=60, check=True
    )
    order = StreamOrder(NONCE)
    order.feed("stdout", done.stdout)
    order.feed("stderr", done.stderr)
    order.finish()
    return order.take()


def joined(pieces: list[Piece]) -> list[Piece]:
    result: list[Piece] = []
    for name, text in pieces:
        if result and result[-1][0] == name:
            result[-1] = (name, result[-1][1] + text)
        else:
            result.append((name, text))
    return result


def test_turns_from_one_stream_to_the_other_keep_their_order() -> None:
    code = "for i in range(3):\n    print('out', i)\n    print('err', i, file=sys.stderr)"
    expected = [pair for i in range(3) for pair in (("stdout", f"out {i}\n"), ("stderr", f"err {i}\n"))]
    assert joined(said_by(code)) == expected


def test_what_was_printed_before_a_child_comes_before_it() -> None:
    pieces = said_by("import subprocess\nprint('before')\nsubprocess.run(['echo', 'child'])\nprint('after')")
    assert joined(pieces) == [("stdout", "before\nchild\nafter\n")]


def test_a_forked_process_repeats_nothing_and_marks_nothing() -> None:
    code = """
print('buffered', end=' ')
pid = os.fork()
if pid == 0:
    print('child')
    print('child', file=sys.stderr)
    os._exit(0)
os.waitpid(pid, 0)
print('parent')
"""
    pieces = said_by(code)
    assert "".join(text for name, text in pieces if name == "stdout") == "buffered child\nparent\n"
    assert "".join(text for name, text in pieces if name == "stderr") == "child\n"


def test_a_closed_stream_goes_on() -> None:
    assert joined(said_by("sys.stdout.close()\nprint('still')")) == [("stdout", "still\n")]


def test_the_streams_are_what_programs_expect_of_them() -> None:
    code = "print(sys.stdout.fileno(), sys.stderr.fileno(), sys.stdout.encoding, sys.stdout.isatty(), sys.stdout.name)"
    assert joined(said_by(code)) == [("stdout", "1 2 utf-8 False <stdout>\n")]


def test_bytes_written_to_the_buffer_keep_their_place() -> None:
    code = "print('a', flush=True)\nsys.stdout.buffer.write(b'b\\n')\nsys.stdout.flush()\nprint('c')"
    assert joined(said_by(code)) == [("stdout", "a\nb\nc\n")]


@pytest.mark.parametrize("inside", [True, False])
def test_an_interrupt_waits_until_a_write_is_accounted_for(inside: bool) -> None:
    code = f"""
guard = streams.order.guard
if {inside}:
    with guard:
        print(guard.defers(None), guard.deferred)
else:
    print(guard.defers(None), guard.deferred)
guard.deferred = False
"""
    assert joined(said_by(code)) == [("stdout", f"{inside} {inside}\n")]


def test_an_interrupt_that_had_to_wait_comes_with_the_next_flush() -> None:
    code = """
caught = []
signal.signal(signal.SIGINT, lambda number, frame: caught.append(1) if not streams.order.guard.defers(frame) else None)
with streams.order.guard:
    signal.raise_signal(signal.SIGINT)
    assert not caught
sys.stdout.flush()
print(len(caught))
"""
    assert joined(said_by(code)) == [("stdout", "1\n")]


def test_threads_that_print_lines_do_not_break_them() -> None:
    code = """
def chatter(letter):
    for _ in range(200): print(letter * 30)
threads = [threading.Thread(target=chatter, args=(letter,)) for letter in 'abc']
for thread in threads: thread.start()
for thread in threads: thread.join()
"""
    text = "".join(text for _, text in said_by(code))
    assert sorted(text.replace("\n", "")) == sorted("abc" * 6000)
