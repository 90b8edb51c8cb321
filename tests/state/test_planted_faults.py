"""What must not be is seen: objects that hang or are wrong after a crash, and work that stops a kernel."""

from pathlib import Path

import pytest

from tests.state import survival
from tests.state.catalogue import Entry, Library
from tests.state.survival import outcome_for
from tests.state.working_threads import WORKS, Work

pytestmark = pytest.mark.processes

SETUP = "import os, time"
HANGS = Entry("one that hangs", "x = os.getpid()", "x == os.getpid() or time.sleep(600)")
IS_WRONG = Entry("one that is wrong", "x = os.getpid()", "x == os.getpid()")
IS_BACK = Entry("one that is back", "x = 5", "x")
PRINT = next(work for work in WORKS if work.name == "print")


@pytest.fixture(autouse=True)
def short_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(survival, "USE_SECONDS", 4.0)


async def problems(interpreter: str, folder: Path, *entries: Entry, works: tuple[Work, ...] = ()) -> list[str]:
    return (await outcome_for(Library("planted", entries, setup=SETUP), interpreter, folder, works)).problems


async def test_an_object_that_hangs_after_a_crash_is_reported_and_the_next_one_tried(
    plain_python: str, tmp_path: Path
) -> None:
    (problem,) = await problems(plain_python, tmp_path, HANGS, IS_BACK)
    assert problem.startswith("planted: one that hangs hangs, and the restore does not name it")


async def test_an_object_that_is_wrong_and_not_named_is_reported(plain_python: str, tmp_path: Path) -> None:
    (problem,) = await problems(plain_python, tmp_path, IS_WRONG, IS_BACK)
    assert problem == (
        "planted: one that is wrong: the restore does not name it as missing; undisturbed True, now False"
    )


async def test_an_object_that_fares_otherwise_than_expected_is_reported(plain_python: str, tmp_path: Path) -> None:
    library = Library("planted", (IS_BACK,), setup=SETUP, back="by_value")
    outcome = await outcome_for(library, plain_python, tmp_path)
    assert outcome.problems == ["planted: one that is back: expected by_value, found exact; undisturbed 5, now 5"]
    assert outcome.grave_problems == []


async def test_a_setup_that_fails_is_reported(plain_python: str, tmp_path: Path) -> None:
    outcome = await outcome_for(Library("planted", (IS_BACK,), setup="1 / 0"), plain_python, tmp_path)
    assert outcome.problems == ["planted: what comes first does not run: ZeroDivisionError: division by zero"]


async def test_work_that_stops_the_live_kernel_is_reported_and_the_next_work_tried(
    plain_python: str, tmp_path: Path
) -> None:
    stops = Work(
        "waiting",
        "import threading, time\ndef work_round():\n"
        "    threading.current_thread() is threading.main_thread() and time.sleep(600)",
    )
    outcome = await outcome_for(Library("planted", (IS_BACK,)), plain_python, tmp_path, [stops, PRINT])
    (problem,) = outcome.problems
    assert problem.startswith("planted, while a thread works (waiting): the live kernel does not go on: timeout")
    assert [beside.work.name for beside in outcome.beside] == ["waiting", "print"]


async def test_an_object_that_is_wrong_only_while_a_thread_works_is_reported(plain_python: str, tmp_path: Path) -> None:
    changes = Work(
        "changing", "import time\ndef work_round():\n    globals().__setitem__('changed', True)\n    time.sleep(0)"
    )
    entry = Entry("one that is changed", "x = [1]", "(x, 'changed' in globals())")
    outcome = await outcome_for(Library("planted", (entry,)), plain_python, tmp_path, [changes])
    (problem,) = outcome.problems
    assert "one that is changed should be ([1], False), is ([1], True), and no word of it" in problem


async def test_objects_that_are_back_beside_a_working_thread_are_no_problem(plain_python: str, tmp_path: Path) -> None:
    outcome = await outcome_for(Library("planted", (IS_BACK,)), plain_python, tmp_path, [PRINT])
    assert outcome.problems == []
    assert [beside.came_back in {"exact", "by_value", "older"} for beside in outcome.beside] == [True]
