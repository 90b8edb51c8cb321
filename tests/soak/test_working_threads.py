"""Sessions with threads at work in ten libraries never hang and never lie, whatever is done to them at random."""

import json
import random
import subprocess
import time
from collections import Counter
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from tests.conftest import Soak
from tests.environments import interpreter_of
from tests.fakes.runtimes import runtime_on
from tests.soak import native_work
from tests.soak.working_sessions import Hang, WorkingSessions, WrongState, stacks_of

pytestmark = pytest.mark.processes

KINDS_AT_ONCE = 10
BY_VALUE = "polars"
"""Where it is used, the whole state comes back by value, so it is only in some lives."""
STEPS_OF_A_LIFE = 60
SHORT = Soak(seed=375, seconds=30.0)  # Its first life has products, queries and imports at once, in threads.

Available = tuple[dict[str, object], list[str]]


@pytest.fixture(scope="session")
def working_python() -> str:
    """An interpreter with as many libraries as can be had."""
    try:
        return interpreter_of("heavy")
    except pytest.fail.Exception:
        return interpreter_of("data")


@pytest.mark.soak
@pytest.mark.timeout(0)
async def test_sessions_with_working_threads_agree_with_their_model(
    soak: Soak, working_python: str, tmp_path: Path, record_property: Callable[[str, object], None]
) -> None:
    await live_for(soak, working_python, tmp_path, record_property)


@pytest.mark.heavy
async def test_a_short_soak_of_working_threads_agrees_with_its_model(
    working_python: str, tmp_path: Path, record_property: Callable[[str, object], None]
) -> None:
    await live_for(SHORT, working_python, tmp_path, record_property)


async def live_for(soak: Soak, interpreter: str, folder: Path, report: Callable[[str, object], None]) -> None:
    """One life after the other, each with libraries, settings and steps of its own."""
    available = what_there_is(interpreter, folder)
    counts: Counter[str] = Counter()
    end = time.monotonic() + soak.seconds
    outcome, lives = "it did not get to its end", 0
    try:
        while time.monotonic() < end:
            lives += 1
            await live(
                random.Random(f"{soak.seed} {lives}"), available, interpreter, new(folder / str(lives)), end, counts
            )
        outcome = "nothing hung, and nothing was wrong"
    except (Hang, WrongState) as error:
        outcome = str(error).partition("\n")[0]
        error.add_note(f"seed {soak.seed}, life {lives}")
        raise
    finally:
        counted = "\n".join(f"  {counts[what]:6} {what}" for what in sorted(counts))
        report("soak", f"seed {soak.seed}, {soak.seconds:g} s, {lives} lives: {outcome}\n{counted}")


async def live(
    choices: random.Random, available: Available, interpreter: str, folder: Path, end: float, counts: Counter[str]
) -> None:
    works, values = available
    kinds = choices.sample(sorted(set(works) - {BY_VALUE}), KINDS_AT_ONCE)
    if BY_VALUE in works and choices.random() < 0.2:
        kinds[-1] = BY_VALUE
    setting = choices.choice(("always", "always", "auto"))
    async with sessions_on(
        interpreter, folder, {kind: works[kind] for kind in kinds}, values, choices, counts, setting
    ) as sessions:
        if choices.random() < 0.7:  # Otherwise a library is imported where it is used first, which may be in a thread.
            sessions.setup = f"for kind in {kinds!r}: work.KINDS[kind]()"
        session = await sessions.open()
        for kind in choices.sample(kinds, choices.choice((1, 2, 3, 5, KINDS_AT_ONCE))):
            await sessions.start_worker(session, kind)
        for _ in range(STEPS_OF_A_LIFE):
            if time.monotonic() >= end:
                break
            await sessions.step()
        for session in list(sessions.sessions.values()):
            await sessions.check(session)


@asynccontextmanager
async def sessions_on(
    interpreter: str,
    folder: Path,
    works: dict[str, object],
    values: list[str],
    choices: random.Random,
    counts: Counter[str],
    setting: str = "always",
) -> AsyncIterator[WorkingSessions]:
    environ = {native_work.STACKS: str(stacks_of(folder))}
    async with runtime_on(interpreter, folder, environ=environ, checkpoint=setting) as runtime:
        yield WorkingSessions(runtime, works, values, choices, counts)


def new(folder: Path) -> Path:
    folder.mkdir()
    return folder


