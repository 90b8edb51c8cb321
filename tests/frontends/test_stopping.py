"""Stopping `pisces run`: by Ctrl+C, by SIGTERM, with its terminal, or because nobody reads its output any more."""

import os
import signal
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.frontends.command import PATIENCE, Command

WAITS = "print('begun', flush=True)\nimport time\ntime.sleep(600)"
STUBBORN = """
import time
saying = 'begun'
while True:
    try:
        print(saying, flush=True)
        time.sleep(600)
    except KeyboardInterrupt:
        saying = 'ignored'
"""


@contextmanager
def begun(pisces: Command, code: str, *options: str) -> Iterator["subprocess.Popen[bytes]"]:
    """The command with a cell that has begun to run."""
    process = pisces.start("run", "--timeout", "300", *options, "-c", code)
    try:
        assert process.stdout is not None
        assert process.stdout.readline() == b"begun\n"
        yield process
    finally:
        process.kill()
        process.communicate()


@pytest.mark.parametrize(("number", "exit_code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143), (signal.SIGHUP, 129)])
def test_a_signal_interrupts_the_cell_and_shows_the_result(
    pisces: Command, number: signal.Signals, exit_code: int
) -> None:
    with begun(pisces, WAITS) as process:
        process.send_signal(number)
        output, errors = process.communicate(timeout=PATIENCE)
    assert process.returncode == exit_code
    assert b"KeyboardInterrupt" in output
    assert b"Command was interrupted" in errors
    assert b"Traceback" not in errors


def test_a_terminal_that_is_closed_tells_so_twice_and_the_result_is_still_made(pisces: Command) -> None:
    with begun(pisces, STUBBORN) as process:
        process.send_signal(signal.SIGHUP)
        assert process.stdout is not None
        while process.stdout.readline() != b"ignored\n":
            assert process.poll() is None
        process.send_signal(signal.SIGHUP)
        _, errors = process.communicate(timeout=PATIENCE)
    assert process.returncode == 129
    assert b"the kernel was killed" in errors


def test_with_nohup_the_end_of_the_terminal_is_ignored(pisces: Command, tmp_path: Path) -> None:
    go = tmp_path / "go"
    waits = f"import os, time\nprint('begun', flush=True)\nwhile not os.path.exists({str(go)!r}): time.sleep(0.01)"
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)  # A process inherits that.
    try:
        with begun(pisces, waits) as process:
            process.send_signal(signal.SIGHUP)
            go.touch()
            process.communicate(timeout=PATIENCE)
    finally:
        signal.signal(signal.SIGHUP, before)
    assert process.returncode == 0


def test_a_second_signal_ends_at_once(pisces: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PI_SET__python__interruptGrace", "60")
    with begun(pisces, STUBBORN) as process:
        process.send_signal(signal.SIGINT)
        assert process.stdout is not None
        while process.stdout.readline() != b"ignored\n":
            assert process.poll() is None
        process.send_signal(signal.SIGINT)
        # The grace of the cell is a minute; the command does not wait for it.
        assert process.wait(timeout=PATIENCE / 2) == 130


def test_a_second_signal_is_heard_while_nobody_reads(pisces: Command) -> None:
    with begun(pisces, "print('begun', flush=True)\nwhile True: print('x' * 1000)") as process:
        process.send_signal(signal.SIGINT)
        process.send_signal(signal.SIGTERM)
        assert process.wait(timeout=PATIENCE) in {130, 143}


def test_a_slow_reader_gets_everything(pisces: Command) -> None:
    with begun(pisces, "print('begun', flush=True)\nfor n in range(20_000): print(n)\nprint('end')") as process:
        # More than a pipe holds: the command has had to wait for us.
        output, _ = process.communicate(timeout=PATIENCE)
    assert output == "".join(f"{n}\n" for n in range(20_000)).encode() + b"end\n"
    assert process.returncode == 0


def test_a_reader_that_goes_away_ends_it_quietly(pisces: Command) -> None:
    with begun(pisces, "print('begun', flush=True)\nwhile True: print('x' * 1000)") as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.close()
        errors = process.stderr.read()
        assert process.wait(timeout=PATIENCE) == 141
        process.stdout = None
    assert errors == b""


def test_an_artifact_whose_reader_goes_away_ends_quietly(pisces: Command) -> None:
    assert pisces("run", "--no-stream", "-c", "for n in range(300_000): print('line', n)").returncode == 0
    process = pisces.start("artifact", "1")
    assert process.stdout is not None
    assert process.stderr is not None
    assert process.stdout.readline() == b"line 0\n"
    process.stdout.close()
    assert process.stderr.read() == b""
    process.stderr.close()
    assert process.wait(timeout=PATIENCE) == 141


def test_a_command_without_standard_descriptors_still_runs(pisces: Command) -> None:
    process = pisces.start("run", "-c", "1+1", stdin=None, stdout=None, stderr=None, preexec_fn=close_standard)
    assert process.wait(timeout=PATIENCE) == 0


def close_standard() -> None:
    for number in (0, 1, 2):
        os.close(number)
