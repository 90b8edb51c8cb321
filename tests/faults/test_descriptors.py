"""Our own process has as many files open as it may have."""

import os
import resource
import subprocess
import sys
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from pisces.errors import KernelStartError
from pisces.runtime import Runtime
from tests.fakes.drive import plain_environment
from tests.fakes.runtimes import call, pool_of, runtime_on
from tests.leftovers import COOKIE, descriptors_left
from tests.source_tree import ROOT

NAMES = ("one", "two", "three")


@pytest.fixture
async def runtime(plain_python: str, tmp_path: Path, no_process_is_left: None) -> AsyncIterator[Runtime]:
    async with runtime_on(plain_python, tmp_path) as entered:
        yield entered


async def test_without_a_descriptor_idle_sessions_that_nobody_holds_make_room_for_a_new_one(runtime: Runtime) -> None:
    for name in NAMES:
        assert not (await call(runtime, f"x = {name!r}", session=name, owner=name)).is_error
    for name in NAMES[:2]:
        pool_of(runtime).disconnect(name)
    with descriptors_left(2):
        new = await call(runtime, "1 + 1", session="new")
    assert (new.is_error, "2" in new.text) == (False, True), new.text
    assert [session.key.id for session in pool_of(runtime).sessions if session.kernel] == ["three", "new"]
    assert "x = " not in (await call(runtime, "x", session="three", owner="three")).text
    lost = await call(runtime, "1", session="one", owner="one")
    assert "The session was ended to make room: this process has no file descriptor left" in lost.text


async def test_without_a_descriptor_no_more_sessions_end_than_a_new_one_needs_and_its_result_names_them(
    runtime: Runtime,
) -> None:
    unheld = [f"s{number}" for number in range(6)]
    for name in unheld:
        assert not (await call(runtime, f"x = {name!r}", session=name, owner=name)).is_error
        pool_of(runtime).disconnect(name)
    with descriptors_left(2):
        new = await call(runtime, "1 + 1", session="new")
    assert not new.is_error, new.text
    left = [session.key.id for session in pool_of(runtime).sessions if session.kernel and session.key.id != "new"]
    ended = unheld[: len(unheld) - len(left)]
    assert left == unheld[len(ended) :]  # Those that were used most recently.
    assert 1 <= len(ended) <= 3
    assert [name for name in unheld if f"Session {name!r} was ended to make room for this one" in new.text] == ended
    for name in left:
        assert name in (await call(runtime, "x", session=name, owner=name)).text


async def test_without_a_descriptor_a_start_is_refused_with_what_ran_out_and_held_sessions_stay(
    runtime: Runtime,
) -> None:
    assert not (await call(runtime, "x = 1", session="held")).is_error
    with descriptors_left(1):
        limit = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
        refused = await call(runtime, "1 + 1", session="new")
    assert refused.is_error
    assert f"This process has all {limit} files open that it may have. Allow more (`ulimit -n`)" in refused.text
    assert "interpreter" not in refused.text
    assert "1" in (await call(runtime, "x", session="held")).text
    assert not (await call(runtime, "1 + 1", session="new")).is_error


async def test_without_a_descriptor_an_undo_changes_nothing(runtime: Runtime) -> None:
    for code in ("x = 1", "x = 2"):
        assert not (await call(runtime, code)).is_error
    with descriptors_left(1):
        undone = await runtime.session("undo")
    assert undone.is_error
    assert "Allow more (`ulimit -n`)" in undone.text
    assert (await call(runtime, "x")).text == "2"
    assert not (await runtime.session("undo", steps=2)).is_error
    assert (await call(runtime, "x")).text == "1"


async def test_without_a_descriptor_a_state_that_cannot_be_woken_is_there_later(runtime: Runtime) -> None:
    for code in ("import os, signal; x = 1", "x = 2", "y = 3"):
        assert not (await call(runtime, code)).is_error
    with descriptors_left(1):
        told = (await call(runtime, "os.kill(os.getpid(), signal.SIGKILL)")).text
        assert "The kernel was ended by SIGKILL. It cannot be brought back now" in told
        assert "Allow more (`ulimit -n`)" in told
        assert "Allow more (`ulimit -n`)" in (await call(runtime, "x")).text
    found = await call(runtime, "x, y")
    assert "(2, 3)" in found.text, found.text
    assert "restored exactly" in found.text
    assert not (await runtime.session("undo")).is_error


@pytest.mark.parametrize(
    ("words", "remedy"),
    [
        ("OSError: [Errno 24] Too many open files", "The kernel's process has all files open that it may have."),
        ("OSError: [Errno 23] Too many open files in system", "All programs together have as many files open"),
        ("Too many open files in system", "All programs together have as many files open"),
        ("ImportError: no module named x", "Try another interpreter"),
    ],
)
def test_the_hint_for_a_kernel_that_did_not_come_up_fits_its_last_words(words: str, remedy: str) -> None:
    assert KernelStartError(f"The kernel exited with code 1: {words}").hint.startswith(remedy)
    assert KernelStartError(words, hint="Look into its log").hint == "Look into its log"


# With 25 to 30 it is the kernel's own process that can open no more.
@pytest.mark.parametrize(("limit", "options"), [(8, ""), (12, ""), (16, ""), (8, "--session s"), (25, ""), (30, "")])
def test_a_command_that_may_open_few_files_says_that_and_does_not_blame_the_interpreter(
    plain_python: str, tmp_path: Path, limit: int, options: str, no_process_is_left: None
) -> None:
    environment = plain_environment(
        HOME=str(tmp_path), PI_PYTHON=plain_python, PYTHONPATH=str(ROOT / "src"), **{COOKIE: os.environ.get(COOKIE, "")}
    )
    done = subprocess.run(
        ["/bin/sh", "-c", f"ulimit -n {limit}; exec {sys.executable} -m pisces run {options} -c 1+1"],
        env=environment,
        cwd=tmp_path,
        capture_output=True,
        text=True,
        encoding="utf-8",
        check=False,
        timeout=60,
    )
    assert done.returncode != 0
    whose = f"This process has all {limit}" if limit <= 16 else "The kernel's process has all"
    about_files = f"{whose} files open that it may have. Allow more (`ulimit -n`)" in done.stderr
    # Of a kernel's process that has ended when the supervisor looks, the last words are not known.
    assert about_files or (limit > 16 and "the process has ended already" in done.stderr)
    assert "interpreter" not in done.stderr.lower()
    assert "folder that can be written to" not in done.stderr