def what_there_is(interpreter: str, folder: Path) -> Available:
    """The kinds of work with what they come to, and the kinds of values, as a process of its own has them."""
    path = folder / "available.json"
    command = [interpreter, str(Path(native_work.__file__)), str(path)]
    subprocess.run(command, cwd=folder, stdin=subprocess.DEVNULL, capture_output=True, timeout=240, check=True)
    works, values = json.loads(path.read_text(encoding="utf-8"))
    assert len(works) > KINDS_AT_ONCE
    return works, values


PLANTED = """
import threading
import native_work as work

class Library:
    lock = threading.Lock()

    def compute(self):
        with self.lock:
            return "done"

library = Library()
work.KINDS["planted"] = lambda: library.compute
main = threading.current_thread()
work.KINDS["thread"] = lambda: lambda: "done" if threading.current_thread() is main else library.compute()

def hold():
    with library.lock:
        held.set()
        threading.Event().wait()

held = threading.Event()
holder = threading.Thread(target=hold, name="holder", daemon=True)
"""
HANG_SECONDS = 5.0


@pytest.fixture
async def planted(plain_python: str, tmp_path: Path) -> AsyncIterator[WorkingSessions]:
    """Sessions of an interpreter without libraries, where `planted` is one with a lock inside."""
    async with sessions_on(
        plain_python, tmp_path, {"planted": "done"}, ["list"], random.Random(19), Counter()
    ) as sessions:
        sessions.setup = PLANTED
        yield sessions


async def test_a_planted_hang_of_a_restored_kernel_is_detected(planted: WorkingSessions) -> None:
    session = await planted.open()
    await planted.check(session)
    await planted.run_cell(session, "holder.start(); held.wait()")
    planted.hang_seconds = HANG_SECONDS
    with pytest.raises(Hang) as hang:
        await planted.crash(session)
    text = str(hang.value)
    assert text.startswith(f"A restored kernel (exact, after a crash, in {session.name}) hung in a cell for 5 s.")
    assert "The last check tried: planted in the main thread." in text
    assert "in compute" in text
    assert "holder.start()" in text


async def test_a_planted_hang_of_the_live_kernel_is_detected(planted: WorkingSessions) -> None:
    session = await planted.open()
    await planted.run_cell(session, "holder.start(); held.wait()")
    planted.hang_seconds = HANG_SECONDS
    with pytest.raises(Hang) as hang:
        await planted.compute(session)
    text = str(hang.value)
    assert text.startswith(f"The live kernel (of {session.name}) hung in a cell for 5 s.")
    assert "in compute" in text
    assert "in hold" in text


async def test_a_planted_thread_that_does_not_go_on_is_detected(planted: WorkingSessions) -> None:
    planted.works = {"thread": "done"}
    session = await planted.open()
    await planted.start_worker(session, "thread")
    await planted.check(session)
    await planted.run_cell(session, "holder.start(); held.wait()")
    planted.hang_seconds = HANG_SECONDS
    with pytest.raises(Hang, match="The last check tried: the thread 'thread 2', which should go on"):
        await planted.check(session)


async def test_a_planted_change_of_a_variable_is_detected(planted: WorkingSessions) -> None:
    session = await planted.open()
    session.values["a"] = ("list", 5)
    change = "import os; os.register_at_fork(after_in_child=lambda: a.append('changed'))"
    await planted.run_cell(session, f"a = work.made('list', 5); {change}")
    await planted.check(session)
    with pytest.raises(WrongState, match=r"wrong, and not reported as missing: a \('list', 5\)"):
        await planted.crash(session)


async def test_a_planted_loss_of_a_variable_is_detected(planted: WorkingSessions) -> None:
    session = await planted.open()
    session.values["a"] = ("list", 5)
    await planted.run_cell(session, "import os; os.register_at_fork(after_in_child=lambda: globals().pop('a', 0))")
    await planted.run_cell(session, "a = work.made('list', 5)")
    with pytest.raises(WrongState, match=r"absent, and not reported as missing: a \('list', 5\)"):
        await planted.crash(session)


async def test_a_planted_wrong_result_of_a_library_is_detected(planted: WorkingSessions) -> None:
    session = await planted.open()
    lie = "lambda: setattr(Library, 'compute', lambda self: 'other')"
    await planted.run_cell(session, f"import os; os.register_at_fork(after_in_child={lie})")
    with pytest.raises(WrongState, match="planted came to 'other', not 'done'"):
        await planted.crash(session)
